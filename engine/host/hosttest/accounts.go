package hosttest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

// Accounts plays the tools for accounts: each change is one effect, which writes /etc/passwd and /etc/group.
type Accounts struct {
	Power *Power
	FS    *FS
	// Running are the uids of which processes run.
	Running map[uint32]bool
}

// AddGroup makes a group.
func (a *Accounts) AddGroup(_ context.Context, g host.GroupSpec) error {
	return a.change("group", func(rows [][]string) ([][]string, error) { return addGroup(rows, g.Name, g.GID, g.System) })
}

func addGroup(rows [][]string, name string, gid *uint32, system bool) ([][]string, error) {
	if find(rows, name) >= 0 {
		return nil, fault.New(fault.Failed, "group %s already exists", name)
	}
	id, err := choose(rows, gid, system)
	return append(rows, []string{name, "x", id, ""}), err
}

// choose gives the id that is asked for, when it is free, or the next free one of its range.
func choose(rows [][]string, id *uint32, system bool) (string, error) {
	taken := func(n uint32) bool {
		return slices.ContainsFunc(rows, func(r []string) bool { return r[2] == fmt.Sprint(n) })
	}
	if id != nil {
		if taken(*id) {
			return "", fault.New(fault.Failed, "the id %d is not unique", *id)
		}
		return fmt.Sprint(*id), nil
	}
	next, step := uint32(1000), uint32(1)
	if system {
		next, step = 999, ^uint32(0)
	}
	for taken(next) {
		next += step
	}
	return fmt.Sprint(next), nil
}

// ChangeGroup gives a group another id.
func (a *Accounts) ChangeGroup(_ context.Context, name string, gid uint32) error {
	old := ""
	err := a.change("group", func(rows [][]string) ([][]string, error) {
		at := find(rows, name)
		if at < 0 {
			return nil, fault.New(fault.Failed, "group %s does not exist", name)
		}
		old = rows[at][2]
		id, err := choose(slices.Delete(slices.Clone(rows), at, at+1), &gid, false)
		rows[at][2] = id
		return rows, err
	})
	if err != nil {
		return err
	}
	return a.edit("passwd", func(rows [][]string) ([][]string, error) {
		for _, r := range rows {
			if r[3] == old {
				r[3] = fmt.Sprint(gid)
			}
		}
		return rows, nil
	})
}

// RemoveGroup removes a group that is nobody's primary one.
func (a *Accounts) RemoveGroup(_ context.Context, name string) error {
	users, err := a.rows("passwd")
	if err != nil {
		return err
	}
	return a.change("group", func(rows [][]string) ([][]string, error) {
		at := find(rows, name)
		if at < 0 {
			return nil, fault.New(fault.Failed, "group %s does not exist", name)
		}
		for _, u := range users {
			if u[3] == rows[at][2] {
				return nil, fault.New(fault.Failed, "cannot remove the primary group of user %s", u[0])
			}
		}
		return slices.Delete(rows, at, at+1), nil
	})
}

// AddUser makes a user, and the group of its name where it has no other.
func (a *Accounts) AddUser(_ context.Context, u host.UserSpec) error {
	if u.Group == "" {
		groups, err := a.rows("group")
		if err == nil && find(groups, u.Name) < 0 {
			err = a.edit("group", func(rows [][]string) ([][]string, error) { return addGroup(rows, u.Name, nil, u.System) })
		}
		if err != nil {
			return err
		}
		u.Group = u.Name
	}
	gid, err := a.gid(u.Group)
	if err != nil {
		return err
	}
	home, shell := u.Home, u.Shell
	if home == "" {
		home = "/home/" + u.Name
	}
	if shell == "" {
		shell = "/bin/sh"
	}
	err = a.change("passwd", func(rows [][]string) ([][]string, error) {
		if find(rows, u.Name) >= 0 {
			return nil, fault.New(fault.Failed, "user %s already exists", u.Name)
		}
		uid, err := choose(rows, u.UID, u.System)
		return append(rows, []string{u.Name, "x", uid, gid, "", home, shell}), err
	})
	if err != nil {
		return err
	}
	return a.members(u.Name, u.Groups)
}

