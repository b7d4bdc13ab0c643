// Package pkg is the resource type package: a Debian package by dpkg and apt. It changes what the resource names and
// what that needs, and nothing that anyone holds.
package pkg

import (
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
	return simulate(h, declared, o)
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
func simulate(h read.Host, declared guest.Value, o guest.Observation) guest.Observation {
	s, err := h.PackageSimulate(declared.GetText("name"), exact(declared), declared.GetText("state"))
	if err != nil {
		o.Facts = o.Facts.WithText("not_simulated", err.Text)
		return o
	}
	o.Facts = o.Facts.With("simulation", s.Value)
	for _, other := range others(declared, s.Removes()) {
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

// others are the packages of a list that are not the declared one.
func others(declared guest.Value, names []string) []string {
	var list []string
	for _, name := range names {
		if base(name) != base(declared.GetText("name")) {
			list = append(list, name)
		}
	}
	return list
}

// base is a package's name without its version and its architecture.
func base(name string) string {
	for i := range len(name) {
		if name[i] == '=' || name[i] == ':' {
			return name[:i]
		}
	}
	return name
}
