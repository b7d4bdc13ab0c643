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
	change, has := bootStep(h, action)
	switch {
	case action.Verb == "start" && action.Params.Get("restart").True():
		steps = append(append(steps, change...), h.UnitRestart)
	case action.Verb == "start":
		steps = append(append(steps, change...), h.UnitStart)
	case action.Verb == "stop":
		steps = append(append(steps, h.UnitStop), change...)
	case has:
		steps = append(steps, change...)
	default:
		return guest.Null, guest.UnknownVerb(action)
	}
	for _, step := range steps {
		if err := step(name); err != nil {
			return guest.Null, err
		}
	}
	return guest.Null, nil
}

// bootStep is the change of the enable state that is a part of the action.
func bootStep(h write.Host, action guest.Action) (step []func(string) *guest.Error, has bool) {
	switch {
	case action.Verb == "enable" || action.Params.Get("enable").True():
		return []func(string) *guest.Error{h.UnitEnable}, true
	case action.Verb == "disable" || action.Has("enable"):
		return []func(string) *guest.Error{h.UnitDisable}, true
	}
	return nil, false
}
