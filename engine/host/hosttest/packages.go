package hosttest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/dpkg"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

// Package is one version of a package as a repository offers it.
type Package struct {
	Name, Version string
	Depends       []string // names
	Conflicts     []string // names that go when it comes
	Provides      []string
	// Files are unpacked; each is root's, 0644. Conffiles stay when the package goes, and keep what a host made of them.
	Files     map[string]string
	Conffiles map[string]string
	Groups    []string // that its script adds to /etc/group
	Starts    []string // units that its script enables and starts
	// Breaks makes its script fail, every time: the package stays half configured.
	Breaks bool
}

// Packages is a package manager over a repository in memory. Unpacking a file, adding a group, starting a unit and
// changing dpkg's own status are effects of their own, so that a run can be cut between any two of them.
type Packages struct {
	Power *Power
	FS    *FS
	Units *Units // may be nil when no package starts one

	mu     sync.Mutex
	offers []Package
	has    map[string]*installed
}

// installed is dpkg's record of a package.
type installed struct {
	Package
	status string // third word
	held   bool
}

// NewPackages makes a package manager with nothing installed.
func NewPackages(power *Power, fs *FS, units *Units) *Packages {
	return &Packages{Power: power, FS: fs, Units: units, has: map[string]*installed{}}
}

// Offer adds packages to the repository.
func (p *Packages) Offer(packages ...Package) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offers = append(p.offers, packages...)
}

// Set makes a package installed, or with an empty version not known, as somebody else would; nothing else happens.
func (p *Packages) Set(name, version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.has, name)
	if version != "" {
		p.FS.AddFile("/var/lib/dpkg/info/"+name+".list", version+"\n", 0o644)
		p.has[name] = &installed{Package: Package{Name: name, Version: version}, status: "installed"}
	}
}

// Hold sets or lifts the hold of an installed package.
func (p *Packages) Hold(name string, held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.has[name].held = held
}

// State describes dpkg's database, for comparing hosts.
func (p *Packages) State() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := map[string]string{}
	for name, i := range p.has {
		s[name] = i.Version + " " + i.status
	}
	return s
}

// Forget does nothing: the model remembers no answers.
func (p *Packages) Forget() {}

// Compare orders versions.
func (p *Packages) Compare(a, b string) (int, error) { return dpkg.Compare(a, b) }

// Package tells of one package.
func (p *Packages) Package(_ context.Context, name string) (host.PackageState, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := host.PackageState{Providers: p.providers(name)}
	if i := p.has[name]; i != nil {
		want := "install"
		if i.held {
			want = "hold"
		} else if i.status == "config-files" {
			want = "deinstall"
		}
		s.Known, s.Installed, s.Version, s.Held, s.Architecture = true, i.status == "installed", i.Version, i.held, "all"
		s.Half, s.Status = i.half(), want+" ok "+i.status
	}
	s.Virtual = !s.Known && len(s.Providers) > 0
	return s, p.Power.On()
}

func (i *installed) half() bool { return i.status == "unpacked" || i.status == "half-configured" }

func (i *installed) there() bool { return i != nil && (i.status == "installed" || i.half()) }

func (p *Packages) providers(name string) []string {
	list := []string{}
	for _, i := range p.has {
		if i.there() && slices.Contains(i.Provides, name) {
			list = append(list, i.Name)
		}
	}
	slices.Sort(list)
	return list
}

// candidate gives the offer of a name in this version, or in the newest one when version is empty.
func (p *Packages) candidate(name, version string) *Package {
	var best *Package
	for i := range p.offers {
		o := &p.offers[i]
		if o.Name != name || version != "" && o.Version != version {
			continue
		}
		if best == nil || newer(o.Version, best.Version) {
			best = o
		}
	}
	return best
}

func newer(a, b string) bool { c, err := dpkg.Compare(a, b); return err == nil && c > 0 }

// Simulate plays a change through.
func (p *Packages) Simulate(_ context.Context, change host.PackageChange) (host.PackageSimulation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.Power.On(); err != nil {
		return host.PackageSimulation{}, err
	}
	s, _ := p.plan(change, nil)
	return s, nil
}

