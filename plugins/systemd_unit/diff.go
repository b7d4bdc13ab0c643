package systemdunit

import (
	"slices"
	"strings"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// unit is one unit as it is declared and as it is.
type unit struct {
	read.Unit
	declared guest.Value
	in       guest.Input
}

func (u unit) name() string { return u.declared.GetText("name") }

func (u unit) state() string { return u.declared.GetText("state") }

func enabled(declared guest.Value) bool { return declared.Get("enabled").True() }

func disabled(declared guest.Value) bool {
	return declared.Has("enabled") && !declared.Get("enabled").True()
}

// wanted says that the unit is to be there: started, or started at boot.
func (u unit) wanted() bool { return u.state() == "started" || enabled(u.declared) }

// Diff compares one unit with its declaration: run state and enable state each, then what makes a running unit stale.
func Diff(in guest.Input) *guest.Decision {
	u := unit{read.Unit{Value: in.Facts}, in.Declared, in}
	if template(u.name()) {
		if !u.wanted() {
			return nil
		}
		return guest.Errored("template", "is a template; name an instance of it, such as "+strings.Replace(u.name(), "@.", "@name.", 1))
	}
	run, boot := u.run(), u.boot()
	for _, o := range []outcome{run, boot} {
		if o.wrong {
			return guest.Errored(o.reason.Code, o.reason.Text)
		}
	}
	if !run.change && !boot.change && u.fileMissing() {
		return guest.Errored("unit-file-missing", "its unit file "+u.declared.GetText("unit_file")+" does not exist")
	}
	return u.decide(run, boot)
}

// rewritten says that another item of the plan writes the unit's own file, so that what systemd holds against it now
// says nothing. A file that systemd reads only where a better one is missing changes nothing about that one, nor about a mask.
func (u unit) rewritten() bool {
	names, stands := fragments(u.name()), u.stands()
	for _, input := range u.in.Inputs {
		_, file := split(input)
		if input != u.declared.GetText("unit_file") && !slices.Contains(names, file) {
			continue
		}
		if stands == "" || outranks(u.name(), input, stands) {
			return true
		}
	}
	return false
}

// stands is the path of the file that systemd goes by now. A mask that the manager has not loaded yet is where systemctl(1)
// puts it.
func (u unit) stands() string {
	if masked(u.Unit) && u.LoadState() != "masked" {
		if word(u.Unit) == "masked" {
			return "/etc/systemd/system/" + u.name()
		}
		return "/run/systemd/system/" + u.name()
	}
	return u.Fragment()
}

// blocked judges what stands against a unit that is wanted before its states count.
func (u unit) blocked() (outcome, bool) {
	load := u.LoadState()
	switch {
	case u.rewritten():
	case masked(u.Unit) || load == "masked" && !u.NeedsReload():
		return wrong("masked", "is masked, and gyrum unmasks nothing; systemctl unmask "+u.name()+" if it is wanted"), true
	case load == "not-found" && !u.NeedsReload():
		return need("not-found", "does not exist"), true
	case (load == "bad-setting" || load == "error") && !u.NeedsReload():
		return wrong("bad-unit", "has a unit file that systemd cannot load; systemctl status "+u.name()+" says why"), true
	case u.declared.Has("unit_file") && !u.FilePresent():
		return need("unit-file-missing", "its unit file "+u.declared.GetText("unit_file")+" does not exist"), true
	}
	return fine(), false
}

func (u unit) run() outcome {
	switch u.state() {
	case "started":
		if o, found := u.blocked(); found {
			return o
		}
		if o := up(u.Unit); !o.wrong || !u.rewritten() {
			return o
		}
		return change("not-running", "is "+u.ActiveState())
	case "stopped":
		if !stopped(u.ActiveState()) {
			return change("running", "is "+u.ActiveState()+" ("+u.SubState()+")")
		}
		if len(u.in.Packages) > 0 && !masked(u.Unit) {
			return u.mayStart("start")
		}
	}
	return fine()
}

func (u unit) boot() outcome {
	switch {
	case enabled(u.declared):
		if o, found := u.blocked(); found {
			return o
		}
		if o := boot(u.Unit); !o.wrong || !u.rewritten() {
			return o
		}
		return change("not-enabled", "is not enabled")
	case disabled(u.declared):
		if word(u.Unit) == "enabled" {
			return change("enabled", "is enabled")
		}
		if len(u.in.Packages) > 0 && !masked(u.Unit) {
			return u.mayStart("enable")
		}
	}
	return fine()
}

func (u unit) mayStart(what string) outcome {
	return change("package-may-start", guest.Words(u.in.Packages)+" may "+what+" it")
}

// fileMissing asserts the declared unit file also of a unit that is not wanted, once nothing else is to be done about it
// and where nothing in the plan brings the file.
func (u unit) fileMissing() bool {
	return !u.wanted() && u.declared.Has("unit_file") && !u.FilePresent() && !u.rewritten() && len(u.in.Packages) == 0
}
