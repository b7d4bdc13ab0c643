package main

import (
	"fmt"
	"os"
	"slices"

	"gyrum.ai/cmd/gyrum/internal/suggest"
	"gyrum.ai/engine"
	"gyrum.ai/engine/confine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/resource"
	"gyrum.ai/plugins"
)

// session is what a check or an apply works with: one host's part of an opened catalog, the plugins, and what is looked at.
type session struct {
	catalog *manifest.Catalog
	target  engine.Target
	store   *plugin.Store
	// looking is the real host, or the tape of one.
	looking  *looking
	stateDir string
}

// openConfined is open for a verb that only looks: from the moment when the plugins and their cache folder are there,
// the process writes below that folder and the named ones only, which must exist.
func (p *program) openConfined(folders ...string) (*session, error) {
	return p.openWith(p.confining(folders...))
}

// confining confines the process once it is called.
func (p *program) confining(folders ...string) func(*plugin.Store) {
	return func(store *plugin.Store) {
		if dir := store.Cache(); dir != "" {
			folders = append([]string{dir}, folders...)
		}
		status := confine.Reading(folders...)
		os.Setenv("TMPDIR", status.Temp)
		if p.flags.verbose {
			p.say("%s", status)
		}
	}
}

// open reads what the host uses of the catalog. A catalog that cannot be used is said, finding by finding, and ends
// with exit code 1.
func (p *program) open() (*session, error) { return p.openWith(func(*plugin.Store) {}) }

// openWith calls ready before the first manifest is read and before the host is looked at.
func (p *program) openWith(ready func(*plugin.Store)) (*session, error) {
	name, err := p.hostName()
	if err != nil {
		return nil, err
	}
	store, err := p.store()
	if err != nil {
		return nil, err
	}
	s, err := p.openHost(store, p.flags.catalog, name, ready)
	if err != nil {
		store.Close()
		return nil, err
	}
	s.looking = s.look()
	return s, nil
}

// openHost opens a catalog for one host. Nothing is looked at yet.
func (p *program) openHost(store *plugin.Store, root, name string, ready func(*plugin.Store)) (*session, error) {
	stateDir, err := p.stateDir()
	if err != nil {
		return nil, err
	}
	catalog, err := manifest.Open(root)
	if err != nil {
		return nil, err
	}
	types, err := adopt(store, catalog)
	if err != nil {
		catalog.Close()
		return nil, err
	}
	defer types.Close()
	ready(store)
	catalog.Reserve(stateDir, p.cacheDir())
	plan, findings := catalog.Host(name)
	if plan != nil {
		if refused := locked(types, store, typesOf(plan.Resources)); len(refused) > 0 {
			plan, findings = nil, append(findings, refused...)
		}
	}
	errs, err := p.complain(findings)
	if err == nil && plan == nil {
		err = &exit{engine.ExitError, fmt.Errorf("%s in what host %s uses of the catalog %s; nothing was looked at",
			plural(errs, "mistake"), name, root)}
	}
	if err != nil {
		catalog.Close()
		return nil, err
	}
	return &session{catalog: catalog, target: targetOf(plan), store: store, stateDir: stateDir}, nil
}

func (s *session) close() {
	s.looking.close()
	s.store.Close()
	s.catalog.Close()
}

// store opens the plugins that the program was built with.
func (p *program) store() (*plugin.Store, error) {
	return plugin.NewStore(plugins.Modules(), plugin.CacheConfig{Dir: p.cacheDir()}, func(line string) {
		if p.flags.verbose {
			p.say("%s", line)
		}
	}, plugin.ProgramsOwn())
}

func targetOf(plan *manifest.HostPlan) engine.Target {
	t := engine.Target{
		Host:      plan.Host,
		Catalog:   drift.Catalog{Digest: plan.Digest, Revision: plan.Revision, BehindUpstream: plan.BehindUpstream},
		Resources: plan.Resources,
	}
	for _, r := range plan.Roles {
		t.Roles = append(t.Roles, engine.Role{Name: r.Name, Requires: r.Requires})
	}
	return t
}

// typesOf lists the types of resources.
func typesOf(resources []resource.Resource) []string {
	var out []string
	for _, r := range resources {
		if !slices.Contains(out, r.Type) {
			out = append(out, r.Type)
		}
	}
	return out
}

// modules lists the modules of the declared types. A type without a plugin is left out: the engine names the resource.
func (s *session) modules() []engine.Module {
	var out []engine.Module
	for _, typ := range typesOf(s.target.Resources) {
		if info, err := s.store.Info(typ); err == nil {
			out = append(out, engine.Module{Type: typ, Observe: info.Observe, Apply: info.Apply})
		}
	}
	return out
}

// resource finds a declared resource.
func (s *session) resource(id string) (resource.Resource, bool) {
	i := slices.IndexFunc(s.target.Resources, func(r resource.Resource) bool { return r.ID == id })
	if i < 0 {
		return resource.Resource{}, false
	}
	return s.target.Resources[i], true
}

// declared gives an item for each declared resource, for aligning what will be printed one by one.
func (s *session) declared() []drift.Item {
	out := make([]drift.Item, 0, len(s.target.Resources))
	for _, r := range s.target.Resources {
		out = append(out, drift.Item{Resource: drift.ResourceRef{Type: r.Type, ID: r.ID}})
	}
	return out
}

// inSync lists the selected resources that have no item.
func (s *session) inSync(sel *selectionFlags, report *drift.Report) []drift.ResourceRef {
	var out []drift.ResourceRef
	for _, r := range s.target.Resources {
		in := func(terms []string) bool {
			return slices.Contains(terms, r.Role) || slices.Contains(terms, r.Type) || slices.Contains(terms, r.ID)
		}
		if len(sel.only) > 0 && !in(sel.only) || in(sel.skip) {
			continue
		}
		if !slices.ContainsFunc(report.Items, func(it drift.Item) bool { return it.Resource.ID == r.ID }) {
			out = append(out, drift.ResourceRef{Type: r.Type, ID: r.ID})
		}
	}
	return out
}

// selectionHint adds what was probably meant to the error for a selection that names nothing.
func (p *program) selectionHint(err error, t engine.Target, sel *selectionFlags) error {
	if engine.ErrorCode(err) != engine.ExitUsage {
		return err
	}
	var known []string
	for _, r := range t.Roles {
		known = append(known, r.Name)
	}
	for _, r := range t.Resources {
		known = append(known, r.Type, r.ID)
	}
	for _, term := range slices.Concat(sel.only, sel.skip) {
		if !slices.Contains(known, term) {
			if n := suggest.Nearest(term, known); n != "" {
				return fmt.Errorf("%w; did you mean %s?", err, n)
			}
		}
	}
	return err
}