// plan gives what a change would do, and the packages that come, in order; leaving may go with it.
func (p *Packages) plan(change host.PackageChange, leaving []string) (host.PackageSimulation, []*Package) {
	s := host.PackageSimulation{Installs: []string{}, Upgrades: []string{}, Downgrades: []string{}, Removes: []string{}}
	var come []*Package
	if change.State == "absent" {
		s.Removes = p.dependents(change.Name, nil)
	} else if s.Reason = p.resolve(change.Name, change.Version, &come); s.Reason == nil {
		for _, c := range come {
			with := c.Name + "=" + c.Version
			switch i := p.has[c.Name]; {
			case !i.there() || i.Version == c.Version:
				s.Installs = append(s.Installs, with)
			case newer(i.Version, c.Version):
				s.Downgrades = append(s.Downgrades, with)
			default:
				s.Upgrades = append(s.Upgrades, with)
			}
			for _, other := range c.Conflicts {
				if p.has[other].there() {
					s.Removes = p.dependents(other, s.Removes)
				}
			}
		}
	}
	for _, list := range [][]string{s.Installs, s.Upgrades, s.Downgrades, s.Removes} {
		sort.Strings(list)
	}
	others := slices.DeleteFunc(slices.Clone(s.Removes), func(n string) bool {
		return change.State == "absent" && n == change.Name || slices.Contains(leaving, n)
	})
	changed := slices.Clone(s.Removes)
	for _, c := range come {
		changed = append(changed, c.Name)
	}
	for _, n := range changed {
		if i := p.has[n]; i.there() && i.held && s.Reason == nil {
			s.Reason = fault.New(fault.Held, "%s is held", n)
		}
	}
	if s.Reason == nil && len(others) > 0 {
		s.Reason = fault.New(fault.WouldRemove, "would also remove %s", strings.Join(others, ", "))
	}
	s.OK = s.Reason == nil
	return s, come
}

// resolve collects a package and what it needs, dependencies first.
func (p *Packages) resolve(name, version string, come *[]*Package) *fault.Error {
	if i := p.has[name]; i != nil && i.status == "installed" && (version == "" || version == i.Version) {
		return nil
	}
	c := p.candidate(name, version)
	if c == nil {
		for _, o := range p.offers {
			if version == "" && slices.Contains(o.Provides, name) {
				return fault.New(fault.Virtual, "%s is provided by %s", name, o.Name)
			}
		}
		return fault.New(fault.NotAvailable, "no repository offers %s %s", name, version)
	}
	if slices.Contains(*come, c) {
		return nil
	}
	for _, d := range c.Depends {
		if f := p.resolve(d, "", come); f != nil {
			return f
		}
	}
	*come = append(*come, c)
	return nil
}

// dependents adds a package and everything that depends on it.
func (p *Packages) dependents(name string, list []string) []string {
	if !p.has[name].there() || slices.Contains(list, name) {
		return append([]string{}, list...)
	}
	list = append(list, name)
	for _, other := range slices.Sorted(maps.Keys(p.has)) {
		if i := p.has[other]; i.there() && slices.Contains(i.Depends, name) {
			list = p.dependents(other, list)
		}
	}
	return list
}

// Install installs a package and what it needs.
func (p *Packages) Install(_ context.Context, name, version string, downgrade bool, leaving ...string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := []string{}
	s, come := p.plan(host.PackageChange{Name: name, Version: version, State: "present"}, leaving)
	if s.Reason != nil {
		return changed, s.Reason
	}
	if len(s.Downgrades) > 0 && !downgrade {
		return changed, fault.New(fault.Invalid, "%s would go down", strings.Join(s.Downgrades, ", "))
	}
	changed, err := p.takeAll(s.Removes)
	if err != nil {
		return changed, err
	}
	for _, c := range come {
		if err := p.put(c); err != nil {
			return changed, err
		}
		changed = append(changed, c.Name+"="+c.Version)
	}
	return changed, nil
}

