package systemdunit

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

// Apply performs one action on a unit: the reload first, then the enable state of a unit that is to start, and after a
// stop the one of a unit that is to stay down.
func Apply(h write.Host, declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
	name := declared.GetText("name")
	var steps []func(string) *guest.Error
	if action.Params.Get("daemon_reload").True() {
		steps = append(steps, h.UnitReload)
	}
	more, err := changes(h, action)
	if err != nil {
		return guest.Null, err
	}
	for _, step := range append(steps, more...) {
		if err := step(name); err != nil {
			return guest.Null, err
		}
	}
	return guest.Null, nil
}

// changes are the steps beside the reload; none for an item that is about the reload alone.
func changes(h write.Host, action guest.Action) ([]func(string) *guest.Error, *guest.Error) {
	boot := bootStep(h, action)
	switch {
	case reloadOnly(action):
		return nil, nil
	case action.Verb == "start" && action.Params.Get("restart").True():
		return append(boot, h.UnitRestart), nil
	case action.Verb == "start":
		return append(boot, h.UnitStart), nil
	case action.Verb == "stop":
		return append([]func(string) *guest.Error{h.UnitStop}, boot...), nil
	case boot != nil:
		return boot, nil
	}
	return nil, guest.UnknownVerb(action)
}

// bootStep is the change of the enable state that is a part of the action.
func bootStep(h write.Host, action guest.Action) []func(string) *guest.Error {
	switch {
	case action.Verb == "enable" || action.Params.Get("enable").True():
		return []func(string) *guest.Error{h.UnitEnable}
	case action.Verb == "disable" || action.Has("enable"):
		return []func(string) *guest.Error{h.UnitDisable}
	}
	return nil
}

// reloadOnly says that nothing but the reload is due: it is all that the action lists, and what its verb names holds.
func reloadOnly(action guest.Action) bool {
	if !action.Has("daemon_reload") || len(action.Params.Fields()) > 1 {
		return false
	}
	switch o := action.Observed; action.Verb {
	case "start":
		return o.Get("active").True()
	case "stop":
		return stopped(o.GetText("active_state"))
	case "enable":
		return o.Get("enabled").True()
	case "disable":
		return !o.Get("enabled").True()
	}
	return false
}
