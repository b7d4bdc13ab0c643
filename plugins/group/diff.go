package group

import (
	"slices"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Diff compares one group with its declaration.
func Diff(in guest.Input) *guest.Decision {
	g := read.Group{Value: in.Facts}
	exists := g.Entry().Exists()
	gid := in.Declared.Get("gid")
	switch {
	case absent(in.Declared) && !exists:
		return nil
	case absent(in.Declared):
		return remove(in, g)
	case !exists:
		d := &guest.Decision{Verb: "write", Params: guest.Object(), Reason: guest.Reason{Code: "missing", Text: "does not exist"}}
		if in.Declared.Get("system").True() {
			d.Params = d.Params.With("system", guest.Bool(true))
		}
		if !gid.IsNull() {
			d.Params = d.Params.With("gid", gid)
		}
		return taken(in, g, d)
	case gid.IsNull() || gid.Number() == g.Get("gid").Number():
		return nil
	}
	found, declared := string(guest.Encode(g.Get("gid"))), string(guest.Encode(gid))
	d := &guest.Decision{
		Verb: "write", Params: guest.Object().With("gid", gid).With("from", guest.Object().With("gid", g.Get("gid"))),
		Reason: guest.Reason{Code: "gid-differs", Text: "gid is " + found + ", declared " + declared},
		Note:   "files of the group keep the number " + found,
	}
	if !g.Entry().Local() {
		d.Blocked = elsewhere(in.Declared)
		return d
	}
	return taken(in, g, d)
}

// taken blocks what would need a gid that another group has, unless that group is changed earlier in the plan.
func taken(in guest.Input, g read.Group, d *guest.Decision) *guest.Decision {
	switch other := g.Entry().TakenBy(); {
	case other == "":
	case slices.Contains(in.Inputs, "group:"+other):
		d.Note = guest.Join(d.Note, "; ", "group:"+other+" has to give the gid up first")
	default:
		d.Blocked = "the gid " + string(guest.Encode(in.Declared.Get("gid"))) + " belongs to the group " + other + "; declare another one"
	}
	return d
}

func remove(in guest.Input, g read.Group) *guest.Decision {
	d := &guest.Decision{
		Verb: "remove", Params: guest.Object().With("gid", g.Get("gid")),
		Reason: guest.Reason{Code: "present", Text: "exists, declared absent"},
	}
	if !g.Entry().Local() {
		d.Blocked = elsewhere(in.Declared)
		return d
	}
	for _, user := range g.PrimaryOf() {
		if !slices.Contains(in.Inputs, "user:"+user) {
			d.Blocked = "it is the primary group of the user " + user + "; remove the user before it, or give it another group"
			return d
		}
		d.Note = "other items of this plan take it from its users first"
	}
	return d
}

func elsewhere(declared guest.Value) string {
	return "the group " + declared.GetText("name") + " is no line of /etc/group but comes from another source of nsswitch.conf; change it there"
}
