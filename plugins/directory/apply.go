package directory

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
	"gyrum.ai/plugins/internal/place"
)

// Apply performs one action on a directory.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	path := declared.GetText("path")
	switch action.Verb {
	case "write":
		return guest.Null, h.DirectoryMake(path, place.Access(action))
	case "chown":
		return guest.Null, h.FileOwner(path, place.Directory, place.Access(action))
	case "chmod":
		return guest.Null, h.FileMode(path, action.Text("mode"), place.Directory)
	case "remove":
		return guest.Null, h.DirectoryRemove(path)
	}
	return guest.Null, guest.UnknownVerb(action)
}
