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
	p := place.Place{Declared: declared, Stat: file.Stat}
	if p.Accounts, err = place.Accounts(h, declared); err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Observed: place.Record(file.Stat), Facts: p.Facts()}
	if !file.Exists() || file.Kind() != place.File {
		return o
	}
	if !file.Readable() {
		if place.Absent(declared) {
			return o
		}
		return guest.Unseen(&guest.Error{Text: "the content cannot be read"})
	}
	o.Observed = o.Observed.With("vars", file.Vars())
	return o
}
