package line

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

// Apply performs one action on a line.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	id, path := declared.GetText("id"), declared.GetText("path")
	switch action.Verb {
	case "write":
		return guest.Null, h.LineWrite(id, path)
	case "remove":
		return guest.Null, h.LineRemove(id, path)
	}
	return guest.Null, guest.UnknownVerb(action)
}
