package engine

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/resource"
)

// BaseRole is the role that every host of a catalog carries when the catalog has it; it comes before all others.
const BaseRole = "host"

// Target is what is declared for one host.
type Target struct {
	// Host is the host's name in the catalog.
	Host string
	// Catalog is what the report says of the catalog; its Digest enters the plan hash.
	Catalog drift.Catalog
	// Roles are the host's effective roles in the order of apply.
	Roles []Role
	// Resources are the resources of those roles in the order of apply.
	Resources []resource.Resource
}

// Role is one effective role of a host.
type Role struct {
	Name     string
	Requires []string
}

// required lists the roles that a role requires, directly or through others.
func (t *Target) required(role string) []string {
	var all []string
	for left := []string{role}; len(left) > 0; left = left[1:] {
		for _, r := range t.Roles {
			if r.Name != left[0] {
				continue
			}
			for _, name := range r.Requires {
				if !slices.Contains(all, name) {
					all = append(all, name)
					left = append(left, name)
				}
			}
		}
	}
	return all
}

// Module names the two modules of a resource type by digest ("sha256:…").
type Module struct {
	Type    string
	Observe string
	Apply   string
}

// Observer is the reading side of the plugins. Its methods may be called from several goroutines at once.
// Nothing that writes can be reached from it.
type Observer interface {
	// Warm begins to load what the types need, in the background.
	Warm(types ...string)
	// Observe tells the state of each resource, in the order asked. All are of the type named.
	Observe(ctx context.Context, typ string, rs []resource.Resource) ([]drift.Observation, error)
	// Diff gives the decision for each, nil for what is in sync, in the order asked.
	Diff(ctx context.Context, typ string, in []drift.DiffInput) ([]*drift.Decision, error)
}

// Witness is an Observer that can say that what it observed of a resource still holds without looking at all of it anew.
type Witness interface {
	// Unchanged says whether the host gives to every question on which the observation of the resource rests the reply that it
	// gave before. Where there is any doubt it is false.
	Unchanged(ctx context.Context, r resource.Resource) bool
}

// Hand is the writing side of one apply. Its methods may be called from several goroutines at once when roles run
// in parallel.
type Hand interface {
	// Warm begins to load what the types need, in the background, in the order in which they will be needed.
	Warm(types ...string)
	// Settle does what is due before a unit can be looked at for its action: a daemon-reload for what this run wrote.
	Settle(ctx context.Context) error
	// Apply executes one action; output is what a command left to record, also when it failed.
	Apply(ctx context.Context, r resource.Resource, obs drift.Observation, action drift.Action) (output json.RawMessage, err error)
	// Finish does what is due at the end of a pass: a daemon-reload, the record of units known to be fresh.
	Finish(ctx context.Context) error
}

// Selection narrows a run to a part of the host's resources. A term is a role, a resource type or a resource id.
type Selection struct {
	// Only keeps what matches one of its terms; empty keeps everything.
	Only []string
	// Skip drops what matches one of its terms.
	Skip []string
}

// CheckOptions is what a check needs.
type CheckOptions struct {
	Target    Target
	Selection Selection
	// Modules are the modules of the types; every type of Target must be among them.
	Modules []Module
	// Plugins is the reading side.
	Plugins Observer
	// State and StateDir tell where applies are recorded; a check reads the apply number there and nothing else.
	State    fsys.ReadFS
	StateDir string
	// Standing takes the place of State, for a check whose host is not here; nil otherwise.
	Standing func() Standing
	// Resolve gives a path with the symlinks among its parents resolved; what does not exist stays as it is. It tells two
	// resources that own one path by two names. Nil where paths have no links.
	Resolve func(path string) (string, error)
	// Running tells whether an apply is under way; the kernel's lock file when nil.
	Running journal.Peeker
	// Speculate plays the plan on a model of what was observed and notes where it would not converge.
	Speculate bool
	// Clock is time.Now when nil. Its times must carry a monotonic reading for durations to be right.
	Clock func() time.Time
	// Random feeds the run ids; crypto/rand when nil.
	Random io.Reader
}

// ApplyOptions is what an apply needs besides.
type ApplyOptions struct {
	CheckOptions
	// Look begins a new look at the host: nothing that was asked before is remembered, and no trace is replayed. It is called
	// for the look just before each action, for the later passes and for the last report, also from several goroutines at
	// once. Plugins serves for all of them when it is nil. Where the observer of a pass is a Witness, the look just before an
	// action begins with asking it.
	Look func(ctx context.Context) Observer
	// StateFS is State for writing.
	StateFS fsys.FS
	// Locker guards the one apply a host; the kernel's file lock when nil.
	Locker journal.Locker
	// NewHand builds the writing side. It is called once, after the plan was confirmed and the journal opened; on must be
	// told of every effect.
	NewHand func(ctx context.Context, on host.EffectFunc) (Hand, error)

	// ConfirmPlan confirms the plan that has this hash.
	ConfirmPlan string
	// AutoConfirm confirms whatever the plan is, and goes on for up to three passes.
	AutoConfirm bool
	// Confirm asks a person; nil where there is none to ask.
	Confirm func(plan *drift.Report) (bool, error)
	// Confirmer says who confirms, for the journal.
	Confirmer journal.Confirmer
	// Keep says which of the runs before may go when this one is over; zero keeps all.
	Keep journal.Retention
	// Parallel is how many roles may run at once; 0 and 1 mean one after another.
	Parallel int
	// Progress, when set, is told of each item as it is dealt with: before an action Result is nil, after it is set.
	// It is never called from two goroutines at once.
	Progress func(item drift.Item)
}

// ApplyResult is what came of an apply.
type ApplyResult struct {
	// Refused says that the plan was not confirmed: Why says why, Plan is the fresh plan, nothing was executed.
	Refused bool
	Why     string
	Plan    *drift.Report
	// Executed is the report of what was done: the items of all passes with their results. Nil when refused.
	Executed *drift.Report
	// After is the last observation; it follows Executed. Nil when refused.
	After *drift.Report
	// Interrupted says that a signal stopped the run between two actions.
	Interrupted bool
	// Err is what went wrong beside the items: the journal could not be written, a due daemon-reload failed.
	Err error
}
