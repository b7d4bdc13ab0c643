// Package group is the resource type group: one entry of /etc/group, without its members. What another source of
// nsswitch.conf gives is not changed, and no file changes its owner.
package group

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Observe looks at one group.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	g, err := h.GroupEntry(declared.GetText("name"), declared.Get("gid"))
	if err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Facts: g.Value}
	if g.Entry().Exists() {
		o.Observed = guest.Object().With("exists", guest.Bool(true)).With("gid", g.Get("gid"))
	}
	if absent(declared) {
		// Those users hold the group; an earlier item may remove them.
		for _, user := range g.PrimaryOf() {
			o.Inputs = append(o.Inputs, "user:"+user)
		}
	} else if other := g.Entry().TakenBy(); other != "" {
		o.Inputs = []string{"group:" + other}
	}
	return o
}

func absent(declared guest.Value) bool { return declared.GetText("state") == "absent" }
