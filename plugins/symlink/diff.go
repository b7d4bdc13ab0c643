package symlink

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/internal/place"
)

// Diff compares one link with its declaration.
func Diff(in guest.Input) *guest.Decision {
	p := place.From(in)
	absent := place.Absent(in.Declared)
	switch {
	case absent && !p.Stat.Exists():
		return nil
	case absent && p.Stat.Kind() != place.Symlink:
		return p.InTheWay("remove", guest.Record("kind", p.Stat.Kind()), place.Symlink)
	case absent:
		return &guest.Decision{
			Verb: "remove", Params: guest.Record("kind", place.Symlink, "target", p.Stat.Target()),
			Reason: guest.Reason{Code: "present", Text: "leads to " + p.Stat.Target() + ", declared absent; only the link is removed"},
		}
	case !p.Stat.Exists():
		return p.Missing(params(in.Declared))
	case p.Stat.Kind() != place.Symlink:
		return p.InTheWay("write", params(in.Declared), place.Symlink)
	}
	from, owners := p.Ownership()
	target := in.Declared.GetText("target")
	if found := p.Stat.Target(); found != target {
		return &guest.Decision{
			Verb: "write", Params: params(in.Declared).With("from", from.WithText("target", found)), Needs: p.Owners(),
			Reason: guest.Reason{Code: "target-differs", Text: guest.Join("leads to "+found+", declared is "+target, "; ", owners)},
		}
	}
	if owners == "" {
		return nil
	}
	d := in.Declared
	return &guest.Decision{
		Verb: "chown", Params: guest.Record("owner", d.GetText("owner"), "group", d.GetText("group")).With("from", from), Needs: p.Owners(),
		Reason: guest.Reason{Code: "owner-differs", Text: owners},
	}
}

func params(d guest.Value) guest.Value {
	return guest.Record("target", d.GetText("target"), "owner", d.GetText("owner"), "group", d.GetText("group"))
}
