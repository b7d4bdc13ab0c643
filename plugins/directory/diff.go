package directory

import (
	"slices"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/internal/place"
)

// Diff compares one directory with its declaration.
func Diff(in guest.Input) *guest.Decision {
	p := place.From(in)
	switch {
	case place.Absent(in.Declared) && !p.Stat.Exists():
		return nil
	case place.Absent(in.Declared) && p.Stat.Kind() != place.Directory:
		return p.InTheWay("remove", guest.Record("kind", p.Stat.Kind()), place.Directory)
	case place.Absent(in.Declared):
		return remove(in, p)
	case !p.Stat.Exists():
		return p.Missing(p.Params())
	case p.Stat.Kind() != place.Directory:
		return p.InTheWay("write", p.Params(), place.Directory)
	}
	return p.Metadata()
}

// remove removes an empty directory, or one that the rest of the plan empties.
func remove(in guest.Input, p place.Place) *guest.Decision {
	d := &guest.Decision{
		Verb: "remove", Params: guest.Record("kind", place.Directory),
		Reason: guest.Reason{Code: "present", Text: "exists, declared absent"},
	}
	entries := in.Facts.Get("entries").Texts()
	if len(entries) == 0 {
		return d
	}
	rest := slices.DeleteFunc(entries, func(entry string) bool { return slices.Contains(in.Inputs, entry) })
	if in.Facts.Get("more").True() {
		rest = append(rest, "and more")
	}
	if len(rest) > 0 {
		d.Reason = guest.Reason{Code: "not-empty", Text: "declared absent, but it is not empty"}
		d.Blocked = "the directory is not empty (" + rest[0] + "); gyrum removes no tree: declare what is in it absent, or empty it"
		return d
	}
	d.Note = "other items of this plan empty it first"
	return d
}
