package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/journal"
)

// applying is an apply that is under way.
type applying struct {
	*ApplyOptions
	// stop is cancelled by a signal; work is not: what has begun is finished.
	stop, work context.Context
	run        *journal.Run
	hand       Hand
	hash       string // the hash of the pass's plan

	todo   []*finding // of the pass
	looked Observer   // that the pass's plan comes from

	mu          sync.Mutex
	dealt       map[*finding]bool // items of the pass that are settled
	items       []drift.Item      // of all passes
	held        map[string]string // roles that go no further, and why
	failed      map[string]bool   // resources whose action failed, or was blocked
	once        map[string]bool   // commands that are not idempotent and that this run has run
	acted       []*finding        // whose action began, in any pass
	reloaded    bool              // unit files were read anew, which every unit may show
	interrupted bool
	broken      error // the journal can record nothing any more
}

// execute runs the passes of a confirmed plan under the lock.
func (o *ApplyOptions) execute(ctx context.Context, p *plan, how string, started time.Time) (*ApplyResult, error) {
	run, err := o.begin(p, how)
	if err != nil {
		return nil, err
	}
	a := &applying{ApplyOptions: o, stop: ctx, work: context.WithoutCancel(ctx), run: run,
		items: []drift.Item{}, held: map[string]string{}, failed: map[string]bool{}, once: map[string]bool{}}
	if a.hand, err = o.NewHand(a.work, a.effect); err != nil {
		err = fmt.Errorf("nothing was done: %w", err)
		return nil, errors.Join(err, run.End(journal.End{ExitCode: ExitError, Error: err.Error()}))
	}
	result := &ApplyResult{Plan: p.report}
	last, err := a.passes(p)
	result.Err = errors.Join(err, a.broken)
	result.Interrupted = a.interrupted

	executed := *p.report
	executed.RunID, executed.DryRun, executed.StartedAt, executed.Items = run.ID(), false, stamp(started), a.items
	executed.Count(len(p.resources))
	executed.FinishedAt = stamp(o.finish(started))
	result.Executed = &executed
	if last != nil {
		result.After = last.report
		result.After.DryRun, result.After.Follows = false, run.ID()
		result.Err = errors.Join(result.Err, ignoreBroken(run.Observed(result.After), a.broken))
	}
	end := journal.End{Executed: count(a.items), ExitCode: result.ExitCode(), Interrupted: a.interrupted}
	if result.Err != nil {
		end.Error = result.Err.Error()
	}
	result.Err = errors.Join(result.Err, ignoreBroken(run.End(end), a.broken))
	if a.broken == nil && o.Keep != (journal.Retention{}) {
		if _, err := journal.Prune(o.StateFS, o.StateDir, o.Keep, o.now()); err != nil {
			result.Err = errors.Join(result.Err, fmt.Errorf("the run is recorded, but old ones could not be let go: %w", err))
		}
	}
	return result, nil
}

// effect is told of every effect on the host.
func (a *applying) effect(phase string, e host.Effect, failure error) error {
	if e.Name == host.DaemonReload {
		a.mu.Lock()
		a.reloaded = true
		a.mu.Unlock()
	}
	return a.run.Effect(phase, e, failure)
}

// ignoreBroken drops an error that only repeats that the journal is broken.
func ignoreBroken(err, broken error) error {
	if broken != nil {
		return nil
	}
	return err
}

// passes goes over the host until nothing is left that this run can do, and gives the last look.
func (a *applying) passes(p *plan) (last *plan, err error) {
	before := fingerprint(p.order)
	for pass := 1; ; pass++ {
		todo := a.left(p, pass)
		began := len(a.acted)
		a.pass(p, todo, pass)
		if finished := a.hand.Finish(a.work); finished != nil {
			err = errors.Join(err, fmt.Errorf("at the end of pass %d: %w", pass, finished))
		}
		next, looked := a.look(a.work, a.Look(a.work))
		if looked != nil {
			return last, errors.Join(err, looked)
		}
		last = next
		left := a.left(next, pass+1)
		mark := fingerprint(left)
		if !a.AutoConfirm || err != nil || a.broken != nil || len(left) == 0 || len(a.acted) == began || mark == before {
			return last, err
		}
		if a.stop.Err() != nil {
			a.interrupted = true
			return last, err
		}
		if pass == maxPasses {
			return last, err
		}
		before, p = mark, next
	}
}

