package user

import (
	"slices"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Diff compares one user with its declaration.
func Diff(in guest.Input) *guest.Decision {
	u := read.User{Value: in.Facts.Get("user")}
	exists := u.Entry().Exists()
	switch {
	case absent(in.Declared) && !exists:
		return nil
	case absent(in.Declared):
		return remove(in, u)
	case !exists:
		return add(in, u)
	}
	return change(in, u)
}

// fields are what an account has of its own, in the order in which a difference is told.
var fields = []string{"uid", "group", "groups", "home", "shell"}

func add(in guest.Input, u read.User) *guest.Decision {
	d := &guest.Decision{
		Verb: "write", Params: guest.Object(), Needs: needs(in), Reason: guest.Reason{Code: "missing", Text: "does not exist"},
	}
	for _, field := range fields {
		if in.Declared.Has(field) {
			d.Params = d.Params.With(field, in.Declared.Get(field))
		}
	}
	if in.Declared.Get("system").True() {
		d.Params = d.Params.With("system", guest.Bool(true))
	}
	return taken(in, u, d)
}

func change(in guest.Input, u read.User) *guest.Decision {
	d := &guest.Decision{Verb: "write", Reason: guest.Reason{Code: "account-differs"}}
	var from guest.Value
	for _, field := range fields {
		found, text := difference(in, u, field)
		if text == "" {
			continue
		}
		d.Params = d.Params.With(field, in.Declared.Get(field))
		from = from.With(field, found)
		d.Reason.Text = guest.Join(d.Reason.Text, "; ", text)
	}
	if from.IsNull() {
		return nil
	}
	d.Params = d.Params.With("from", from)
	d.Needs = needs(in)
	if from.Has("uid") {
		d.Note = "the files in its home folder go with it, files elsewhere keep the number " + number(from.Get("uid"))
	}
	name := in.Declared.GetText("name")
	switch {
	case !u.Entry().Local():
		d.Blocked = elsewhere(name)
	case u.Busy() && (from.Has("uid") || from.Has("home")):
		d.Blocked = "processes of " + name + " run, and neither uid nor home of a running user is changed; stop them first"
	default:
		if from.Has("uid") {
			return taken(in, u, d)
		}
	}
	return d
}

// difference tells what an account has in a field that is declared otherwise; text is "" when it is as declared.
func difference(in guest.Input, u read.User, field string) (found guest.Value, text string) {
	declared := in.Declared
	switch {
	case !declared.Has(field):
		return guest.Null, ""
	case field == "uid":
		if !uidDiffers(declared, u) {
			return guest.Null, ""
		}
		return u.Get("uid"), "uid is " + number(u.Get("uid")) + ", declared " + number(declared.Get("uid"))
	case field == "group":
		if in.Facts.Has("gid") && in.Facts.Get("gid").Number() == u.Get("gid").Number() {
			return guest.Null, ""
		}
		return u.Get("group"), "group is " + u.GetText("group") + ", declared " + declared.GetText("group")
	case field == "groups":
		have, want := u.Get("groups").Texts(), wanted(declared, u)
		if slices.Equal(have, want) {
			return guest.Null, ""
		}
		return guest.Strings(have), "groups are " + words(have) + ", declared " + words(want)
	case textDiffers(declared, u, field):
		return u.Get(field), field + " is " + u.GetText(field) + ", declared " + declared.GetText(field)
	}
	return guest.Null, ""
}

// wanted are the declared supplementary groups, sorted; the primary one is no supplementary one.
func wanted(declared guest.Value, u read.User) []string {
	primary := declared.GetText("group")
	if primary == "" {
		primary = u.GetText("group")
	}
	groups := slices.DeleteFunc(declared.Get("groups").Texts(), func(g string) bool { return g == primary })
	slices.Sort(groups)
	return slices.Compact(groups)
}

func remove(in guest.Input, u read.User) *guest.Decision {
	name := in.Declared.GetText("name")
	d := &guest.Decision{
		Verb: "remove", Params: guest.Record("home", u.GetText("home")).With("uid", u.Get("uid")),
		Reason: guest.Reason{Code: "present", Text: "exists, declared absent; its home " + u.GetText("home") + " stays"},
	}
	switch {
	case !u.Entry().Local():
		d.Blocked = elsewhere(name)
	case u.Get("uid").Number() == 0:
		d.Blocked = name + " has the id 0, and gyrum removes no such account"
	case u.Busy():
		d.Blocked = "processes of " + name + " run, and gyrum ends none; stop them first"
	}
	return d
}

// taken blocks what would need a uid that another user has, unless that user is changed earlier in the plan.
func taken(in guest.Input, u read.User, d *guest.Decision) *guest.Decision {
	switch other := u.Entry().TakenBy(); {
	case other == "":
	case slices.Contains(in.Inputs, "user:"+other):
		d.Note = guest.Join(d.Note, "; ", "user:"+other+" has to give the uid up first")
	default:
		d.Blocked = "the uid " + number(in.Declared.Get("uid")) + " belongs to the user " + other + "; declare another one"
	}
	return d
}

func needs(in guest.Input) []guest.Need {
	var out []guest.Need
	for _, group := range in.Facts.Get("missing").Texts() {
		out = append(out, guest.Need{Kind: guest.NeedGroup, Name: group, Text: "the group " + group + " does not exist and nothing earlier in the plan makes it"})
	}
	return out
}

func words(groups []string) string {
	if len(groups) == 0 {
		return "none"
	}
	return guest.Words(groups)
}

func number(v guest.Value) string { return string(guest.Encode(v)) }

func elsewhere(name string) string {
	return "the user " + name + " is no line of /etc/passwd but comes from another source of nsswitch.conf; change it there"
}
