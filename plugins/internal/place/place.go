// Package place is what file, directory and env have in common: something that stands at a path with a mode, an owner
// and a group. It does not know what the thing holds.
package place

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/guest/write"
)

// The kinds that a resource can be of.
const (
	File      = "file"
	Directory = "directory"
	Symlink   = "symlink"
)

// Place is one path as it is declared and as it is.
type Place struct {
	Declared guest.Value
	Stat     read.Stat
	Accounts read.Accounts
}

// Accounts looks the declared owner and group up; nothing is asked for what is declared absent.
func Accounts(h read.Host, declared guest.Value) (read.Accounts, *guest.Error) {
	if Absent(declared) {
		return read.Accounts{}, nil
	}
	return h.Account(declared.GetText("owner"), declared.GetText("group"))
}

// Absent says that the resource is declared absent.
func Absent(declared guest.Value) bool { return declared.GetText("state") == "absent" }

// Record is the part of the observed record that every place has; null when nothing stands there.
func Record(s read.Stat) guest.Value {
	if !s.Exists() {
		return guest.Null
	}
	record := guest.Record("kind", s.Kind(), "mode", s.Mode(), "owner", s.Owner(), "group", s.Group()).With("exists", guest.Bool(true))
	if s.Kind() == Symlink {
		record = record.WithText("target", s.Target())
	}
	return record
}

// Facts is what an observation keeps for its diff.
func (p Place) Facts() guest.Value {
	facts := guest.Object().With("stat", p.Stat.Value)
	if !p.Accounts.IsNull() {
		facts = facts.With("accounts", p.Accounts.Value)
	}
	return facts
}

// From gives the place that a diff is asked of.
func From(in guest.Input) Place {
	return Place{
		Declared: in.Declared,
		Stat:     read.Stat{Value: in.Facts.Get("stat")},
		Accounts: read.Accounts{Value: in.Facts.Get("accounts")},
	}
}

// Path is the declared path.
func (p Place) Path() string { return p.Declared.GetText("path") }

func (p Place) access() write.Access {
	return write.Access{Mode: p.Declared.GetText("mode"), Owner: p.Declared.GetText("owner"), Group: p.Declared.GetText("group")}
}

// Params are the parameters of every action that sets mode, owner and group.
func (p Place) Params() guest.Value {
	a := p.access()
	return guest.Record("mode", a.Mode, "owner", a.Owner, "group", a.Group)
}

// Access reads the parameters of an action back.
func Access(a guest.Action) write.Access {
	return write.Access{Mode: a.Text("mode"), Owner: a.Text("owner"), Group: a.Text("group")}
}

// Named gives a kind in words.
func Named(kind string) string {
	switch kind {
	case File:
		return "a regular file"
	case Symlink:
		return "a symbolic link"
	case "block":
		return "a block device"
	case "char":
		return "a character device"
	case "":
		return "something unknown"
	}
	return "a " + kind
}
