package dpkg

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

// Install installs name, in exactly this version when one is given; only with downgrade may name itself go down. The
// transaction is simulated just before: one that would remove what is not in leaving, downgrade or change a held package is
// refused. The
// package lists are fetched first where they do not know the package or the version, or are older than the host's
// sources, once in a run. Changed configuration files stay as the host has them.
//
// changed lists what dpkg's database shows to have changed, also after a failure: name=version, or name- when it went.
func (m *Manager) Install(ctx context.Context, name, version string, downgrade bool, leaving ...string) (changed []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.around(ctx, func() error {
		e, _, err := m.find(ctx, name)
		if err != nil {
			return err
		}
		if interrupted() {
			if err := m.configure(ctx); err != nil {
				return err
			}
			m.forget()
		}
		if e != nil && e.installed() && version != "" && older(version, e.version) && !downgrade {
			return fault.New(fault.Invalid, "%s is installed in version %s; going down to %s was not asked for", name, e.version, version)
		}
		var fetch error // a repository that cannot be reached stops nothing that the others offer
		if sourcesChanged() && !m.refreshed {
			fetch = m.refresh(ctx)
		}
		for {
			again, err := m.install(ctx, name, version, downgrade, leaving)
			switch {
			case err == nil:
				return nil
			case again && !m.refreshed:
				fetch = m.refresh(ctx)
			case fetch != nil:
				return fault.New(fault.Of(err).Code, "%w; %v", err, fetch)
			default:
				return err
			}
		}
	})
}

// install is one try; again says that fresh package lists may help.
func (m *Manager) install(ctx context.Context, name, version string, downgrade bool, leaving []string) (again bool, err error) {
	s, err := m.simulate(ctx, host.PackageChange{Name: name, Version: version, State: "present"}, leaving)
	if err != nil {
		return false, err
	}
	if s.Reason != nil {
		return s.Reason.Code == fault.NotAvailable || s.Reason.Code == ListsMissing || s.Reason.Code == fault.Virtual, s.Reason
	}
	e, _, err := m.find(ctx, name)
	if err != nil {
		return false, err
	}
	args := append([]string{"apt-get"}, aptOptions(unattended, m.lockOptions())...)
	if downgrade {
		args = append(args, "--allow-downgrades")
	}
	if e != nil && e.torn() {
		args = append(args, "--reinstall")
	}
	a, err := m.change(ctx, append(args, "install", "--", target(name, version))...)
	m.forget()
	if err != nil {
		return false, err
	}
	if a.exit != 0 {
		stale := strings.Contains(a.err, "Failed to fetch") || strings.Contains(a.err, "Unable to fetch")
		return stale, fault.New(fault.Failed, "apt-get could not install %s: %s", target(name, version), failure(a.err))
	}
	e, _, err = m.find(ctx, name)
	switch {
	case err != nil:
		return false, err
	case e == nil || !e.installed() || e.half():
		return false, fault.New(fault.Failed, "apt-get said it installed %s, but dpkg does not have it installed", name)
	case version != "" && !sameVersion(e.version, version):
		return false, fault.New(fault.Failed, "apt-get said it installed %s, but dpkg has version %s", target(name, version), e.version)
	}
	return false, nil
}

// Remove removes name and keeps its configuration files, as apt-get remove does. A transaction that would remove
// what is not in leaving either is refused. changed is as for Install.
func (m *Manager) Remove(ctx context.Context, name string, leaving ...string) (changed []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.around(ctx, func() error {
		if interrupted() {
			if err := m.configure(ctx); err != nil {
				return err
			}
			m.forget()
		}
		e, _, err := m.find(ctx, name)
		if err != nil || e == nil || !e.installed() && !e.half() {
			return err
		}
		s, err := m.simulate(ctx, host.PackageChange{Name: name, State: "absent"}, leaving)
		if err != nil {
			return err
		}
		if s.Reason != nil {
			return s.Reason
		}
		args := append([]string{"apt-get"}, aptOptions(unattended, m.lockOptions())...)
		args = append(args, "remove", "--", e.full())
		if e.flag == "reinstreq" {
			// apt wants to complete such a package before it does anything else; dpkg can drop it.
			args = []string{"dpkg", "--remove", "--force-remove-reinstreq", "--", e.full()}
		}
		a, err := m.change(ctx, args...)
		m.forget()
		if err != nil {
			return err
		}
		if a.exit != 0 {
			return fault.New(fault.Failed, "%s could not remove %s: %s", args[0], name, failure(a.err))
		}
		e, _, err = m.find(ctx, name)
		if err == nil && e != nil && (e.installed() || e.half()) {
			err = fault.New(fault.Failed, "%s said it removed %s, but dpkg still has it: %s", args[0], name, e.words())
		}
		return err
	})
}

// around runs a change between two looks at the database and tells the difference.
func (m *Manager) around(ctx context.Context, change func() error) ([]string, error) {
	m.forget()
	before, err := m.database(ctx)
	if err != nil {
		return nil, err
	}
	err = change()
	m.forget()
	after, aerr := m.database(ctx)
	if aerr != nil {
		if err == nil {
			err = aerr
		}
		return nil, err
	}
	return difference(before, after), err
}

// difference lists the packages that were put in, changed or taken out, sorted.
func difference(before, after *database) []string {
	versions := func(db *database) map[string]string {
		v := map[string]string{}
		for name, es := range db.byName {
			for _, e := range es {
				if !e.installed() && !e.half() {
					continue
				}
				key := name
				if len(es) > 1 && e.arch != "all" {
					key = e.full()
				}
				v[key] = e.version
			}
		}
		return v
	}
	old, now := versions(before), versions(after)
	changed := []string{}
	for name, v := range now {
		if old[name] != v {
			changed = append(changed, name+"="+v)
		}
	}
	for name := range old {
		if _, still := now[name]; !still {
			changed = append(changed, name+"-")
		}
	}
	slices.Sort(changed)
	return changed
}

// interrupted says whether dpkg was cut short: it keeps the changes of an unfinished run in updates/.
func interrupted() bool {
	names, err := os.ReadDir(filepath.Join(adminDir(), "updates"))
	if err != nil {
		return false
	}
	for _, n := range names {
		if strings.Trim(n.Name(), "0123456789") == "" {
			return true
		}
	}
	return false
}

// configure completes what dpkg was cut short in; apt refuses to work before that.
func (m *Manager) configure(ctx context.Context) error {
	a, err := m.change(ctx, "dpkg", "--force-confdef", "--force-confold", "--configure", "-a")
	if err != nil {
		return err
	}
	if interrupted() {
		return fault.New(fault.Failed, "dpkg was interrupted earlier and dpkg --configure -a does not complete it: %s", lastLines(a.err))
	}
	return nil
}

// lockOptions bounds apt's own wait for dpkg's locks.
func (m *Manager) lockOptions() []string {
	return []string{"-o", "DPkg::Lock::Timeout=" + seconds(m.lockTimeout())}
}