// put unpacks and configures one package.
func (p *Packages) put(c *Package) error {
	held := p.has[c.Name] != nil && p.has[c.Name].held
	if err := p.status(&installed{*c, "unpacked", held}); err != nil {
		return err
	}
	tree := files.NewWriteTree(p.FS, 0)
	for _, f := range slices.Sorted(maps.Keys(c.Files)) {
		if err := place(tree, f, c.Files[f]); err != nil {
			return err
		}
	}
	for _, f := range slices.Sorted(maps.Keys(c.Conffiles)) {
		if _, there := p.FS.Content(f); there {
			continue
		}
		if err := place(tree, f, c.Conffiles[f]); err != nil {
			return err
		}
	}
	// dpkg's own list is what tells when a package was installed.
	if err := place(tree, "/var/lib/dpkg/info/"+c.Name+".list", c.Version+"\n"); err != nil {
		return err
	}
	if c.Breaks {
		if err := p.status(&installed{*c, "half-configured", held}); err != nil {
			return err
		}
		return fault.New(fault.Failed, "the post-installation script of %s failed", c.Name)
	}
	if err := p.script(tree, c); err != nil {
		return err
	}
	return p.status(&installed{*c, "installed", held})
}

// script is what a maintainer script does after the installation.
func (p *Packages) script(tree files.WriteTree, c *Package) error {
	for n, group := range c.Groups {
		groups, _ := p.FS.Content("/etc/group")
		if strings.Contains("\n"+groups, "\n"+group+":") {
			continue
		}
		if err := place(tree, "/etc/group", fmt.Sprintf("%s%s:x:%d:\n", groups, group, 900+n)); err != nil {
			return err
		}
	}
	if len(c.Starts) == 0 {
		return nil
	}
	ctx := context.Background()
	if err := p.Units.Reload(ctx); err != nil {
		return err
	}
	for _, unit := range c.Starts {
		if _, err := p.Units.EnableFile(ctx, unit); err != nil {
			return err
		}
		if _, err := p.Units.Job(ctx, "restart", unit); err != nil {
			return err
		}
	}
	return nil
}

// status changes dpkg's database, which is durable at once.
func (p *Packages) status(i *installed) error {
	if err := p.Power.Effect(); err != nil {
		return err
	}
	p.has[i.Name] = i
	return nil
}

// place writes a file of root's and makes the directories that are missing.
func place(tree files.WriteTree, p, content string) error {
	if err := parents(tree, path.Dir(p)); err != nil {
		return err
	}
	return tree.Replace(p, []byte(content), files.Owner{Mode: 0o644})
}

func parents(tree files.WriteTree, p string) error {
	s, err := tree.Stat(p)
	switch {
	case err != nil:
		return err
	case s.Exists && s.Mode == 0o700 && strings.HasPrefix(p, "/usr/"):
		return tree.Chmod(p, 0o755, "directory") // made by an unpacking that was cut short
	case s.Exists:
		return nil
	}
	if err := parents(tree, path.Dir(p)); err != nil {
		return err
	}
	return tree.MakeDirectory(p, files.Owner{Mode: 0o755})
}

// Remove takes a package out and leaves its configuration files. A unit of it that runs goes on running, as after a
// package whose scripts do not stop it.
func (p *Packages) Remove(_ context.Context, name string, leaving ...string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.has[name].there() {
		return []string{}, nil
	}
	s, _ := p.plan(host.PackageChange{Name: name, State: "absent"}, leaving)
	if s.Reason != nil {
		return []string{}, s.Reason
	}
	return p.takeAll(p.dependents(name, nil))
}

// takeAll removes packages, those that need others first.
func (p *Packages) takeAll(names []string) ([]string, error) {
	changed := []string{}
	for _, name := range slices.Backward(names) {
		if err := p.take(name); err != nil {
			return changed, err
		}
		changed = append(changed, name+"-")
	}
	return changed, nil
}

// take removes one package.
func (p *Packages) take(name string) error {
	i := p.has[name]
	tree := files.NewWriteTree(p.FS, 0)
	for _, f := range append(slices.Sorted(maps.Keys(i.Files)), "/var/lib/dpkg/info/"+name+".list") {
		if err := tree.Remove(f); err != nil && !errors.Is(err, ErrCut) {
			continue // somebody else took it or its directory away
		} else if err != nil {
			return err
		}
	}
	if err := p.Power.Effect(); err != nil {
		return err
	}
	if len(i.Conffiles) > 0 {
		i.status = "config-files"
	} else {
		delete(p.has, name)
	}
	return nil
}
