package env

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/internal/place"
)

// Diff compares one environment file with its declaration.
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
		// Without its variables no file is the same, so there is a decision, and it is to write.
		d.Reason = guest.Reason{Code: "secret-unresolved", Text: text}
		d.Blocked = text
	}
	return d
}

func present(in guest.Input, p place.Place) *guest.Decision {
	changed := compare(in.Declared.Get("vars"), p.Stat.Get("vars"))
	if !p.Stat.Exists() {
		return p.Missing(changed.params(p))
	}
	switch p.Stat.Kind() {
	case place.File:
		return file(p, changed)
	case place.Symlink:
		from := guest.Record("kind", place.Symlink, "target", p.Stat.Target())
		d := p.Rewrite(changed.params(p), from, guest.Reason{})
		d.Reason = guest.Reason{Code: "kind-differs", Text: "a symbolic link to " + p.Stat.Target() + " stands there; it is replaced, its target is not touched"}
		return d
	}
	return p.InTheWay("write", changed.params(p), place.File)
}

// file compares what systemd would read. A file that reads back as declared is in sync whatever its bytes are.
func file(p place.Place, changed changes) *guest.Decision {
	e := read.EnvFile{Stat: p.Stat}
	switch {
	case e.Damage() != "":
		return p.Rewrite(changed.params(p), guest.Object(), guest.Reason{Code: "damaged", Text: "systemd would not read it as it is: " + e.Damage()})
	case !e.Same():
		return p.Rewrite(changed.params(p), guest.Object(), guest.Reason{Code: "content-differs", Text: changed.text()})
	}
	return p.Metadata()
}

// changes are the names of the variables that are not as declared.
type changes struct{ set, unset []string }

func compare(declared, found guest.Value) changes {
	var c changes
	for _, f := range declared.Fields() {
		want, have := f.Value, found.Get(f.Name)
		same := want.Kind() == guest.KindString && have.Kind() == guest.KindString && want.Text() == have.Text() ||
			want.Kind() == guest.KindObject && have.Text() == "match"
		if !same {
			c.set = append(c.set, f.Name)
		}
	}
	for _, f := range found.Fields() {
		if !declared.Has(f.Name) {
			c.unset = append(c.unset, f.Name)
		}
	}
	return c
}

func (c changes) params(p place.Place) guest.Value {
	params := p.Params()
	if len(c.set) > 0 {
		params = params.With("set", guest.Strings(c.set))
	}
	if len(c.unset) > 0 {
		params = params.With("unset", guest.Strings(c.unset))
	}
	return params
}

func (c changes) text() string {
	var text string
	for _, name := range c.set {
		text = guest.Join(text, ", ", name+" is not as declared")
	}
	for _, name := range c.unset {
		text = guest.Join(text, ", ", name+" is not declared")
	}
	if text == "" {
		return "the variables are as declared, and there are others that systemd drops for their names"
	}
	return text
}
