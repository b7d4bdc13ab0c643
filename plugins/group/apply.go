package group

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

// Apply performs one action on a group.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	id, name := declared.GetText("id"), declared.GetText("name")
	switch {
	case action.Verb == "write" && action.Has("from"):
		return guest.Null, h.GroupChange(id, name)
	case action.Verb == "write":
		return guest.Null, h.GroupAdd(id, name)
	case action.Verb == "remove":
		return guest.Null, h.GroupRemove(id, name)
	}
	return guest.Null, guest.UnknownVerb(action)
}
