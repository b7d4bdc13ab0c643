package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
)

// deal settles one item: executes it, or says why not.
func (a *applying) deal(f *finding, index int) {
	a.mu.Lock()
	it := a.items[index]
	status, why := a.verdict(f, it)
	a.mu.Unlock()
	left := why != "" // what no look was worth
	if status == "" {
		a.progress(it)
		status, why = a.attempt(f, index, &it)
	}
	if it.Result == nil {
		it.Result = &drift.Result{Status: status, Error: why}
	}

	a.mu.Lock()
	defer a.mu.Unlock()
	switch it.Result.Status {
	case drift.Failed, drift.Blocked:
		left = left || it.Result.Status == drift.Blocked
		a.failed[f.resource.ID] = true
		if a.held[f.resource.Role] == "" {
			a.held[f.resource.Role] = fmt.Sprintf("%s %s", f.resource.ID, it.Result.Status)
		}
	}
	a.items[index], a.dealt[f] = it, true
	a.record(a.run.Outcome(journal.Outcome{Item: index, Pass: it.Pass, Resource: it.Resource.ID, Result: *it.Result, Left: left}))
	if a.Progress != nil {
		a.Progress(it)
	}
}

func (a *applying) progress(it drift.Item) {
	if a.Progress == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Progress(it)
}

// verdict decides without looking whether an item is executed at all; an empty status means that it is.
func (a *applying) verdict(f *finding, it drift.Item) (drift.Status, string) {
	switch {
	case it.Severity == drift.SeverityError && it.Blocked != "":
		return drift.Blocked, it.Blocked
	case it.Severity == drift.SeverityError:
		return drift.Blocked, it.Reason.Text
	case a.broken != nil:
		return drift.Skipped, "not begun: the journal can no longer be written"
	case a.stop.Err() != nil && f.acts():
		a.interrupted = true
		return drift.Skipped, "not begun: the run was told to stop"
	case !f.acts():
		return drift.Skipped, ""
	}
	if why := a.heldBy(f.resource.Role); why != "" {
		return drift.Skipped, "held back: " + why
	}
	return "", ""
}

// attempt looks at the resource once more and executes what is to be done now.
func (a *applying) attempt(f *finding, index int, it *drift.Item) (drift.Status, string) {
	started := a.now()
	a.mu.Lock()
	known := len(a.acted)
	a.mu.Unlock()
	now, status, why := a.recheck(f)
	if status != "" {
		return status, why
	}
	it.Action = drift.Action{Verb: now.decision.Verb, Params: now.decision.Params}
	it.Observed = orNull(now.obs.Observed)
	it.Reason = now.decision.Reason // which goes with what was observed now
	if !sameAction(f.decision, now.decision) {
		it.Note = joinNotes(it.Note, "computed anew in this run, after what it did before; the plan said "+string(f.decision.Verb))
	}

	a.mu.Lock()
	// What another role began in the meantime may be what changed this resource; then the look is out of date.
	stale := len(a.acted) != known && a.disturbed(f, a.acted[known:])
	if !stale {
		err := a.record(a.run.Intent(journal.Intent{Item: index, Pass: it.Pass, Resource: it.Resource.ID, Role: it.Role, Action: it.Action,
			PlanHash: a.hash, Plugin: a.module(f.resource.Type).Apply, Observed: it.Observed}))
		if err != nil {
			a.mu.Unlock()
			return drift.Skipped, "not begun: the journal can no longer be written"
		}
		a.acted = append(a.acted, f)
		if !it.Idempotent {
			a.once[f.resource.ID] = true
		}
	}
	a.mu.Unlock()
	if stale {
		return a.attempt(f, index, it)
	}

	output, err := a.hand.Apply(a.work, f.resource, now.obs, it.Action)
	it.Result = &drift.Result{Status: drift.Applied, Output: compact(output)}
	if err != nil {
		it.Result.Status, it.Result.Error = drift.Failed, err.Error()
	}
	it.Result.DurationMS = max(0, a.now().Sub(started).Milliseconds())
	return it.Result.Status, it.Result.Error
}

// compact drops an output that says nothing.
func compact(output json.RawMessage) json.RawMessage {
	if s := strings.TrimSpace(string(output)); s == "" || s == "null" || s == "{}" {
		return nil
	}
	return output
}
