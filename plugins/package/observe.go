// Package pkg is the resource type package: a Debian package by dpkg and apt. It changes what the resource names and
// what that needs, and nothing that anyone holds.
package pkg

import (
	"strings"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

// Observe asks dpkg for one package, and apt what a change would do where one is due.
func Observe(h read.Host, declared guest.Value) guest.Observation {
	name := declared.GetText("name")
	p, err := h.Package(name)
	if err != nil {
		return guest.Unseen(err)
	}
	facts := guest.Object().With("package", p.Value)
	if want := exact(declared); want != "" && (p.Installed() || p.Half()) && p.Version() != want {
		order, err := h.PackageCompare(p.Version(), want)
		if err != nil {
			return guest.Unseen(err)
		}
		facts = facts.With("order", guest.Int(order))
	}
	o := guest.Observation{Observed: record(p), Facts: facts}
	s := state{declared, p, facts.Get("order").Number()}
	if s.settled() || s.virtual() || p.Half() || p.Held() {
		return o
	}
	return simulate(h, s, o)
}

// record is null for a package of which at most configuration files are left.
func record(p read.Package) guest.Value {
	if !p.Known() || !p.Installed() && !p.Half() {
		return guest.Null
	}
	return guest.Record("version", p.Version(), "status", p.Status(), "architecture", p.Architecture()).
		With("installed", guest.Bool(p.Installed())).With("held", guest.Bool(p.Held()))
}

// simulate adds what apt would do. That apt cannot say is no reason not to try: its lists may only be missing.
func simulate(h read.Host, s state, o guest.Observation) guest.Observation {
	sim, err := h.PackageSimulate(s.name(), exact(s.declared), s.declared.GetText("state"))
	if err != nil {
		o.Facts = o.Facts.WithText("not_simulated", err.Text)
		return o
	}
	o.Facts = o.Facts.With("simulation", sim.Value)
	for _, other := range s.others(sim.Removes()) {
		o.Inputs = append(o.Inputs, "package:"+other)
	}
	return o
}

// exact is the one version that is declared, "" when any will do.
func exact(declared guest.Value) string {
	if version := declared.GetText("version"); version != "present" {
		return version
	}
	return ""
}

// others are those of a list, name or name=version, that are not the declared package. apt names an architecture only
// where it is a foreign one: beside libc6:i386 a libc6 is another package, alone it is the one that was asked for.
func (s state) others(names []string) []string {
	base, _, _ := strings.Cut(s.name(), ":")
	own := base
	for _, name := range names {
		bare, _, _ := strings.Cut(name, "=")
		// One that comes in a foreign architecture only is the one that was asked for, unless its own is in the list.
		foreign := s.found.Architecture() == "" && own == base && strings.HasPrefix(bare, s.name()+":")
		if bare == s.name() || bare == base+":"+s.found.Architecture() || foreign {
			own = bare
		}
	}
	var list []string
	for _, name := range names {
		if bare, _, _ := strings.Cut(name, "="); bare != own {
			list = append(list, name)
		}
	}
	return list
}
