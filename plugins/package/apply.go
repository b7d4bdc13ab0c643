package pkg

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

// Apply performs one action on a package; the output names what changed.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	name := declared.GetText("name")
	switch action.Verb {
	case "install":
		return h.PackageInstall(name, exact(declared), action.Params.Get("downgrade").True())
	case "upgrade":
		return h.PackageInstall(name, action.Text("to"), action.Params.Get("downgrade").True())
	case "remove":
		return h.PackageRemove(name)
	}
	return guest.Null, guest.UnknownVerb(action)
}