// ChangeUser changes what the spec gives.
func (a *Accounts) ChangeUser(_ context.Context, u host.UserSpec) error {
	gid := ""
	if u.Group != "" {
		var err error
		if gid, err = a.gid(u.Group); err != nil {
			return err
		}
	}
	err := a.change("passwd", func(rows [][]string) ([][]string, error) {
		at := find(rows, u.Name)
		if at < 0 {
			return nil, fault.New(fault.Failed, "user %s does not exist", u.Name)
		}
		r := rows[at]
		if u.UID != nil || u.Home != "" {
			if id, _ := strconv.ParseUint(r[2], 10, 32); a.Running[uint32(id)] {
				return nil, fault.New(fault.Busy, "processes of %s run", u.Name)
			}
		}
		if u.UID != nil {
			id, err := choose(slices.Delete(slices.Clone(rows), at, at+1), u.UID, false)
			if err != nil {
				return nil, err
			}
			r[2] = id
		}
		for i, value := range map[int]string{3: gid, 5: u.Home, 6: u.Shell} {
			if value != "" {
				r[i] = value
			}
		}
		return rows, nil
	})
	if err != nil {
		return err
	}
	return a.members(u.Name, u.Groups)
}

// RemoveUser removes a user, its memberships, and the group of its name when nobody else is in it.
func (a *Accounts) RemoveUser(_ context.Context, name string) error {
	gid := ""
	err := a.change("passwd", func(rows [][]string) ([][]string, error) {
		at := find(rows, name)
		if at < 0 {
			return nil, fault.New(fault.Failed, "user %s does not exist", name)
		}
		if id, _ := strconv.ParseUint(rows[at][2], 10, 32); a.Running[uint32(id)] {
			return nil, fault.New(fault.Busy, "processes of %s run", name)
		}
		gid = rows[at][3]
		return slices.Delete(rows, at, at+1), nil
	})
	if err != nil {
		return err
	}
	if err := a.members(name, &[]string{}); err != nil {
		return err
	}
	return a.edit("group", func(rows [][]string) ([][]string, error) {
		return slices.DeleteFunc(rows, func(r []string) bool { return r[0] == name && r[2] == gid && r[3] == "" }), nil
	})
}

// members makes a user a member of exactly these groups; nil leaves all as it is.
func (a *Accounts) members(user string, groups *[]string) error {
	if groups == nil {
		return nil
	}
	return a.edit("group", func(rows [][]string) ([][]string, error) {
		for _, g := range *groups {
			if find(rows, g) < 0 {
				return nil, fault.New(fault.Failed, "group %s does not exist", g)
			}
		}
		for _, r := range rows {
			list := slices.DeleteFunc(strings.Split(r[3], ","), func(m string) bool { return m == "" || m == user })
			if slices.Contains(*groups, r[0]) {
				list = append(list, user)
			}
			r[3] = strings.Join(list, ",")
		}
		return rows, nil
	})
}

func (a *Accounts) gid(group string) (string, error) {
	if strings.Trim(group, "0123456789") == "" {
		return group, nil
	}
	rows, err := a.rows("group")
	if err != nil {
		return "", err
	}
	at := find(rows, group)
	if at < 0 {
		return "", fault.New(fault.Failed, "group %s does not exist", group)
	}
	return rows[at][2], nil
}

func find(rows [][]string, name string) int {
	return slices.IndexFunc(rows, func(r []string) bool { return r[0] == name })
}

func (a *Accounts) rows(database string) ([][]string, error) {
	text, ok := a.FS.Content("/etc/" + database)
	if !ok {
		return nil, fault.New(fault.Failed, "/etc/%s is not there", database)
	}
	var rows [][]string
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), ":"))
	}
	return rows, nil
}

// change counts as an effect, which a cut can forbid; edit is a further part of one.
func (a *Accounts) change(database string, f func([][]string) ([][]string, error)) error {
	if err := a.Power.Effect(); err != nil {
		return err
	}
	return a.edit(database, f)
}

func (a *Accounts) edit(database string, f func([][]string) ([][]string, error)) error {
	rows, err := a.rows(database)
	if err == nil {
		rows, err = f(rows)
	}
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Join(r, ":") + "\n")
	}
	a.FS.write("/etc/"+database, b.String(), 0o644)
	return nil
}