// left lists what a pass deals with: in the first one every item, later only what this run can still do something about.
func (a *applying) left(p *plan, pass int) []*finding {
	if pass == 1 {
		return p.order
	}
	return slices.DeleteFunc(slices.Clone(p.order), func(f *finding) bool {
		return !f.acts() || a.failed[f.resource.ID] || a.once[f.resource.ID] || a.heldBy(f.resource.Role) != ""
	})
}

// fingerprint tells two lists of actions apart by what they would do from where.
func fingerprint(fs []*finding) string {
	var parts []string
	for _, f := range fs {
		if !f.acts() {
			continue
		}
		observed, _ := project(f.resource.Type, f.obs.Observed)
		parts = append(parts, f.resource.ID, string(f.decision.Verb), string(f.decision.Params), string(observed))
	}
	raw, err := canonical.Marshal(parts)
	if err != nil {
		return ""
	}
	return canonical.Digest(raw)
}

// pass deals with the items of one pass, one after another or role by role at once.
func (a *applying) pass(p *plan, todo []*finding, pass int) {
	first := len(a.items)
	for _, f := range todo {
		it := p.itemOf(f)
		it.Pass = pass
		a.items = append(a.items, it)
	}
	a.hash, a.todo, a.looked, a.dealt = p.report.PlanHash, todo, p.plugins, map[*finding]bool{}
	a.hand.Warm(actingTypes(todo)...)
	a.record(a.run.Plan(journal.Plan{Pass: pass, PlanHash: p.report.PlanHash, First: first, Items: a.items[first:]}))
	if a.Parallel <= 1 {
		for i, f := range todo {
			a.deal(f, first+i)
		}
		return
	}
	a.parallel(todo, first)
}

// actingTypes lists the types of the actions, in the order in which they come.
func actingTypes(todo []*finding) []string {
	var types []string
	for _, f := range todo {
		if f.acts() && !slices.Contains(types, f.resource.Type) {
			types = append(types, f.resource.Type)
		}
	}
	return types
}

// parallel runs each role's items in order and roles beside each other. An item waits for everything before it in its role, in the
// base role and in the roles that its role requires, and for the items of any role that it builds on. All of those stand
// before it in the plan, so no two items ever wait for each other.
func (a *applying) parallel(todo []*finding, first int) {
	done := make(map[*finding]chan struct{}, len(todo))
	for _, f := range todo {
		done[f] = make(chan struct{})
	}
	slots := make(chan struct{}, a.Parallel)
	var group sync.WaitGroup
	for i, f := range todo {
		group.Go(func() {
			defer close(done[f])
			role := f.resource.Role
			required := a.Target.required(role)
			for _, before := range todo[:i] {
				other := before.resource.Role
				if other == role || other == BaseRole || slices.Contains(required, other) || slices.Contains(f.follows, before) {
					<-done[before]
				}
			}
			slots <- struct{}{}
			a.deal(f, first+i)
			<-slots
		})
	}
	group.Wait()
}

// heldBy says why a role goes no further, empty when it does. The caller holds mu, or is alone.
func (a *applying) heldBy(role string) string {
	if why := a.held[role]; why != "" {
		return why
	}
	for _, name := range a.Target.required(role) {
		if why := a.held[name]; why != "" {
			return fmt.Sprintf("role %s is required: %s", name, why)
		}
	}
	return ""
}

// record keeps the first error of the journal.
func (a *applying) record(err error) error {
	if err != nil && a.broken == nil {
		a.broken = err
	}
	return err
}
