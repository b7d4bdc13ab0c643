package user

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

// Apply performs one action on a user.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	id, name := declared.GetText("id"), declared.GetText("name")
	switch {
	case action.Verb == "write" && action.Has("from"):
		var changed []string
		for _, f := range action.Params.Get("from").Fields() {
			changed = append(changed, f.Name)
		}
		return guest.Null, h.UserChange(id, name, changed)
	case action.Verb == "write":
		return guest.Null, h.UserAdd(id, name)
	case action.Verb == "remove":
		return guest.Null, h.UserRemove(id, name)
	}
	return guest.Null, guest.UnknownVerb(action)
}
