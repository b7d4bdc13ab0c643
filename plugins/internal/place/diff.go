package place

import (
	"gyrum.ai/plugins/guest"
)

// Missing is the decision for something that is declared and does not exist: written, when its parent is there.
func (p Place) Missing(params guest.Value) *guest.Decision {
	d := &guest.Decision{Verb: "write", Params: params, Reason: guest.Reason{Code: "missing", Text: "does not exist"}, Needs: p.Owners()}
	if bad, kind := p.Stat.BadParent(); bad != "" {
		d.Blocked = bad + " is " + Named(kind) + ", not a directory; move it away or declare another path"
	}
	if missing := p.Stat.MissingParent(); missing != "" {
		d.Needs = append(d.Needs, guest.Need{Kind: guest.NeedPath, Name: missing,
			Text: "the directory " + missing + " does not exist; declare it as a directory before this"})
	}
	return d
}

// InTheWay is the decision for something of another kind, which is not touched.
func (p Place) InTheWay(verb string, params guest.Value, declared string) *guest.Decision {
	found := Named(p.Stat.Kind())
	return &guest.Decision{
		Verb: verb, Params: params,
		Reason:  guest.Reason{Code: "kind-differs", Text: found + " stands at the path, declared is " + Named(declared)},
		Blocked: found + " stands at " + p.Path() + " and gyrum removes none; look at it and move it away",
	}
}

// Differences compares mode, owner and group: the leading verb, "" when all are as declared, with its parameters and
// its reason. The parameters name under "from" what is changed.
func (p Place) Differences() (verb string, params guest.Value, reason guest.Reason) {
	want := p.access()
	from, text := p.Ownership()
	if text != "" {
		verb, reason.Code = "chown", "owner-differs"
	}
	if p.Stat.Mode() != want.Mode {
		from, text = from.WithText("mode", p.Stat.Mode()), guest.Join(text, "; ", change("mode", p.Stat.Mode(), want.Mode))
		if verb == "" {
			verb, reason.Code = "chmod", "mode-differs"
		}
	}
	switch verb {
	case "chown":
		params = p.Params().With("from", from)
	case "chmod":
		params = guest.Record("mode", want.Mode).With("from", from)
	}
	reason.Text = text
	return verb, params, reason
}

// Ownership compares owner and group: what is changed, and in words; "" when both are as declared.
func (p Place) Ownership() (from guest.Value, text string) {
	want := p.access()
	if uid, exists := p.Accounts.User(); !exists || uid != p.Stat.UID() {
		from, text = from.WithText("owner", p.Stat.Owner()), change("owner", p.Stat.Owner(), want.Owner)
	}
	if gid, exists := p.Accounts.Group(); !exists || gid != p.Stat.GID() {
		from, text = from.WithText("group", p.Stat.Group()), guest.Join(text, "; ", change("group", p.Stat.Group(), want.Group))
	}
	return from, text
}

// Metadata is the decision when only mode, owner or group can differ; nil when none does.
func (p Place) Metadata() *guest.Decision {
	verb, params, reason := p.Differences()
	if verb == "" {
		return nil
	}
	d := &guest.Decision{Verb: verb, Params: params, Reason: reason}
	if verb == "chown" {
		d.Needs = p.Owners()
	}
	if p.Stat.Kind() == File && p.Stat.Links() > 1 {
		d.Note = p.links("all of them are changed")
	}
	return d
}

// Rewrite is the decision to replace a file, for a reason that leads; params are those of the whole write.
func (p Place) Rewrite(params, from guest.Value, reason guest.Reason) *guest.Decision {
	if _, other, more := p.Differences(); more.Text != "" {
		for _, f := range other.Get("from").Fields() {
			from = from.With(f.Name, f.Value)
		}
		reason.Text = guest.Join(reason.Text, "; ", more.Text)
	}
	d := &guest.Decision{Verb: "write", Params: params.With("from", from), Reason: reason, Needs: p.Owners()}
	if p.Stat.Kind() == File && p.Stat.Links() > 1 {
		d.Note = p.links("the others keep what they hold")
	}
	return d
}

// Remove is the decision for a file or symlink that is declared absent.
func (p Place) Remove() *guest.Decision {
	params := guest.Record("kind", p.Stat.Kind())
	switch p.Stat.Kind() {
	case File:
		d := &guest.Decision{Verb: "remove", Params: params, Reason: guest.Reason{Code: "present", Text: "exists, declared absent"}}
		if p.Stat.Links() > 1 {
			d.Note = p.links("the others stay")
		}
		return d
	case Symlink:
		return &guest.Decision{
			Verb: "remove", Params: params.WithText("target", p.Stat.Target()),
			Reason: guest.Reason{Code: "present", Text: "a symbolic link to " + p.Stat.Target() + " stands there, declared absent; only the link is removed"},
		}
	}
	return p.InTheWay("remove", params, File)
}

// Owners are the declared user and group that the host does not know.
func (p Place) Owners() []guest.Need {
	var needs []guest.Need
	if _, exists := p.Accounts.User(); !exists {
		needs = append(needs, unknown(guest.NeedUser, p.access().Owner))
	}
	if _, exists := p.Accounts.Group(); !exists {
		needs = append(needs, unknown(guest.NeedGroup, p.access().Group))
	}
	return needs
}

func unknown(kind, name string) guest.Need {
	return guest.Need{Kind: kind, Name: name, Text: "the " + kind + " " + name + " does not exist and nothing earlier in the plan makes it"}
}

func (p Place) links(what string) string {
	return "the file has further names (hard links); " + what
}

func change(what, from, to string) string { return what + " is " + from + ", declared " + to }
