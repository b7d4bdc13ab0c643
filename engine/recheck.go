package engine

import (
	"fmt"
	"slices"

	"gyrum.ai/engine/drift"
)

// recheck looks at a resource just before its action. It gives the finding to act on, or the status that the item ends with
// and why.
func (a *applying) recheck(f *finding) (now *finding, status drift.Status, why string) {
	if f.touches.unit != "" {
		if err := a.hand.Settle(a.work); err != nil {
			return nil, drift.Blocked, "before it: " + err.Error()
		}
	}
	a.mu.Lock()
	ours := f.derived || a.disturbed(f, a.acted) || f.touches.unit != "" && a.reloaded
	a.mu.Unlock()
	plugins := a.Look(a.work)
	now = &finding{at: f.at, resource: f.resource, touches: f.touches}
	one := []*finding{now}
	if w, ok := a.looked.(Witness); ok && w.Unchanged(a.work, f.resource) {
		now.obs = f.obs
	} else {
		observeBatch(a.work, plugins, f.resource.Type, one)
	}
	if reason := now.obs.Unobservable; reason != nil {
		return nil, drift.Blocked, "just before the action it could no longer be observed: " + reason.Text
	}
	if !f.derived && sameJSON(f.obs.Observed, now.obs.Observed) && sameJSON(f.obs.Facts, now.obs.Facts) {
		now.decision = f.decision
	} else {
		diffBatch(a.work, plugins, f.resource.Type, one, a.stillChanging)
	}
	if !ours && !f.samePlace(now) {
		return nil, drift.Blocked, fmt.Sprintf("it is no longer as it was when the plan was made (%s), and this run did not change it; check again and confirm the new plan", changed(now))
	}
	d := now.decision
	switch {
	case d == nil:
		return nil, drift.Skipped, "not necessary any more: it is as declared"
	case d.Blocked != "":
		return nil, drift.Blocked, d.Blocked
	case d.Severity == drift.SeverityError:
		return nil, drift.Blocked, d.Reason.Text
	case d.Verb == drift.Noop:
		return nil, drift.Skipped, "not necessary any more: " + d.Reason.Text
	}
	for _, need := range d.Needs {
		return nil, drift.Blocked, needText(need) + expected(f)
	}
	return now, "", ""
}

// samePlace says whether a later look found the resource where the plan left it, with the same thing to do.
func (f *finding) samePlace(now *finding) bool {
	a, errA := project(f.resource.Type, f.obs.Observed)
	b, errB := project(f.resource.Type, now.obs.Observed)
	return errA == nil && errB == nil && string(a) == string(b) && sameAction(f.decision, now.decision)
}

// changed says what a resource is like now.
func changed(now *finding) string {
	if now.decision == nil {
		return "it is as declared now"
	}
	return "now: " + now.decision.Reason.Text
}

// disturbed says whether one of the actions may have changed the resource: a package or a command may change anything, others
// only their own path or unit and what is defined by it.
func (a *applying) disturbed(f *finding, actions []*finding) bool {
	return slices.ContainsFunc(actions, func(o *finding) bool {
		switch t := o.touches; {
		case t.wide:
			return true
		case t.path != "" && t.path == f.touches.path:
			return true
		case t.account != "":
			// Accounts take each other along: a user its group, a group its members.
			return f.touches.account != "" || slices.ContainsFunc(f.decision.Needs, func(n drift.Need) bool { return n.Kind == typeUser || n.Kind == typeGroup })
		case f.touches.unit == "":
			return false
		}
		// Units pull each other up and down, so a unit's action is an action on every unit.
		return o.touches.unit != "" || f.input(o) != ""
	})
}

// stillChanging tells what the items that come later in the pass will change of a resource's inputs. What came before shows in the
// observation.
func (a *applying) stillChanging(now *finding) drift.Changing {
	a.mu.Lock()
	defer a.mu.Unlock()
	var c drift.Changing
	for _, other := range a.todo {
		if other.resource.ID == now.resource.ID || !other.acts() || a.dealt[other] {
			continue
		}
		if input := now.input(other); input != "" && !slices.Contains(c.Inputs, input) {
			c.Inputs = append(c.Inputs, input)
		}
	}
	slices.Sort(c.Inputs)
	return c
}

// expected names who was to bring what is still missing.
func expected(f *finding) string {
	for _, o := range f.follows {
		if o.touches.wide {
			return fmt.Sprintf(" (%s was expected to bring it and did not)", o.resource.ID)
		}
	}
	return ""
}
