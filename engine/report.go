package engine

import (
	"fmt"
	"time"

	"gyrum.ai/engine/drift"
)

// assemble makes the report of a look.
func (p *plan) assemble(id string, started time.Time) error {
	o := p.options
	p.foretell()
	if o.Speculate {
		p.speculate()
	}
	items := []drift.Item{}
	for _, f := range p.order {
		items = append(items, p.itemOf(f))
	}
	types := typesOf(p.resources)
	report := &drift.Report{
		RunID: id, Host: o.Target.Host, StartedAt: stamp(started), DryRun: true,
		Catalog: o.Target.Catalog, Plugins: []drift.Plugin{}, Items: items, Interrupted: p.standing.Interrupted,
	}
	for _, typ := range types {
		report.Plugins = append(report.Plugins, drift.Plugin{Type: typ, Digest: o.module(typ).Observe})
	}
	if p.standing.Unknown != nil {
		report.NoPlanHash = fmt.Sprintf("no plan hash: %v; run as root, or name a state folder that you may read with --state-dir", p.standing.Unknown)
	} else {
		hash, err := p.hash(types, items)
		if err != nil {
			return fmt.Errorf("plan hash: %w", err)
		}
		report.PlanHash = hash
	}
	report.Count(len(p.resources))
	report.FinishedAt = stamp(o.finish(started))
	p.report = report
	return nil
}

// itemOf gives the finding as a report has it, with what earlier runs left to say about the resource.
func (p *plan) itemOf(f *finding) drift.Item {
	it := f.item(p.options.Target.Host)
	for _, cut := range p.standing.Interrupted {
		if cut.Resource != it.Resource.ID {
			continue
		}
		it.Note = joinNotes(it.Note, fmt.Sprintf("run %s was cut off during %s here, and nobody knows how far it came", cut.RunID, cut.Verb))
		if !it.Idempotent {
			it.Note += "; the command runs again"
		}
	}
	return it
}

// foretell notes on every action that an apply would hold back, so that it is known before anything runs.
func (p *plan) foretell() {
	stuck := map[string]string{} // role to the item that holds it back
	for _, f := range p.order {
		role := f.resource.Role
		if !f.acts() {
			if stuck[role] == "" && f.item("").Severity == drift.SeverityError {
				stuck[role] = f.resource.ID
			}
			continue
		}
		for _, name := range append([]string{role}, p.options.Target.required(role)...) {
			if by := stuck[name]; by != "" {
				f.note, f.heldBy = joinNotes(f.note, "an apply would hold this back: "+by+" cannot be brought about"), by
				break
			}
		}
	}
}
