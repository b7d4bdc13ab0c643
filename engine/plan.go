package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/resource"
)

// The reasons that the engine itself gives.
const (
	// ReasonPluginFailed is the reason of an item whose plugin gave no usable answer.
	ReasonPluginFailed = "plugin-failed"
	// ReasonOnePath is the reason of an item that is in sync but owns a path that another resource owns too.
	ReasonOnePath = "one-path"
)

// plan is one look at the host and what follows from it.
type plan struct {
	options   *CheckOptions
	plugins   Observer
	standing  Standing
	resources []resource.Resource
	// findings stand in the order of resources.
	findings []*finding
	// order holds the findings that are items, in the order of execution.
	order  []*finding
	report *drift.Report
}

// finding is what one look found of one resource.
type finding struct {
	at       int // position among the resources
	resource resource.Resource
	touches  touches
	obs      drift.Observation
	decision *drift.Decision // nil when in sync or not observable
	seen     time.Time
	// blocked and note are what the engine adds to the decision when it settles its needs.
	blocked, note string
	// heldBy is the item because of which an apply would not begin this one.
	heldBy string
	// clash says which other resource owns the same path by another name.
	clash string
	// derived says that the item is there, or is as it is, because of what other items will change.
	derived bool
	// follows are the findings that must be dealt with first although another role may hold them.
	follows []*finding
	// behind are the findings whose actions come before this one's, wherever the resources stand.
	behind []*finding
}

// acts says whether an apply will execute the finding's action.
func (f *finding) acts() bool {
	d := f.decision
	return d != nil && f.obs.Unobservable == nil && f.clash == "" && f.blocked == "" && d.Blocked == "" && d.Severity != drift.SeverityError && d.Verb != drift.Noop
}

// observe asks for the state of every resource and for what follows from it, each type on its own.
func (p *plan) observe(ctx context.Context, types []string) {
	p.findings = make([]*finding, len(p.resources))
	byType := map[string][]*finding{}
	for i, r := range p.resources {
		f := &finding{at: i, resource: r, touches: touchesOf(r)}
		p.findings[i] = f
		byType[r.Type] = append(byType[r.Type], f)
	}
	var group sync.WaitGroup
	for _, typ := range types {
		group.Go(func() {
			observeBatch(ctx, p.plugins, typ, byType[typ])
			seen := stamp(p.options.now())
			for _, f := range byType[typ] {
				f.seen = seen
			}
			diffBatch(ctx, p.plugins, typ, byType[typ], nil)
		})
	}
	group.Wait()
}

// observeBatch fills in what the resources of one type are like.
func observeBatch(ctx context.Context, plugins Observer, typ string, fs []*finding) {
	rs := make([]resource.Resource, len(fs))
	for i, f := range fs {
		rs[i] = f.resource
	}
	seen, err := plugins.Observe(ctx, typ, rs)
	if err == nil && len(seen) != len(fs) {
		err = fmt.Errorf("it answered for %d of %d resources", len(seen), len(fs))
	}
	for i, f := range fs {
		if err != nil {
			f.obs = drift.Observation{Unobservable: &drift.Reason{Code: ReasonPluginFailed, Text: fmt.Sprintf("the %s plugin could not observe: %v", typ, err)}}
			continue
		}
		f.obs = seen[i]
	}
}

// diffBatch fills in the decisions of those resources of one type that could be observed; changing is nil in the first round.
func diffBatch(ctx context.Context, plugins Observer, typ string, fs []*finding, changing func(*finding) drift.Changing) {
	fs = slices.DeleteFunc(slices.Clone(fs), func(f *finding) bool { return f.obs.Unobservable != nil })
	if len(fs) == 0 {
		return
	}
	in := make([]drift.DiffInput, len(fs))
	for i, f := range fs {
		in[i] = drift.DiffInput{Resource: f.resource, Observation: f.obs}
		if changing != nil {
			in[i].Changing = changing(f)
		}
	}
	decided, err := plugins.Diff(ctx, typ, in)
	if err == nil && len(decided) != len(fs) {
		err = fmt.Errorf("it answered for %d of %d resources", len(decided), len(fs))
	}
	for i, f := range fs {
		if err != nil {
			f.decision = &drift.Decision{Verb: drift.Noop, Severity: drift.SeverityError,
				Reason: drift.Reason{Code: ReasonPluginFailed, Text: fmt.Sprintf("the %s plugin could not compare: %v", typ, err)}}
			continue
		}
		f.decision = decided[i]
		if d := f.decision; d != nil && d.Idempotent != nil && !*d.Idempotent && f.resource.Why != "" {
			d.Reason.Text += ": " + f.resource.Why // a plugin knows no role
		}
	}
}

