// Package file is the resource type file: a regular file, owned whole. A symlink where it belongs is replaced and never
// followed; anything else that stands there is left alone.
//
// It never sees a content: digests and the answers match, differs and absent stand for it.
package file

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/internal/place"
)

// Observe looks at one file.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	stat, err := h.FileStat(declared.GetText("path"))
	if err != nil {
		return guest.Unseen(err)
	}
	p := place.Place{Declared: declared, Stat: stat}
	if p.Accounts, err = place.Accounts(h, declared); err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Observed: place.Record(stat), Facts: p.Facts()}
	if secret(declared) {
		return observeSecret(h, declared, stat, o)
	}
	if stat.Exists() && stat.Kind() == place.File {
		sha256, size, err := h.FileDigest(p.Path())
		switch {
		case err != nil && place.Absent(declared):
			return o // what is to go need not be read
		case err != nil:
			return guest.Unseen(err)
		}
		o.Observed = o.Observed.With("sha256", guest.String(sha256)).With("size", guest.Int(size))
	}
	return o
}

// observeSecret compares on the host side. It asks also for a file that does not exist, so that a reference that leads
// nowhere is known before anything is done.
func observeSecret(h read.Host, declared guest.Value, stat read.Stat, o guest.Observation) guest.Observation {
	if place.Absent(declared) {
		return o
	}
	match, err := h.ContentMatches(declared.GetText("id"))
	switch {
	case err != nil && err.Code == "secret-unresolved":
		o.Facts = o.Facts.WithText("unresolved", err.Text)
	case err != nil:
		return guest.Unseen(err)
	case stat.Exists() && stat.Kind() == place.File:
		o.Observed = o.Observed.With("sha256", guest.String(match))
	}
	return o
}

func secret(declared guest.Value) bool {
	return !declared.Get("content").Get("secret_ref").IsNull()
}
