package account

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

// UserEntry tells of one user, from /etc/passwd or a further source of nsswitch.conf.
func (a *Accounts) UserEntry(name string) (host.UserEntry, error) {
	f, local, err := a.entry("passwd", name, 7)
	if err != nil || f == nil {
		return host.UserEntry{}, err
	}
	uid, err1 := strconv.ParseUint(f[2], 10, 32)
	gid, err2 := strconv.ParseUint(f[3], 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return host.UserEntry{}, fault.New(fault.Invalid, "the passwd entry of %s is damaged: %w", name, err)
	}
	e := host.UserEntry{Exists: true, Local: local, UID: uint32(uid), GID: uint32(gid), Home: f[5], Shell: f[6]}
	groups, err := a.lines("group", 4)
	if err != nil {
		return host.UserEntry{}, err
	}
	for _, g := range groups {
		if g[2] != f[3] && slices.Contains(strings.Split(g[3], ","), name) {
			e.Groups = append(e.Groups, g[0])
		}
	}
	slices.Sort(e.Groups)
	e.Groups = slices.Compact(e.Groups)
	return e, nil
}

// GroupEntry tells of one group, from /etc/group or a further source of nsswitch.conf.
func (a *Accounts) GroupEntry(name string) (host.GroupEntry, error) {
	f, local, err := a.entry("group", name, 4)
	if err != nil || f == nil {
		return host.GroupEntry{}, err
	}
	gid, err := strconv.ParseUint(f[2], 10, 32)
	if err != nil {
		return host.GroupEntry{}, fault.New(fault.Invalid, "the group entry of %s is damaged: %w", name, err)
	}
	e := host.GroupEntry{Exists: true, Local: local, GID: uint32(gid)}
	users, err := a.lines("passwd", 7)
	if err != nil {
		return host.GroupEntry{}, err
	}
	for _, u := range users {
		if u[3] == f[2] {
			e.PrimaryOf = append(e.PrimaryOf, u[0])
		}
	}
	slices.Sort(e.PrimaryOf)
	return e, nil
}

// Busy says whether a process of a user runs.
func (a *Accounts) Busy(uid uint32) (bool, error) {
	if a.Processes == nil {
		return false, nil
	}
	return a.Processes(uid)
}

// entry gives the fields of an account, nil when there is none, and whether the file has it.
func (a *Accounts) entry(database, name string, fields int) (f []string, local bool, err error) {
	if name == "" || strings.ContainsAny(name, ":\n\x00") {
		return nil, false, nil
	}
	all, err := a.lines(database, fields)
	if err != nil {
		return nil, false, err
	}
	for _, f := range all {
		if f[0] == name {
			return f, true, nil
		}
	}
	if a.further == nil {
		return nil, false, nil
	}
	line, found, err := a.further(context.Background(), database, name)
	if err != nil || !found {
		return nil, false, err
	}
	f = strings.Split(line, ":")
	if len(f) != fields || f[0] != name {
		return nil, false, fault.New(fault.IO, "getent %s %s answered with another entry", database, name)
	}
	return f, false, nil
}

// lines gives the accounts of a file; what is no account is left out, as glibc does. A file that is missing has none.
func (a *Accounts) lines(database string, fields int) ([][]string, error) {
	raw, err := a.tree.Read("/etc/"+database, maxDatabase)
	if err != nil {
		if s, serr := a.tree.Stat("/etc/" + database); serr != nil || s.Exists || !errors.Is(err, fs.ErrNotExist) && s.MissingParent == "" {
			return nil, err
		}
	}
	var out [][]string
	for line := range strings.SplitSeq(string(raw), "\n") {
		if _, _, ok := split(line); !ok {
			continue
		}
		if f := strings.Split(line, ":"); len(f) == fields {
			out = append(out, f)
		}
	}
	return out, nil
}
