package host

import (
	"context"

	"gyrum.ai/engine/host/fault"
)

// ownRequest names the resource whose declared values are meant: none of them comes from the plugin.
type ownRequest struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// declaredAccount is the declared record of a user or a group.
type declaredAccount struct {
	Name   string    `json:"name"`
	GID    *uint32   `json:"gid"`
	UID    *uint32   `json:"uid"`
	Group  string    `json:"group"`
	Groups *[]string `json:"groups"`
	Home   string    `json:"home"`
	Shell  string    `json:"shell"`
	System bool      `json:"system"`
}

// named gives the record of the resource that a request is about and refuses another name.
func (w *Writer) named(q ownRequest, typ string) (declaredAccount, error) {
	var d declaredAccount
	res, err := w.r.find(q.ID, typ)
	if err != nil {
		return d, misuse(err)
	}
	if err := declaredOf(res.ID, res.Declared, &d); err != nil {
		return d, err
	}
	if d.Name != q.Name {
		return d, misusef("%s is not about %q", q.ID, q.Name)
	}
	return d, nil
}

// changeAccount performs an effect on an account, after which nothing remembered of accounts counts.
func (w *Writer) changeAccount(id, effect, name string, perform func() error) (done, error) {
	return done{}, w.effect(Effect{Resource: id, Name: effect, Target: name}, func() error {
		defer w.r.cfg.Accounts.Forget()
		return perform()
	})
}

func (w *Writer) groupAdd(ctx context.Context, q ownRequest) (done, error) {
	d, err := w.named(q, "group")
	if err != nil {
		return done{}, err
	}
	return w.changeAccount(q.ID, "group_add", q.Name, func() error {
		return w.cfg.Accounts.AddGroup(ctx, GroupSpec{Name: d.Name, GID: d.GID, System: d.System})
	})
}

func (w *Writer) groupChange(ctx context.Context, q ownRequest) (done, error) {
	d, err := w.named(q, "group")
	if err == nil && d.GID == nil {
		err = misusef("%s declares no gid", q.ID)
	}
	if err != nil {
		return done{}, err
	}
	return w.changeAccount(q.ID, "group_change", q.Name, func() error { return w.cfg.Accounts.ChangeGroup(ctx, d.Name, *d.GID) })
}

func (w *Writer) groupRemove(ctx context.Context, q ownRequest) (done, error) {
	d, err := w.named(q, "group")
	if err != nil {
		return done{}, err
	}
	return w.changeAccount(q.ID, "group_remove", q.Name, func() error { return w.cfg.Accounts.RemoveGroup(ctx, d.Name) })
}

func (w *Writer) userAdd(ctx context.Context, q ownRequest) (done, error) {
	d, err := w.named(q, "user")
	if err != nil {
		return done{}, err
	}
	u := UserSpec{Name: d.Name, UID: d.UID, Group: d.Group, Groups: d.Groups, Home: d.Home, Shell: d.Shell, System: d.System}
	if u.System {
		// A system account that says nothing else can be used by nobody for a login.
		if u.Home == "" {
			u.Home = "/nonexistent"
		}
		if u.Shell == "" {
			u.Shell = "/usr/sbin/nologin"
		}
	}
	return w.changeAccount(q.ID, "user_add", q.Name, func() error { return w.cfg.Accounts.AddUser(ctx, u) })
}

// userChangeRequest names the fields to change.
type userChangeRequest struct {
	ownRequest
	Fields []string `json:"fields"`
}

func (w *Writer) userChange(ctx context.Context, q userChangeRequest) (done, error) {
	d, err := w.named(q.ownRequest, "user")
	if err != nil {
		return done{}, err
	}
	u := UserSpec{Name: d.Name}
	for _, field := range q.Fields {
		switch {
		case field == "uid" && d.UID != nil:
			u.UID = d.UID
		case field == "group" && d.Group != "":
			u.Group = d.Group
		case field == "groups" && d.Groups != nil:
			u.Groups = d.Groups
		case field == "home" && d.Home != "":
			u.Home = d.Home
		case field == "shell" && d.Shell != "":
			u.Shell = d.Shell
		default:
			return done{}, misusef("%s declares no %q that could be changed", q.ID, field)
		}
	}
	return w.changeAccount(q.ID, "user_change", q.Name, func() error { return w.cfg.Accounts.ChangeUser(ctx, u) })
}

func (w *Writer) userRemove(ctx context.Context, q ownRequest) (done, error) {
	d, err := w.named(q, "user")
	if err != nil {
		return done{}, err
	}
	entry, err := w.r.cfg.Accounts.UserEntry(d.Name)
	if err == nil && entry.Exists && entry.UID == 0 {
		err = fault.New(fault.Invalid, "%s has the id 0 and is not removed", d.Name)
	}
	if err != nil {
		return done{}, err
	}
	return w.changeAccount(q.ID, "user_remove", q.Name, func() error { return w.cfg.Accounts.RemoveUser(ctx, d.Name) })
}
