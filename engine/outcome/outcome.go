// Package outcome holds what a check found, reduced to what two checks can be compared by: each item's resource and what
// would be done about it. It knows no words, times or observed records.
package outcome

import (
	"bytes"
	"encoding/json"

	"gyrum.ai/engine/drift"
)

// Outcome is what one check found.
type Outcome struct {
	// PlanHash is the report's, empty when it had none.
	PlanHash string `json:"plan_hash,omitempty"`
	// Items are in the order of execution.
	Items []Line `json:"items"`
}

// Line is one item.
type Line struct {
	ID       string          `json:"id"`
	Role     string          `json:"role,omitempty"`
	Verb     drift.Verb      `json:"verb"`
	Params   json.RawMessage `json:"params,omitempty"`
	Severity drift.Severity  `json:"severity"`
	// Reason is the code of the reason.
	Reason string `json:"reason,omitempty"`
	// Blocked says that the action will not be executed.
	Blocked bool `json:"blocked,omitempty"`
}

// Of reduces a report.
func Of(r *drift.Report) Outcome {
	o := Outcome{PlanHash: r.PlanHash, Items: []Line{}}
	for _, it := range r.Items {
		o.Items = append(o.Items, Line{
			ID: it.Resource.ID, Role: it.Role, Verb: it.Action.Verb, Params: it.Action.Params,
			Severity: it.Severity, Reason: it.Reason.Code, Blocked: it.Blocked != "",
		})
	}
	return o
}

// same says whether two lines of one resource would do the same.
func (l Line) same(other Line) bool {
	return l.Verb == other.Verb && l.Severity == other.Severity && l.Blocked == other.Blocked && bytes.Equal(l.Params, other.Params)
}

// Change is how one resource fares differently in two checks.
type Change struct {
	ID string `json:"id"`
	// Then and Now are its items; nil where it is in sync or not declared.
	Then *Line `json:"then"`
	Now  *Line `json:"now"`
}

// Compare lists the resources that fare differently: those with an item now, in the order of execution, then those that had
// one.
func Compare(then, now Outcome) []Change {
	changes := []Change{}
	before := map[string]*Line{}
	for i := range then.Items {
		before[then.Items[i].ID] = &then.Items[i]
	}
	for i := range now.Items {
		n := &now.Items[i]
		t := before[n.ID]
		delete(before, n.ID)
		if t == nil || !t.same(*n) {
			changes = append(changes, Change{ID: n.ID, Then: t, Now: n})
		}
	}
	for i := range then.Items {
		if t := before[then.Items[i].ID]; t != nil {
			changes = append(changes, Change{ID: t.ID, Then: t})
			delete(before, t.ID)
		}
	}
	return changes
}
