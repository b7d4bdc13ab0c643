package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/resource"
)

// Check looks at the host and reports what differs from what is declared. It changes nothing. The error is about the run as
// a whole (a selection that names nothing, a cancelled context); what goes wrong with a resource is an item of the report.
func Check(ctx context.Context, o CheckOptions) (*drift.Report, error) {
	p, err := o.look(ctx, o.Plugins)
	if err != nil {
		return nil, err
	}
	return p.report, nil
}

// Standing is what earlier applies left to know before a look.
type Standing struct {
	journal.State
	// Unknown says why it could not be read; there is no plan hash then.
	Unknown error
}

// Remembered reads the state folder. While an apply runs, its open intent is no interrupted action.
func (o *CheckOptions) Remembered() Standing {
	state, err := journal.Load(o.State, o.StateDir)
	if err != nil {
		return Standing{Unknown: err}
	}
	if len(state.Interrupted) > 0 && errors.Is(o.peeker().Peek(o.lockPath()), journal.ErrLocked) {
		state.Interrupted = nil
	}
	return Standing{State: state}
}

func (o *CheckOptions) standing() Standing {
	if o.Standing != nil {
		return o.Standing()
	}
	return o.Remembered()
}

func (o *CheckOptions) lockPath() string { return path.Join(o.StateDir, journal.LockName) }

func (o *CheckOptions) peeker() journal.Peeker {
	if o.Running == nil {
		return journal.KernelLock{}
	}
	return o.Running
}

func (o *CheckOptions) now() time.Time {
	if o.Clock == nil {
		return time.Now()
	}
	return o.Clock()
}

// look is the one way in which a report comes about, in a check and in every phase of an apply.
func (o *CheckOptions) look(ctx context.Context, plugins Observer) (*plan, error) {
	started := o.now()
	resources, err := o.Selection.pick(o.Target)
	if err != nil {
		return nil, err
	}
	types := typesOf(resources)
	for _, typ := range types {
		if !slices.ContainsFunc(o.Modules, func(m Module) bool { return m.Type == typ }) {
			return nil, fmt.Errorf("%s: no plugin for resource type %s", resources[slices.IndexFunc(resources, func(r resource.Resource) bool { return r.Type == typ })].ID, typ)
		}
	}
	plugins.Warm(types...)
	stood := make(chan Standing, 1)
	go func() { stood <- o.standing() }()
	clash := make(chan map[string]string, 1)
	go func() { clash <- o.clashes() }()

	p := &plan{options: o, plugins: plugins, resources: resources}
	p.observe(ctx, types)
	clashes := <-clash
	for _, f := range p.findings {
		f.clash = clashes[f.resource.ID]
	}
	p.settle()
	p.furtherRounds(ctx)
	p.arrange()
	// What a cancelled call left is no observation.
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stopped while looking at the host: %w", context.Cause(ctx))
	}
	p.standing = <-stood
	id, err := journal.NewID(started, o.Random, "")
	if err != nil {
		return nil, err
	}
	return p, p.assemble(id, started)
}

// typesOf lists the types that occur, sorted.
func typesOf(resources []resource.Resource) []string {
	set := map[string]bool{}
	for _, r := range resources {
		set[r.Type] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// finish gives the time of the end of what began at started, by the monotonic clock: a clock that is set in between makes
// nothing end before it began.
func (o *CheckOptions) finish(started time.Time) time.Time {
	return started.Add(max(0, o.now().Sub(started)))
}

// stamp is the form in which times enter a report.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
