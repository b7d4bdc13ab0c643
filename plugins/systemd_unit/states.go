package systemdunit

import (
	"strings"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// running says whether an active state means running. A unit that fails, restarts after a crash or still starts does
// not run.
func running(active string) bool {
	return active == "active" || active == "reloading" || active == "refreshing"
}

// stopped says whether an active state means that nothing of the unit runs. What is neither is on its way, or unknown.
func stopped(active string) bool {
	return active == "inactive" || active == "failed" || active == "maintenance" || active == ""
}

// crashing says that systemd waits before it restarts a unit that keeps ending.
func crashing(u read.Unit) bool {
	return u.ActiveState() == "activating" && strings.HasPrefix(u.SubState(), "auto-restart")
}

// momentary says that the unit ends when its work is done, so that it cannot be kept started.
func momentary(u read.Unit) bool { return u.ServiceType() == "oneshot" && !u.RemainAfterExit() }

// word is the enable state to judge by: of an alias the one of the unit that it names.
func word(u read.Unit) string {
	if u.FileState() == "alias" && u.AliasState() != "" {
		return u.AliasState()
	}
	return u.FileState()
}

func masked(u read.Unit) bool {
	w := word(u)
	return w == "masked" || w == "masked-runtime"
}

// outcome is what is to be done about one of the two states: nothing, one change, or nothing because something is wrong.
type outcome struct {
	change bool
	reason guest.Reason
	// wrong says that the change cannot be made; need, that it can once the unit exists.
	wrong, need bool
}

func fine() outcome { return outcome{} }
func change(code, text string) outcome {
	return outcome{change: true, reason: guest.Reason{Code: code, Text: text}}
}
func wrong(code, text string) outcome {
	return outcome{wrong: true, reason: guest.Reason{Code: code, Text: text}}
}
func need(code, text string) outcome {
	return outcome{change: true, need: true, reason: guest.Reason{Code: code, Text: text}}
}

// boot judges an enable state (systemctl(1), is-enabled) where the unit is to be enabled.
func boot(u read.Unit) outcome {
	switch w := word(u); w {
	case "enabled":
		return fine()
	case "disabled", "linked", "linked-runtime":
		return change("not-enabled", "is "+w)
	case "enabled-runtime":
		return change("not-persistent", "is enabled until the next boot only")
	case "static":
		return wrong("cannot-enable", "is static: its file has no [Install] section, so it is started by what needs it")
	case "indirect":
		return wrong("cannot-enable", "is indirect: it is enabled through the units that its Also= names; declare those, or an instance")
	case "generated":
		return wrong("cannot-enable", "is generated, from fstab or an init script; change what it is generated from")
	case "transient":
		return wrong("cannot-enable", "is transient: it has no file that could be enabled")
	case "alias":
		return wrong("cannot-enable", "is an alias of "+u.AliasOf()+"; declare that unit")
	case "bad", "invalid":
		return wrong("bad-unit", "has a unit file that systemd cannot read")
	case "":
		return wrong("cannot-enable", "has no unit file that could be enabled")
	default:
		return wrong("cannot-enable", "has the unknown enable state "+w)
	}
}

// up judges a run state where the unit is to be started.
func up(u read.Unit) outcome {
	is := "is " + u.ActiveState()
	if u.SubState() != "" {
		is += " (" + u.SubState() + ")"
	}
	switch {
	case running(u.ActiveState()):
		return fine()
	case momentary(u):
		return wrong("cannot-stay-started", is+": a oneshot service without RemainAfterExit=yes ends when its work is done; "+
			"set that, declare its timer, or use a command")
	case u.CannotStart():
		return wrong("cannot-start", is+" and cannot be started by hand: RefuseManualStart= says so, or this system does not support such units")
	case crashing(u):
		return change("crash-loop", is+": it ends and is restarted over and over")
	case u.ActiveState() == "failed":
		return change("failed-state", "has failed ("+u.Result()+")")
	}
	return change("not-running", is)
}
