package dpkg

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

// Simulate plays a change through with apt-get -s. The answer's lists are sorted; Reason says why the change would not
// go through: not-available, lists-missing, virtual, held, would-remove or broken.
func (m *Manager) Simulate(ctx context.Context, change host.PackageChange) (host.PackageSimulation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.simulated[change]; ok {
		return s, nil
	}
	s, err := m.simulate(ctx, change, nil)
	if err != nil {
		return s, err
	}
	if m.simulated == nil {
		m.simulated = map[host.PackageChange]host.PackageSimulation{}
	}
	m.simulated[change] = s
	return s, nil
}

// simulate plays a change through; leaving are other packages that may go with it.
func (m *Manager) simulate(ctx context.Context, change host.PackageChange, leaving []string) (host.PackageSimulation, error) {
	var s host.PackageSimulation
	var err error
	switch change.State {
	case "present":
		s, err = m.simulateInstall(ctx, change.Name, change.Version, leaving)
	case "absent":
		s, err = m.simulateRemove(ctx, change.Name, leaving)
	default:
		err = fault.New(fault.Invalid, "a package is present or absent, not %q", change.State)
	}
	s.OK = err == nil && s.Reason == nil
	return s, err
}

func (m *Manager) simulateInstall(ctx context.Context, name, version string, leaving []string) (host.PackageSimulation, error) {
	e, db, err := m.find(ctx, name)
	if err != nil {
		return host.PackageSimulation{}, err
	}
	if version != "" {
		if _, err := parseVersion(version); err != nil {
			return host.PackageSimulation{}, err
		}
	}
	if e != nil && e.installed() && !e.half() && (version == "" || sameVersion(version, e.version)) {
		return empty(), nil
	}
	args := []string{"apt-get", "-s"}
	args = append(args, aptOptions(readOnly)...)
	if e != nil && e.torn() {
		args = append(args, "--reinstall")
	}
	a, err := run(ctx, true, append(args, "install", "--", target(name, version))...)
	if err != nil {
		return empty(), err
	}
	sim, t := classify(a.out, db)
	if a.exit == 0 && (t.installs(name) || e != nil && e.half()) {
		judge(&sim, t, db, e, name, leaving)
		return sim, nil
	}
	// apt took the name for a pattern or for the name of a feature, or it does not know the version.
	reason, err := m.whyNot(ctx, name, version, a)
	if err != nil {
		return empty(), err
	}
	none := empty()
	none.Reason = reason
	return none, nil
}

func (m *Manager) simulateRemove(ctx context.Context, name string, leaving []string) (host.PackageSimulation, error) {
	e, db, err := m.find(ctx, name)
	if err != nil || e == nil || !e.installed() && !e.half() {
		return empty(), err
	}
	if e.essential {
		s := empty()
		s.Reason = fault.New(fault.WouldRemove, "%s is essential to the system; neither apt nor gyrum removes it", e.name)
		return s, nil
	}
	args := append([]string{"apt-get", "-s"}, aptOptions(readOnly)...)
	a, err := run(ctx, true, append(args, "remove", "--", e.full())...)
	if err != nil {
		return empty(), err
	}
	sim, t := classify(a.out, db)
	if a.exit != 0 {
		sim = empty()
		if e.flag == "reinstreq" && strings.Contains(a.err, "needs to be reinstalled") {
			sim.Removes = []string{e.name} // dpkg removes it, apt does not
			return sim, nil
		}
		sim.Reason = fault.New(fault.WouldRemove, "apt refuses to remove %s, other packages need it: %s", e.name, broken(a))
		return sim, nil
	}
	judge(&sim, t, db, e, name, leaving)
	return sim, nil
}

// judge sets the reason of a transaction that apt would go through with and gyrum does not. The packages in leaving may go.
func judge(s *host.PackageSimulation, t transaction, db *database, e *entry, name string, leaving []string) {
	base, _, _ := strings.Cut(name, ":")
	removing := !t.installs(name)
	others := slices.DeleteFunc(slices.Clone(s.Removes), func(n string) bool {
		return removing && e != nil && (n == base || n == e.full()) || slices.Contains(leaving, n)
	})
	var held []string
	for _, step := range t {
		if old := step.installed(db); old != nil && old.held() {
			held = append(held, old.name)
		}
	}
	slices.Sort(held)
	held = slices.Compact(held)
	downgrades := slices.DeleteFunc(slices.Clone(s.Downgrades), func(n string) bool {
		p, _, _ := strings.Cut(n, "=")
		return p == base || e != nil && p == e.full()
	})
	verb := "installing"
	if removing {
		verb = "removing"
	}
	switch {
	case len(held) > 0:
		s.Reason = fault.New(fault.Held, "%s %s would change %s, which is held; release it with apt-mark unhold", verb, name, list(held))
	case len(others) > 0:
		s.Reason = fault.New(fault.WouldRemove, "%s %s would also remove %s", verb, name, list(others))
	case len(downgrades) > 0:
		s.Reason = fault.New(Broken, "%s %s would also downgrade %s, and no exact version asks for that", verb, name, list(downgrades))
	}
}

