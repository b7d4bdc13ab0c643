package systemdunit

import "gyrum.ai/plugins/guest"

// decide makes one decision of the two outcomes and of what makes a running unit stale. The leading change is that of
// the run state.
func (u unit) decide(run, boot outcome) *guest.Decision {
	restart := u.restart()
	d := &guest.Decision{Params: guest.Object()}
	switch {
	case run.change && u.state() == "stopped":
		d.Verb, d.Reason = "stop", run.reason
	case run.change:
		d.Verb, d.Reason = "start", run.reason
		if running(u.ActiveState()) {
			// Its file is gone and comes back: what runs is what was there before.
			d.Params = d.Params.With("restart", guest.Bool(true))
		}
	case restart.change:
		d.Verb, d.Reason = "start", restart.reason
		d.Params = d.Params.With("restart", guest.Bool(true))
	case boot.change && enabled(u.declared):
		d.Verb, d.Reason = "enable", boot.reason
	case boot.change:
		d.Verb, d.Reason = "disable", boot.reason
	default:
		return u.settled()
	}
	if boot.change && (d.Verb == "start" || d.Verb == "stop") {
		d.Params = d.Params.With("enable", guest.Bool(enabled(u.declared)))
		if boot.reason != d.Reason {
			d.Reason.Text = guest.Join(d.Reason.Text, "; ", boot.reason.Text)
		}
	}
	if u.NeedsReload() {
		d.Params = d.Params.With("daemon_reload", guest.Bool(true))
	}
	if run.need || boot.need {
		d.Needs = []guest.Need{{Kind: guest.NeedUnit, Name: u.name(),
			Text: d.Reason.Text + " and nothing earlier in the plan brings it; declare its package or its unit file before it"}}
	}
	d.Note = u.note(d)
	return d
}

// restart judges whether a running unit must be restarted: it runs from old inputs, or from inputs that this plan
// changes. A unit whose run state is not managed is restarted only where it names what for.
func (u unit) restart() outcome {
	switch {
	case !u.restartable():
		return fine()
	case u.Freshness() == "stale":
		return change("stale", "runs from inputs that changed after it was started: "+guest.Words(u.StaleInputs()))
	case len(u.in.Inputs) > 0:
		return change("input-changes", "this plan changes what it runs from: "+guest.Words(u.in.Inputs))
	}
	return fine()
}

func (u unit) restartable() bool {
	managed := u.state() == "started" || u.state() == "" && len(u.declared.Get("restart_on").Items()) > 0
	return managed && running(u.ActiveState())
}

// settled is the decision for a unit whose states are as declared: nothing, unless systemd works from an old version of
// its files, or nobody can tell whether the unit does.
func (u unit) settled() *guest.Decision {
	switch {
	case u.NeedsReload():
		return &guest.Decision{
			Verb: u.namedVerb(), Params: guest.Object().With("daemon_reload", guest.Bool(true)),
			Reason: guest.Reason{Code: "reload-needed", Text: "systemd works from an older version of its unit files"},
		}
	case u.restartable() && u.Freshness() == "unknown":
		return &guest.Decision{Verb: "noop", Severity: guest.Warn, Reason: guest.Reason{Code: "freshness-unknown", Text: u.unknown()}}
	}
	return nil
}

func (u unit) unknown() string {
	return guest.Join("nobody can tell whether it runs from its files as they are", ": ", u.FreshnessText())
}

// namedVerb is the verb that the declared state names.
func (u unit) namedVerb() string {
	switch {
	case u.state() == "started":
		return "start"
	case u.state() == "stopped":
		return "stop"
	case enabled(u.declared):
		return "enable"
	}
	return "disable"
}

func (u unit) note(d *guest.Decision) string {
	switch {
	case d.Verb == "stop" && len(u.TriggeredBy()) > 0:
		return guest.Words(u.TriggeredBy()) + " is active and may start it again; declare that stopped too"
	case !d.Params.Get("restart").True() && u.restartable() && u.Freshness() == "unknown":
		return u.unknown()
	}
	return ""
}
