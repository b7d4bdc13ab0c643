package host

import (
	"context"
	"strconv"
)

type groupEntryRequest struct {
	Name string `json:"name"`
	// GID is the declared one, so that the reply can say who has it.
	GID *uint32 `json:"gid,omitempty"`
}

type groupEntryReply struct {
	Exists    bool     `json:"exists"`
	Local     bool     `json:"local"`
	GID       *uint32  `json:"gid,omitempty"`
	TakenBy   string   `json:"taken_by,omitempty"`
	PrimaryOf []string `json:"primary_of,omitempty"`
}

func (r *Reader) groupEntry(_ context.Context, q groupEntryRequest) (groupEntryReply, error) {
	e, err := r.cfg.Accounts.GroupEntry(q.Name)
	if err != nil {
		return groupEntryReply{}, err
	}
	reply := groupEntryReply{Exists: e.Exists, Local: e.Local, PrimaryOf: e.PrimaryOf}
	if e.Exists {
		reply.GID = &e.GID
	}
	reply.TakenBy, err = takenBy(r.cfg.Accounts.GroupName, q.Name, q.GID)
	return reply, err
}

type userEntryRequest struct {
	Name string `json:"name"`
	// UID is the declared one, so that the reply can say who has it.
	UID *uint32 `json:"uid,omitempty"`
	// Processes asks whether some of the user's run.
	Processes bool `json:"processes,omitempty"`
}

type userEntryReply struct {
	Exists  bool     `json:"exists"`
	Local   bool     `json:"local"`
	UID     *uint32  `json:"uid,omitempty"`
	GID     *uint32  `json:"gid,omitempty"`
	Group   string   `json:"group,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Home    string   `json:"home,omitempty"`
	Shell   string   `json:"shell,omitempty"`
	TakenBy string   `json:"taken_by,omitempty"`
	Busy    *bool    `json:"busy,omitempty"`
}

func (r *Reader) userEntry(_ context.Context, q userEntryRequest) (userEntryReply, error) {
	e, err := r.cfg.Accounts.UserEntry(q.Name)
	if err != nil {
		return userEntryReply{}, err
	}
	reply := userEntryReply{Exists: e.Exists, Local: e.Local, Groups: e.Groups, Home: e.Home, Shell: e.Shell}
	if e.Exists {
		reply.UID, reply.GID = &e.UID, &e.GID
		if reply.Group, err = r.cfg.Accounts.GroupName(e.GID); err != nil {
			return reply, err
		}
		if q.Processes {
			busy, err := r.cfg.Accounts.Busy(e.UID)
			if err != nil {
				return reply, err
			}
			reply.Busy = &busy
		}
	}
	reply.TakenBy, err = takenBy(r.cfg.Accounts.UserName, q.Name, q.UID)
	return reply, err
}

// takenBy gives the other account that has an id, empty for none.
func takenBy(nameOf func(uint32) (string, error), name string, id *uint32) (string, error) {
	if id == nil {
		return "", nil
	}
	owner, err := nameOf(*id)
	if err != nil || owner == name || owner == strconv.FormatUint(uint64(*id), 10) {
		return "", err
	}
	return owner, nil
}
