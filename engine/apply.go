package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/resource"
)

// maxPasses is how often an apply that confirms by itself goes over the host.
const maxPasses = 3

// Apply makes the host what is declared for it, once the plan is confirmed, and reports what was done and what the host is like
// then. It fails as a whole only before the first action: with an error that wraps journal.ErrLocked when another apply
// runs, and with others when the host cannot be looked at or the run cannot be recorded. When ctx is cancelled the action in
// hand finishes, the rest is skipped, and the result says so.
func Apply(ctx context.Context, o ApplyOptions) (*ApplyResult, error) {
	started := o.now()
	if o.Locker == nil {
		o.Locker = journal.KernelLock{}
	}
	if o.Running == nil {
		o.Running = o.Locker
	}
	o.Speculate = true
	if o.Look == nil {
		o.Look = func(context.Context) Observer { return o.Plugins }
	}
	if err := o.Locker.Peek(o.lockPath()); errors.Is(err, journal.ErrLocked) {
		return nil, err
	}
	p, err := o.look(ctx, o.Plugins)
	if err != nil {
		return nil, err
	}
	how, why, err := o.confirm(p)
	if err != nil {
		return nil, err
	}
	if how == "" {
		// A plan may be another one because an apply is changing the host just now; that is the better thing to say.
		if err := o.Locker.Peek(o.lockPath()); errors.Is(err, journal.ErrLocked) {
			return nil, err
		}
		return &ApplyResult{Refused: true, Why: why, Plan: p.report}, nil
	}
	if err := journal.Prepare(o.StateFS, o.StateDir); err != nil {
		return nil, err
	}
	release, err := o.Locker.Lock(o.lockPath(), journal.Owner{PID: os.Getpid(), StartedAt: stamp(started)})
	if err != nil {
		return nil, err
	}
	defer release()
	p, why, err = o.stillHolds(ctx, p, how)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return &ApplyResult{Refused: true, Why: why, Plan: p.report}, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stopped before anything was done: %w", context.Cause(ctx))
	}
	return o.execute(ctx, p, how, started)
}

// confirm tells how the plan is confirmed; when it is not, how is empty and why says why.
func (o *ApplyOptions) confirm(p *plan) (how, why string, err error) {
	switch {
	case o.ConfirmPlan != "" && p.report.PlanHash == "":
		return "", p.report.NoPlanHash, nil
	case o.ConfirmPlan != "" && p.report.PlanHash != o.ConfirmPlan:
		return "", fmt.Sprintf("the plan that was confirmed (%s) is not the plan that the host needs now (%s): read the new one and confirm that",
			o.ConfirmPlan, p.report.PlanHash), nil
	case o.ConfirmPlan != "":
		return journal.ByHash, "", nil
	case !slices.ContainsFunc(p.order, (*finding).acts):
		return journal.ByNothing, "", nil
	case o.AutoConfirm:
		return journal.ByFlag, "", nil
	case o.Confirm == nil:
		return "", "the plan is not confirmed: there is no terminal to ask at; name its hash with --confirm-plan, or use --auto-confirm", nil
	}
	yes, err := o.Confirm(p.report)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("the plan could not be confirmed: %w", err)
	case !yes:
		return "", "the plan was not confirmed", nil
	}
	return journal.ByYes, "", nil
}

// stillHolds looks again, now under the lock, when another apply came in between the look and the lock. What was confirmed is
// a plan, so another plan is refused, unless whatever comes is confirmed.
func (o *ApplyOptions) stillHolds(ctx context.Context, p *plan, how string) (now *plan, why string, err error) {
	state, err := journal.Load(o.State, o.StateDir)
	if err != nil {
		return nil, "", err
	}
	if p.standing.Unknown == nil && state.LastRun == p.standing.LastRun && state.LastHash == p.standing.LastHash {
		return p, "", nil
	}
	now, err = o.look(ctx, o.Look(ctx))
	if err != nil {
		return nil, "", err
	}
	if now.report.PlanHash != p.report.PlanHash && !o.AutoConfirm && (how != journal.ByNothing || slices.ContainsFunc(now.order, (*finding).acts)) {
		return now, fmt.Sprintf("another apply ran on this host in the meantime, so the plan is now another one (%s): read it and confirm that", now.report.PlanHash), nil
	}
	return now, "", nil
}

// begin opens the journal of the run.
func (o *ApplyOptions) begin(p *plan, how string) (*journal.Run, error) {
	confirmed := o.Confirmer
	confirmed.How = how
	start := journal.Start{
		Host: o.Target.Host, Number: p.standing.Number, PlanHash: p.report.PlanHash, Catalog: o.Target.Catalog,
		Only: o.Selection.Only, Skip: o.Selection.Skip, Confirmed: confirmed, PID: os.Getpid(), Checked: len(p.resources),
		Interrupted: p.standing.Interrupted,
	}
	has := func(rs []resource.Resource, id string) bool {
		return slices.ContainsFunc(rs, func(r resource.Resource) bool { return r.ID == id })
	}
	for _, cut := range p.standing.Interrupted {
		if !has(p.resources, cut.Resource) && has(o.Target.Resources, cut.Resource) {
			start.Carried = append(start.Carried, cut)
		}
	}
	actions := 0
	for _, f := range p.order {
		if f.acts() {
			actions++
		}
	}
	return journal.Begin(o.StateFS, o.StateDir, p.standing.State, start, actions, o.now, o.Random)
}

// count says how many items of the result were executed, whatever came of them.
func count(items []drift.Item) int {
	n := 0
	for _, it := range items {
		if it.Result != nil && (it.Result.Status == drift.Applied || it.Result.Status == drift.Failed) {
			n++
		}
	}
	return n
}
