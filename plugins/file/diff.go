package file

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/internal/place"
)

// Diff compares one file with its declaration.
func Diff(in guest.Input) *guest.Decision {
	p := place.From(in)
	if place.Absent(in.Declared) {
		if !p.Stat.Exists() {
			return nil
		}
		return p.Remove()
	}
	d := present(in, p)
	if text := in.Facts.GetText("unresolved"); text != "" {
		// Nothing matches a secret that nobody knows, so there is a decision, and it is to write.
		d.Reason = guest.Reason{Code: "secret-unresolved", Text: text}
		d.Blocked = text
	}
	return d
}

func present(in guest.Input, p place.Place) *guest.Decision {
	if !p.Stat.Exists() {
		return p.Missing(params(p))
	}
	switch p.Stat.Kind() {
	case place.File:
		if from, differs := content(in); differs {
			return p.Rewrite(params(p), from, guest.Reason{Code: "content-differs", Text: "the content differs"})
		}
		return p.Metadata()
	case place.Symlink:
		from := guest.Record("kind", place.Symlink, "target", p.Stat.Target())
		d := p.Rewrite(params(p), from, guest.Reason{})
		d.Reason = guest.Reason{Code: "kind-differs", Text: "a symbolic link to " + p.Stat.Target() + " stands there; it is replaced, its target is not touched"}
		return d
	}
	return p.InTheWay("write", params(p), place.File)
}

// content compares what the file holds; from is what the item shows of the old content.
func content(in guest.Input) (from guest.Value, differs bool) {
	found := in.Observed.GetText("sha256")
	if secret(in.Declared) {
		return guest.Object(), found != "match"
	}
	from = guest.Record("sha256", found)
	return from, found != in.Declared.Get("content").GetText("sha256")
}

func params(p place.Place) guest.Value {
	content := p.Declared.Get("content")
	if secret(p.Declared) {
		return p.Params().With("secret_ref", content.Get("secret_ref"))
	}
	return p.Params().With("sha256", content.Get("sha256")).With("size", content.Get("size"))
}
