package symlink

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

// Apply performs one action on a link.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	path := declared.GetText("path")
	switch action.Verb {
	case "write":
		return guest.Null, h.SymlinkMake(declared.GetText("id"), path, action.Text("owner"), action.Text("group"))
	case "chown":
		return guest.Null, h.SymlinkOwner(path, action.Text("owner"), action.Text("group"))
	case "remove":
		return guest.Null, h.SymlinkRemove(path)
	}
	return guest.Null, guest.UnknownVerb(action)
}
