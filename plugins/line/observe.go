// Package line is the resource type line: one managed line in a file that others own. Nothing else of the file is changed,
// a file that is not there is not made, and a symlink is not followed.
//
// It never sees a line of the file: counts stand for them.
package line

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Observe looks for one line.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	stat, err := h.FileStat(declared.GetText("path"))
	if err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Facts: guest.Object().With("stat", stat.Value)}
	if stat.Kind() != "file" {
		return o
	}
	l, err := h.LineState(declared.GetText("id"))
	if err != nil {
		return guest.Unseen(err)
	}
	o.Facts = o.Facts.With("line", l.Value)
	if n := l.Managed(); n > 0 {
		o.Observed = guest.Object().With("exists", guest.Bool(true)).With("lines", guest.Int(n)).With("same", guest.Bool(l.Same() == n))
	}
	if anchored(declared) && l.Managed() == 0 && l.Anchors() != 1 {
		o.Inputs = []string{declared.GetText("path")} // another line of the plan may be the one beside which this one goes
	}
	return o
}

func anchored(declared guest.Value) bool { return declared.Has("after") || declared.Has("before") }
