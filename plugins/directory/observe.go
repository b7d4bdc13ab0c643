// Package directory is the resource type directory: a real directory, itself and not what is in it. A symlink or
// anything else in its place is left alone, and only an empty one is removed.
package directory

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/internal/place"
)

// Observe looks at one directory.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	path := declared.GetText("path")
	stat, err := h.FileStat(path)
	if err != nil {
		return guest.Unseen(err)
	}
	p := place.Place{Declared: declared, Stat: stat}
	if p.Accounts, err = place.Accounts(h, declared); err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Observed: place.Record(stat), Facts: p.Facts()}
	if place.Absent(declared) && stat.Kind() == place.Directory && !stat.Empty() {
		return observeEntries(h, path, o)
	}
	return o
}

// observeEntries says what is in a directory that is to go: the rest of the plan may remove it first.
func observeEntries(h read.Host, path string, o guest.Observation) guest.Observation {
	names, more, err := h.DirectoryEntries(path)
	if err != nil {
		return guest.Unseen(err)
	}
	if path != "/" {
		path += "/"
	}
	for _, name := range names {
		o.Inputs = append(o.Inputs, path+name)
	}
	o.Facts = o.Facts.With("entries", guest.Strings(o.Inputs)).With("more", guest.Bool(more))
	return o
}
