// Package command is the resource type command: the escape hatch. It has run when the path in creates exists.
package command

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Observe asks whether the command has run. One without creates cannot tell, so its record is null.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	creates := declared.GetText("creates")
	if creates == "" {
		return guest.Observation{}
	}
	exists, err := h.PathExists(creates)
	if err != nil {
		return guest.Unseen(err)
	}
	return guest.Observation{Observed: guest.Object().With("has_run", guest.Bool(exists))}
}
