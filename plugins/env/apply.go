package env

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
	"gyrum.ai/plugins/internal/place"
)

// Apply performs one action on an environment file.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	path := declared.GetText("path")
	switch action.Verb {
	case "write":
		return guest.Null, h.EnvReplace(declared.GetText("id"), path, place.Access(action))
	case "chown":
		return guest.Null, h.FileOwner(path, place.File, place.Access(action))
	case "chmod":
		return guest.Null, h.FileMode(path, action.Text("mode"), place.File)
	case "remove":
		return guest.Null, h.FileRemove(path)
	}
	return guest.Null, guest.UnknownVerb(action)
}
