package pkg

import (
	"slices"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// state is a package as it is declared and as it is.
type state struct {
	declared guest.Value
	found    read.Package
	// order is how the installed version compares with the declared one by dpkg's rules.
	order int64
}

func (s state) absent() bool { return s.declared.GetText("state") == "absent" }

// settled says that nothing is to be done. A half state is settled neither way.
func (s state) settled() bool {
	switch {
	case s.found.Half():
		return false
	case s.absent():
		return !s.found.Installed()
	}
	return s.found.Installed() && s.order == 0
}

// virtual says that the name stands for other packages, so that there is nothing to install.
func (s state) virtual() bool { return s.found.Virtual() && !s.found.Installed() }

// Diff compares one package with its declaration.
func Diff(in guest.Input) *guest.Decision {
	s := state{in.Declared, read.Package{Value: in.Facts.Get("package")}, in.Facts.Get("order").Number()}
	if s.settled() {
		return nil
	}
	d := s.change()
	switch {
	case s.found.Held():
		d.Blocked = "the package is on hold (" + s.found.Status() + "); apt-mark unhold " + s.name() + " if it is to change"
		d.Reason = guest.Reason{Code: "held", Text: d.Reason.Text + "; the package is on hold"}
	case s.virtual():
		d.Reason = guest.Reason{Code: "virtual-package", Text: "no package has this name; it is provided by " + guest.Words(s.found.Providers())}
		d.Blocked = s.name() + " is a virtual package; declare one of " + guest.Words(s.found.Providers())
	default:
		s.foresee(d, in)
	}
	return d
}

func (s state) name() string { return s.declared.GetText("name") }

// change is the action, before anything speaks against it.
func (s state) change() *guest.Decision {
	version := s.found.Version()
	switch {
	case s.absent() && s.found.Half():
		return &guest.Decision{Verb: "remove", Params: guest.Record("from", version), Reason: half(s.found)}
	case s.absent():
		return &guest.Decision{Verb: "remove", Params: guest.Record("from", version),
			Reason: guest.Reason{Code: "installed", Text: "version " + version + " is installed, declared absent"}}
	case s.found.Half():
		params := s.wanted().WithText("from", version).With("downgrade", guest.Bool(s.order > 0))
		return &guest.Decision{Verb: "install", Params: params, Reason: half(s.found)}
	case !s.found.Installed():
		return &guest.Decision{Verb: "install", Params: s.wanted(), Reason: guest.Reason{Code: "not-installed", Text: "is not installed"}}
	}
	return &guest.Decision{
		Verb:   "upgrade",
		Params: guest.Record("from", version, "to", exact(s.declared)).With("downgrade", guest.Bool(s.order > 0)),
		Reason: guest.Reason{Code: "version-differs", Text: "version " + version + " is installed, declared " + exact(s.declared)},
	}
}

// wanted are the parameters that every installation has.
func (s state) wanted() guest.Value { return guest.Record("version", s.declared.GetText("version")) }

func half(p read.Package) guest.Reason {
	return guest.Reason{Code: "half-installed", Text: "dpkg left it half way: " + p.Status()}
}

// foresee adds what the simulation said to a decision.
func (s state) foresee(d *guest.Decision, in guest.Input) {
	if why := in.Facts.GetText("not_simulated"); why != "" {
		d.Note = "apt could not be asked what this would do: " + why
	}
	if in.Facts.Get("simulation").IsNull() {
		return
	}
	sim := read.Simulation{Value: in.Facts.Get("simulation")}
	if removes := s.others(sim.Removes()); len(removes) > 0 {
		s.takesAlong(d, removes, in.Inputs)
		return
	}
	switch why := sim.Reason(); {
	case sim.OK() || why.Code == "lists-missing":
		d.Note = s.along(sim)
		if why.Code == "lists-missing" {
			d.Note = "apt's package lists are missing or old; apply fetches them first"
		}
	case why.Code == "not-available":
		d.Needs = []guest.Need{{Kind: guest.NeedPackage, Name: s.name(), Text: why.Text}}
	default:
		d.Reason = guest.Reason{Code: why.Code, Text: d.Reason.Text + "; " + why.Text}
		d.Blocked = why.Text
	}
}

// takesAlong blocks a change that would remove other packages, unless this plan changes all of those by itself.
func (s state) takesAlong(d *guest.Decision, removes, changing []string) {
	for _, other := range removes {
		if slices.Contains(changing, "package:"+other) {
			continue
		}
		d.Reason = guest.Reason{Code: "would-remove", Text: d.Reason.Text + "; this would also remove " + guest.Words(removes)}
		d.Blocked = "this would also remove " + guest.Words(removes) + "; declare those absent as well, or keep this one"
		return
	}
	d.Note = "other items of this plan change what would be removed with it: " + guest.Words(removes)
}

// along names what changes with the package.
func (s state) along(sim read.Simulation) string {
	var note string
	for _, group := range []struct {
		word  string
		names []string
	}{
		{"also installs ", sim.Installs()},
		{"also upgrades ", sim.Upgrades()},
		{"also downgrades ", sim.Downgrades()},
	} {
		if names := s.others(group.names); len(names) > 0 {
			note = guest.Join(note, "; ", group.word+guest.Words(names))
		}
	}
	return note
}
