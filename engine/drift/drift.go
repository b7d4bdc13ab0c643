// Package drift holds the one representation that check produces and apply executes: the drift item, and the
// report that carries items. It knows neither hosts nor plugins.
package drift

import (
	"encoding/json"
	"time"
)

// Severity says what an item means for the exit code.
type Severity string

// The severities of an item.
const (
	// SeverityDrift is a difference that an action closes.
	SeverityDrift Severity = "drift"
	// SeverityWarn is something to know that is no difference.
	SeverityWarn Severity = "warn"
	// SeverityError is something that could not be observed, or whose action will not be executed.
	SeverityError Severity = "error"
)

// Item is one drifted resource with the one action that closes the gap. Its JSON form conforms to
// schemas/drift-item.v1.json.
type Item struct {
	Host         string          `json:"host"`
	Role         string          `json:"role"`
	Resource     ResourceRef     `json:"resource"`
	Declared     json.RawMessage `json:"declared"`
	Observed     json.RawMessage `json:"observed"` // null when absent on the host or not observable
	Action       Action          `json:"action_to_apply"`
	Severity     Severity        `json:"severity"`
	Idempotent   bool            `json:"idempotent"`
	DiscoveredAt time.Time       `json:"discovered_at"`
	Reason       Reason          `json:"reason"`
	// Blocked says why the action will not be executed; empty when it will.
	Blocked string `json:"blocked,omitempty"`
	// Note is for the reader only and enters no hash.
	Note string `json:"note,omitempty"`
	// Result is set once an apply has dealt with the item.
	Result *Result `json:"result,omitempty"`
	// HeldBack names the item because of which an apply would not begin this one. It is for the page alone: the note says it in
	// words.
	HeldBack string `json:"-"`
	// Pass counts the passes of an apply from 1; zero in a check.
	Pass int `json:"pass,omitempty"`
}

// ResourceRef names a resource.
type ResourceRef struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// Verb is what an action does; the set is closed.
type Verb string

// The verbs, as the requirement has them.
const (
	Install Verb = "install"
	Upgrade Verb = "upgrade"
	Remove  Verb = "remove"
	Write   Verb = "write"
	Chmod   Verb = "chmod"
	Chown   Verb = "chown"
	Start   Verb = "start"
	Stop    Verb = "stop"
	Enable  Verb = "enable"
	Disable Verb = "disable"
	Run     Verb = "run"
	Noop    Verb = "noop"
)

// Verbs lists every verb, in the order of the schema.
func Verbs() []Verb {
	return []Verb{Install, Upgrade, Remove, Write, Chmod, Chown, Start, Stop, Enable, Disable, Run, Noop}
}

// Action is the change that closes the gap. Verb is the leading change, Params lists everything that will be done.
type Action struct {
	Verb   Verb            `json:"verb"`
	Params json.RawMessage `json:"params,omitempty"`
}

// Reason says why there is an item. Codes are stable words such as content-differs; Text is for people.
type Reason struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Status is what became of an item in an apply.
type Status string

// The statuses of a result.
const (
	Applied Status = "applied"
	Failed  Status = "failed"
	Blocked Status = "blocked"
	Skipped Status = "skipped"
)

// Result is what an apply did with an item.
type Result struct {
	Status     Status `json:"status"`
	Error      string `json:"error,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	// Output is what a command printed, bounded: exit status, head and tail of both streams.
	Output json.RawMessage `json:"output,omitempty"`
}

// Observation is what a plugin's observe says of one resource.
type Observation struct {
	// Observed is the comparable record, null when the resource is absent.
	Observed json.RawMessage `json:"observed"`
	// Facts is what diff needs besides the record; it enters no report and no hash.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Inputs are the paths and ids that a running unit was started from; engine-facing.
	Inputs []string `json:"inputs,omitempty"`
	// PackageMayStart says that a package installed earlier in a plan may bring the resource up.
	PackageMayStart bool `json:"package_may_start,omitempty"`
	// Unobservable is set when the state could not be seen; Observed is null then.
	Unobservable *Reason `json:"unobservable,omitempty"`
}

// Changing is what diff is told of the rest of the plan.
type Changing struct {
	// Inputs are those of the resource's inputs that other items of the plan will change.
	Inputs []string `json:"inputs,omitempty"`
	// Package names the package items that act earlier in the plan.
	Package []string `json:"package,omitempty"`
}

// Decision is what a plugin's diff says of one resource that is not in sync.
type Decision struct {
	Verb     Verb            `json:"verb"`
	Params   json.RawMessage `json:"params,omitempty"`
	Reason   Reason          `json:"reason"`
	Severity Severity        `json:"severity"`
	// Idempotent is false for a command that says so of itself; absent means true.
	Idempotent *bool  `json:"idempotent,omitempty"`
	Blocked    string `json:"blocked,omitempty"`
	Note       string `json:"note,omitempty"`
	// Needs are what must exist before the action can work and does not now. The engine settles each: an item that
	// acts earlier in the plan can bring it, or the item is blocked.
	Needs []Need `json:"needs,omitempty"`
}

// Need is one prerequisite of an action that is missing on the host.
type Need struct {
	// Kind is path (a parent directory), file, user, group, unit or package.
	Kind string `json:"kind"`
	// Name is the path, the account, the unit or the package.
	Name string `json:"name"`
	// Text is the blocked text when nothing in the plan brings it.
	Text string `json:"text"`
}
