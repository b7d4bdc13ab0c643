// Package systemdunit is the resource type systemd_unit: whether a unit runs and whether it is started at boot, each for
// itself. testdata/states.txt holds the whole table of what every state means.
//
// It judges systemd's own words; how they are asked for, and whether a running unit is stale, is the host side's matter.
package systemdunit

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Observe looks at one unit. A template is no unit that could be asked for.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	name := declared.GetText("name")
	if template(name) {
		return guest.Observation{}
	}
	u, err := h.Unit(declared.GetText("id"), name)
	if err != nil {
		return guest.Unseen(err)
	}
	o := guest.Observation{
		Observed:        record(u),
		Facts:           u.Value,
		PackageMayStart: declared.GetText("state") == "stopped" || disabled(declared),
	}
	if running(u.ActiveState()) {
		o.Inputs = append(o.Inputs, u.Inputs()...)
	}
	o.Inputs = append(o.Inputs, fileNames(declared)...)
	return o
}

// fileNames are the paths at which another item of the plan may make the unit's file.
func fileNames(declared guest.Value) []string {
	var paths []string
	if declared.Has("unit_file") {
		paths = append(paths, declared.GetText("unit_file"))
	}
	for _, folder := range []string{"/etc/systemd/system/", "/usr/lib/systemd/system/", "/lib/systemd/system/"} {
		for _, file := range fragments(declared.GetText("name")) {
			paths = append(paths, folder+file)
		}
	}
	return paths
}

// record is null when neither a file nor a process of the unit is there.
func record(u read.Unit) guest.Value {
	active := u.ActiveState()
	if u.LoadState() == "not-found" && !u.FilePresent() && (active == "inactive" || active == "") {
		return guest.Null
	}
	r := guest.Record("active_state", active, "sub_state", u.SubState(), "unit_file_state", u.FileState()).
		With("active", guest.Bool(running(active))).
		With("enabled", guest.Bool(word(u) == "enabled")).
		With("unit_file_present", guest.Bool(u.FilePresent()))
	switch u.Freshness() {
	case "stale", "fresh":
		r = r.With("stale", guest.Bool(u.Freshness() == "stale"))
	}
	return r
}
