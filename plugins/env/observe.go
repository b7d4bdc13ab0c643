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
	if err != nil {
		return guest.Unseen(err)
	}
	o, err := observe(h, declared, file.Stat)
	// It is said also of a file that does not exist, so that a reference that leads nowhere is known before anything is done.
	if text := file.Unresolved(); text != "" {
		o.Facts = o.Facts.WithText("unresolved", text)
	}
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