// whyNot finds the reason why apt installs no package of this name and version.
func (m *Manager) whyNot(ctx context.Context, name, version string, a answer) (*fault.Error, error) {
	base, _, _ := strings.Cut(name, ":")
	args := append([]string{"apt-cache"}, readOnly...)
	if d := aptOptions(); len(d) > len(plain) {
		args = append(args, d[len(plain):]...)
	}
	c, err := run(ctx, true, append(args, "showpkg", "--", name)...)
	if err != nil {
		return nil, err
	}
	known := parseShowpkg(c.out, base)
	switch {
	case version != "" && slices.Contains(known.versions, version), version == "" && len(known.available) > 0:
		if a.exit == 0 {
			return fault.New(Broken, "apt would leave %s as it is", name), nil
		}
		if strings.Contains(a.err, "has no installation candidate") {
			return fault.New(Broken, "apt's preferences keep every version of %s out; apt-cache policy %s shows which, and an exact version passes them by", name, name), nil
		}
		db, err := m.database(ctx)
		if err != nil {
			return nil, err
		}
		if held := heldNeeds(a.out, db); len(held) > 0 {
			return fault.New(fault.Held, "apt cannot install %s: %s; %s is held, release it with apt-mark unhold", target(name, version), broken(a), list(held)), nil
		}
		return fault.New(Broken, "apt cannot install %s: %s", target(name, version), broken(a)), nil
	case !haveLists():
		return fault.New(ListsMissing, "no package list was fetched on this host yet, so nothing is known of %s", target(name, version)), nil
	case sourcesChanged() && !m.refreshed:
		return fault.New(ListsMissing, "the package lists are older than this host's sources, and nothing is known of %s yet", target(name, version)), nil
	case len(known.versions) == 0 && len(known.providers) > 0:
		return fault.New(fault.Virtual, "%s is no package but a name that others provide; write one of them: %s", name, list(known.providers)), nil
	case len(known.versions) > 0 && version != "":
		return fault.New(fault.NotAvailable, "version %s of %s is not available here; there is %s", version, name, list(known.versions)), nil
	}
	return fault.New(fault.NotAvailable, "no repository of this host offers a package named %s", name), nil
}

// classify reads apt's steps into a simulation.
func classify(out string, db *database) (host.PackageSimulation, transaction) {
	s, t := empty(), parseSteps(out)
	for _, step := range t {
		with := step.name + "=" + step.version
		switch old := step.installed(db); {
		case step.remove:
			s.Removes = append(s.Removes, step.name)
		case step.old == "" || old == nil:
			s.Installs = append(s.Installs, with)
		case older(step.version, step.old):
			s.Downgrades = append(s.Downgrades, with)
		case sameVersion(step.version, step.old):
			s.Installs = append(s.Installs, with) // anew
		default:
			s.Upgrades = append(s.Upgrades, with)
		}
	}
	for _, l := range []*[]string{&s.Installs, &s.Upgrades, &s.Downgrades, &s.Removes} {
		slices.Sort(*l)
	}
	return s, t
}

// empty is the simulation of a change that changes nothing.
func empty() host.PackageSimulation {
	return host.PackageSimulation{Installs: []string{}, Upgrades: []string{}, Downgrades: []string{}, Removes: []string{}}
}

// target is the argument that apt takes for exactly this package in exactly this version.
func target(name, version string) string {
	if version == "" {
		return name
	}
	return name + "=" + version
}

func sameVersion(a, b string) bool { c, err := Compare(a, b); return err == nil && c == 0 }
func older(a, b string) bool       { c, err := Compare(a, b); return err == nil && c < 0 }

// list prints a few names.
func list(names []string) string {
	if len(names) > 10 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:10], ", "), len(names)-10)
	}
	return strings.Join(names, ", ")
}
