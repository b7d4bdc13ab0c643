package line

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/internal/place"
)

// Diff compares one line with its declaration.
func Diff(in guest.Input) *guest.Decision {
	stat, l := read.Stat{Value: in.Facts.Get("stat")}, read.Line{Value: in.Facts.Get("line")}
	if place.Absent(in.Declared) {
		return gone(in, stat, l)
	}
	d := &guest.Decision{Verb: "write", Params: guest.Record("line", in.Declared.GetText("line")), Reason: guest.Reason{Code: "missing", Text: "the line is not there"}}
	switch {
	case !stat.Exists():
		d.Reason.Text = "the file is not there"
		if bad, kind := stat.BadParent(); bad != "" {
			d.Blocked = bad + " is " + place.Named(kind) + ", not a directory; move it away or declare another path"
			return d
		}
		path := in.Declared.GetText("path")
		d.Needs = []guest.Need{{Kind: guest.NeedFile, Name: path,
			Text: path + " does not exist, and a line is put only into a file that is there; declare before this what brings it, or the whole file as a file"}}
		return d
	case stat.Kind() != place.File:
		return inTheWay(in, stat, d)
	case l.TooLarge():
		return tooLarge(in, d)
	case l.Managed() > 0 && l.Same() == l.Managed():
		return nil
	case l.Managed() > 1:
		return ambiguous(l, d)
	case l.Managed() == 1:
		d.Params = d.Params.With("replace", guest.Bool(true))
		d.Reason = guest.Reason{Code: "line-differs", Text: "the line that match meets reads otherwise; it is replaced in its place"}
	case anchored(in.Declared) && l.Anchors() != 1:
		return anchor(in, l, d)
	}
	if stat.Links() > 1 {
		d.Note = "the file has further names (hard links); the others keep what they hold"
	}
	return d
}

func gone(in guest.Input, stat read.Stat, l read.Line) *guest.Decision {
	d := &guest.Decision{
		Verb: "remove", Params: guest.Object().With("lines", guest.Int(l.Managed())),
		Reason: guest.Reason{Code: "present", Text: "the line is there, declared absent"},
	}
	switch {
	case !stat.Exists():
		return nil
	case stat.Kind() != place.File:
		d.Params = guest.Null
		return inTheWay(in, stat, d)
	case l.TooLarge():
		d.Params = guest.Null
		return tooLarge(in, d)
	case l.Managed() == 0:
		return nil
	case l.Managed() > 1 && l.Same() < l.Managed():
		return ambiguous(l, d)
	case stat.Links() > 1:
		d.Note = "the file has further names (hard links); the others keep what they hold"
	}
	return d
}

func inTheWay(in guest.Input, stat read.Stat, d *guest.Decision) *guest.Decision {
	found := place.Named(stat.Kind())
	d.Reason = guest.Reason{Code: "kind-differs", Text: found + " stands at the path"}
	d.Blocked = found + " stands at " + in.Declared.GetText("path") + ", and a line belongs into a regular file"
	if stat.Kind() == place.Symlink {
		d.Blocked += "; declare it in the file that the link leads to, " + stat.Target()
	}
	return d
}

func tooLarge(in guest.Input, d *guest.Decision) *guest.Decision {
	d.Reason = guest.Reason{Code: "too-large", Text: "the file is too large to manage a line in"}
	d.Blocked = in.Declared.GetText("path") + " is larger than 4 MiB; no line is managed in it"
	return d
}

func ambiguous(l read.Line, d *guest.Decision) *guest.Decision {
	n := count(l.Managed())
	d.Reason = guest.Reason{Code: "ambiguous", Text: n + " lines are meant by line and match, and not all read as declared"}
	d.Blocked = n + " lines are meant, and gyrum does not guess which; write a match that meets one of them"
	return d
}

// anchor blocks a line whose place is not clear, unless another line of the plan changes that.
func anchor(in guest.Input, l read.Line, d *guest.Decision) *guest.Decision {
	field := "after"
	if in.Declared.Has("before") {
		field = "before"
	}
	if len(in.Inputs) > 0 {
		d.Note = "another line of this plan has to make the place that " + field + " names"
		return d
	}
	d.Reason = guest.Reason{Code: "no-place", Text: count(l.Anchors()) + " lines are met by " + field + ", not one"}
	d.Blocked = count(l.Anchors()) + " lines of the file are met by " + field + "; write an expression that meets exactly one"
	return d
}

func count(n int64) string { return string(guest.Encode(guest.Int(n))) }
