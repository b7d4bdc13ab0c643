// Package symlink is the resource type symlink: one link, itself. What it leads to is neither looked at nor touched, and
// anything else at its path is left alone.
package symlink

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/internal/place"
)

// Observe looks at one link.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	stat, err := h.FileStat(declared.GetText("path"))
	if err != nil {
		return guest.Unseen(err)
	}
	p := place.Place{Declared: declared, Stat: stat}
	if p.Accounts, err = place.Accounts(h, declared); err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Facts: p.Facts()}
	if !stat.Exists() {
		return o
	}
	// A link's mode says nothing, so it is not in the record.
	o.Observed = guest.Record("kind", stat.Kind(), "owner", stat.Owner(), "group", stat.Group()).With("exists", guest.Bool(true))
	if stat.Kind() == place.Symlink {
		o.Observed = o.Observed.WithText("target", stat.Target())
	}
	return o
}
