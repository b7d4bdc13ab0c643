// Package user is the resource type user: one account, never its password and never its home folder. What another source
// of nsswitch.conf gives is not changed, and no process is ended for a change.
package user

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Observe looks at one user.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	name := declared.GetText("name")
	u, err := h.UserEntry(name, declared.Get("uid"), false)
	if err == nil && u.Entry().Exists() && needsRest(declared, u) {
		u, err = h.UserEntry(name, declared.Get("uid"), true)
	}
	if err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{Facts: guest.Object().With("user", u.Value)}
	if u.Entry().Exists() {
		o.Observed = guest.Record("group", u.GetText("group"), "home", u.GetText("home"), "shell", u.GetText("shell")).
			With("exists", guest.Bool(true)).With("uid", u.Get("uid")).With("groups", guest.Strings(u.Get("groups").Texts()))
	}
	if absent(declared) {
		return o
	}
	if other := u.Entry().TakenBy(); other != "" {
		o.Inputs = []string{"user:" + other}
	}
	return observeGroups(h, declared, o)
}

// observeGroups looks the declared groups up: the id of the primary one, and which of all do not exist.
func observeGroups(h read.Host, declared guest.Value, o guest.Observation) guest.Observation {
	var missing []string
	primary := declared.GetText("group")
	for _, group := range append(primaries(primary), declared.Get("groups").Texts()...) {
		a, err := h.Account("", group)
		if err != nil {
			return guest.Unseen(err)
		}
		id, exists := a.Group()
		switch {
		case !exists:
			missing = append(missing, group)
		case group == primary:
			o.Facts = o.Facts.With("gid", guest.Int(id))
		}
	}
	if len(missing) > 0 {
		o.Facts = o.Facts.With("missing", guest.Strings(missing))
	}
	return o
}

func primaries(group string) []string {
	if group == "" {
		return nil
	}
	return []string{group}
}

// needsRest says that the declaration asks for a change that is made only while no process of the user runs.
func needsRest(declared guest.Value, u read.User) bool {
	return absent(declared) || uidDiffers(declared, u) || textDiffers(declared, u, "home")
}

func uidDiffers(declared guest.Value, u read.User) bool {
	uid := declared.Get("uid")
	return !uid.IsNull() && uid.Number() != u.Get("uid").Number()
}

func textDiffers(declared guest.Value, u read.User, field string) bool {
	return declared.Has(field) && declared.GetText(field) != u.GetText(field)
}

func absent(declared guest.Value) bool { return declared.GetText("state") == "absent" }