// furtherRounds asks again about those resources whose inputs other items will change, or that a package may start, until no
// answer makes another resource's different: a folder goes once the folder in it goes, which goes once the file in it does.
func (p *plan) furtherRounds(ctx context.Context) {
	first := make([]*drift.Decision, len(p.findings))
	asked := make([]drift.Changing, len(p.findings))
	acted := make([]bool, len(p.findings))
	for i, f := range p.findings {
		first[i] = f.decision
	}
	// A chain is no longer than the plan.
	for range p.findings {
		byType := map[string][]*finding{}
		for i, f := range p.findings {
			acted[i] = f.acts()
			if f.obs.Unobservable != nil {
				continue
			}
			c := p.changing(f)
			if !f.obs.PackageMayStart && len(c.Inputs) == 0 {
				c.Package = nil
			}
			if slices.Equal(c.Inputs, asked[i].Inputs) && slices.Equal(c.Package, asked[i].Package) {
				continue
			}
			asked[i] = c
			byType[f.resource.Type] = append(byType[f.resource.Type], f)
		}
		for typ, fs := range byType {
			diffBatch(ctx, p.plugins, typ, fs, func(f *finding) drift.Changing { return asked[f.at] })
			for _, f := range fs {
				f.derived = f.decision != nil && !sameAction(first[f.at], f.decision)
			}
		}
		p.settle()
		if !slices.ContainsFunc(p.findings, func(f *finding) bool { return f.acts() != acted[f.at] }) {
			return
		}
	}
}

// changing tells what the rest of the plan does to a resource.
func (p *plan) changing(f *finding) drift.Changing {
	var c drift.Changing
	for _, other := range p.findings {
		if other == f || !other.acts() {
			continue
		}
		if input := f.input(other); input != "" {
			c.Inputs = append(c.Inputs, input)
		}
		if other.at < f.at && other.touches.brings && other.resource.Type == typePackage {
			c.Package = append(c.Package, other.resource.ID)
		}
	}
	slices.Sort(c.Inputs)
	c.Inputs = slices.Compact(c.Inputs)
	return c
}

// arrange brings the items into the order of execution: as the resources stand, but a unit that starts or restarts comes
// right behind the last item that changes one of its inputs, so that it comes up once and with all of them, and a folder that
// goes comes right behind the last item that takes something out of it.
func (p *plan) arrange() {
	placed := make([]bool, len(p.findings))
	var waiting []*finding
	place := func(f *finding) {
		placed[f.at] = true
		p.order = append(p.order, f)
	}
	ready := func(f *finding) bool {
		return !slices.ContainsFunc(f.behind, func(other *finding) bool { return !placed[other.at] })
	}
	for _, f := range p.findings {
		if !f.reported() {
			continue
		}
		if f.acts() && (f.decision.Verb == drift.Start || f.decision.Verb == drift.Remove) {
			for _, other := range p.findings {
				if other != f && other.acts() && (f.input(other) != "" || f.endsDefinition(other)) {
					f.behind = append(f.behind, other)
				}
			}
			f.follows = append(f.follows, f.behind...)
		}
		if !ready(f) {
			waiting = append(waiting, f)
			continue
		}
		place(f)
		// What is placed may be what others waited for, those then what yet others did.
		for i := 0; i < len(waiting); i++ {
			if ready(waiting[i]) {
				place(waiting[i])
				waiting, i = slices.Delete(waiting, i, i+1), -1
			}
		}
	}
	p.order = append(p.order, waiting...)
}

// endsDefinition says that f takes the file away that defines a unit which another item stops or disables. That comes first:
// systemd finds the links that enable a unit by its file, and leaves them dangling once it is gone, to enable whatever comes next
// under that name.
func (f *finding) endsDefinition(other *finding) bool {
	ends := other.decision.Verb == drift.Stop || other.decision.Verb == drift.Disable
	return ends && f.decision.Verb == drift.Remove && other.touches.unit != "" && f.touches.path != "" && isFragment(f.touches.path, other.touches.unit)
}

// reported says whether the resource is an item at all.
func (f *finding) reported() bool {
	return f.decision != nil || f.obs.Unobservable != nil || f.clash != ""
}

// item gives the finding as a report has it.
func (f *finding) item(host string) drift.Item {
	it := drift.Item{
		Host: host, Role: f.resource.Role, Resource: drift.ResourceRef{Type: f.resource.Type, ID: f.resource.ID},
		Declared: f.resource.Declared, Observed: orNull(f.obs.Observed), DiscoveredAt: f.seen, Idempotent: true, Note: f.note, HeldBack: f.heldBy,
	}
	if reason := f.obs.Unobservable; reason != nil {
		it.Observed, it.Action, it.Severity, it.Reason = orNull(nil), drift.Action{Verb: drift.Noop}, drift.SeverityError, *reason
		return it
	}
	d := f.decision
	if d == nil {
		d = &drift.Decision{Verb: drift.Noop, Reason: drift.Reason{Code: ReasonOnePath, Text: f.clash}}
	}
	it.Action, it.Severity, it.Reason = drift.Action{Verb: d.Verb, Params: d.Params}, d.Severity, d.Reason
	if d.Idempotent != nil {
		it.Idempotent = *d.Idempotent
	}
	it.Note = joinNotes(d.Note, f.note)
	it.Blocked = cmp.Or(f.clash, d.Blocked, f.blocked)
	if it.Blocked != "" {
		it.Severity = drift.SeverityError
	}
	return it
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// sameAction says whether two decisions would do the same.
func sameAction(a, b *drift.Decision) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Verb == b.Verb && a.Severity == b.Severity && a.Blocked == b.Blocked && sameJSON(a.Params, b.Params)
}

// sameJSON says whether two documents are the same value.
func sameJSON(a, b json.RawMessage) bool {
	ca, errA := canonical.Transform(orNull(a))
	cb, errB := canonical.Transform(orNull(b))
	return errA == nil && errB == nil && string(ca) == string(cb)
}
