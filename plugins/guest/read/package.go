package read

import "gyrum.ai/plugins/guest"

// Package is what dpkg knows of a package.
type Package struct{ guest.Value }

// Known says that dpkg has a record of the name.
func (p Package) Known() bool { return p.Get("known").True() }

// Installed says that the package is installed and whole.
func (p Package) Installed() bool { return p.Get("installed").True() }

// Half says that dpkg left the package between two states.
func (p Package) Half() bool { return p.Get("half").True() }

// Held says that the package is on hold.
func (p Package) Held() bool { return p.Get("held").True() }

// Version is the installed version, or the one that a half state is about.
func (p Package) Version() string { return p.GetText("version") }

// Status is dpkg's three words.
func (p Package) Status() string { return p.GetText("status") }

// Architecture is Debian's name of the architecture.
func (p Package) Architecture() string { return p.GetText("architecture") }

// Virtual says that no real package has the name but others provide it.
func (p Package) Virtual() bool { return p.Get("virtual").True() }

// Providers are the packages that provide the name.
func (p Package) Providers() []string { return p.Get("providers").Texts() }

// Simulation is what a change would do.
type Simulation struct{ guest.Value }

// OK says that the change would go through.
func (s Simulation) OK() bool { return s.Get("ok").True() }

// Installs, Upgrades and Downgrades are name=version, the asked package among them.
func (s Simulation) Installs() []string { return s.Get("installs").Texts() }

// Upgrades is like Installs.
func (s Simulation) Upgrades() []string { return s.Get("upgrades").Texts() }

// Downgrades is like Installs.
func (s Simulation) Downgrades() []string { return s.Get("downgrades").Texts() }

// Removes are names.
func (s Simulation) Removes() []string { return s.Get("removes").Texts() }

// Reason says why the change would not go through: not-available, virtual, held, would-remove, broken or lists-missing.
func (s Simulation) Reason() guest.Reason {
	r := s.Get("reason")
	return guest.Reason{Code: r.GetText("code"), Text: r.GetText("text")}
}
