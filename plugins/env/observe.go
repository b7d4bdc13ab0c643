// Package env is the resource type env: an environment file that systemd reads, owned whole. The host side reads it by
// systemd's rules and compares secrets; only names, plain declared values and the words match, differs, absent,
// unresolved and present come here.
package env

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/internal/place"
)

// Observe looks at one environment file.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	file, err := h.EnvFile(declared.GetText("id"))
	if err != nil && err.Code == "secret-unresolved" {
		return unresolved(h, declared, err.Text)
	}
	if err != nil {
		return guest.Unseen(err)
	}
	o, err := observe(h, declared, file.Stat)
	switch {
	case err != nil:
		return guest.Unseen(err)
	case !file.Exists() || file.Kind() != place.File:
		return o
	case !file.Readable() && file.Damage() == "" && !place.Absent(declared):
		return guest.Unseen(&guest.Error{Text: "the content cannot be read"})
	case !file.Vars().IsNull():
		o.Observed = o.Observed.With("vars", file.Vars())
	}
	return o
}

// observe looks at everything but the variables.
func observe(h read.Host, declared guest.Value, stat read.Stat) (guest.Observation, *guest.Error) {
	p := place.Place{Declared: declared, Stat: stat}
	var err *guest.Error
	p.Accounts, err = place.Accounts(h, declared)
	return guest.Observation{Observed: place.Record(stat), Facts: p.Facts()}, err
}

// unresolved looks at the file alone when a secret reference leads nowhere: nobody can say what it should hold, and
// of a file that is to go nobody need.
func unresolved(h read.Host, declared guest.Value, text string) guest.Observation {
	stat, err := h.FileStat(declared.GetText("path"))
	if err != nil {
		return guest.Unseen(err)
	}
	o, err := observe(h, declared, stat)
	if err != nil {
		return guest.Unseen(err)
	}
	o.Facts = o.Facts.WithText("unresolved", text)
	return o
}
