package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
)

// The kinds of record, in the order in which a run has them.
const (
	// KindStart opens a run.
	KindStart = "start"
	// KindPlan lists the items of one pass.
	KindPlan = "plan"
	// KindIntent says that an action begins; it is on disk before the action does anything.
	KindIntent = "intent"
	// KindEffect is one change of the host, before and after.
	KindEffect = "effect"
	// KindOutcome says what became of an item, executed or not.
	KindOutcome = "outcome"
	// KindReport is the last observation.
	KindReport = "report"
	// KindEnd closes a run.
	KindEnd = "end"
)

// Version is the form of the records below.
const Version = 1

// Record is one line of a run's journal: canonical JSON (RFC 8785). Exactly the field that Kind names is set.
type Record struct {
	Kind string    `json:"kind"`
	Run  string    `json:"run"`
	Seq  int       `json:"seq"` // counts a run's records from 0
	Time time.Time `json:"time"`
	// Prev is the digest of the line before, without its newline: of the same run, or of the run before, or of what a
	// retention removed; empty in a host's first record.
	Prev string `json:"prev"`
	// Synced is how many of the run's records were durable when this one was written. It tells what a lost power may have taken
	// from what somebody must have taken.
	Synced int `json:"synced"`

	Start   *Start        `json:"start,omitempty"`
	Plan    *Plan         `json:"plan,omitempty"`
	Intent  *Intent       `json:"intent,omitempty"`
	Effect  *Effect       `json:"effect,omitempty"`
	Outcome *Outcome      `json:"outcome,omitempty"`
	Report  *drift.Report `json:"report,omitempty"`
	End     *End          `json:"end,omitempty"`
}

// Start says what a run is about.
type Start struct {
	Version int    `json:"version"`
	Host    string `json:"host"`
	// Number is how many applies of this host executed an action before this one.
	Number    int           `json:"number"`
	PlanHash  string        `json:"plan_hash"`
	Catalog   drift.Catalog `json:"catalog"`
	Only      []string      `json:"only,omitempty"`
	Skip      []string      `json:"skip,omitempty"`
	Confirmed Confirmer     `json:"confirmed"`
	PID       int           `json:"pid"`
	// Checked is how many resources the run looks at.
	Checked int `json:"resources_checked"`
	// Interrupted are the actions of earlier runs whose outcome nobody recorded; this run reports them.
	Interrupted []drift.Interrupted `json:"interrupted,omitempty"`
	// Carried are those among them that this run does not look at, so that the next one must report them again.
	Carried []drift.Interrupted `json:"carried,omitempty"`
}

// Plan lists the items that a pass deals with.
type Plan struct {
	Pass     int    `json:"pass"`
	PlanHash string `json:"plan_hash"`
	// First is the index of the first item in the run, as a reference RUN#ITEM counts.
	First int          `json:"first"`
	Items []drift.Item `json:"items"`
}

// Intent says what is about to be done.
type Intent struct {
	Item     int          `json:"item"`
	Pass     int          `json:"pass"`
	Resource string       `json:"resource"`
	Role     string       `json:"role"`
	Action   drift.Action `json:"action"`
	PlanHash string       `json:"plan_hash"`
	// Plugin is the digest of the module that acts.
	Plugin string `json:"plugin"`
	// Observed is what the look just before the action saw.
	Observed json.RawMessage `json:"observed"`
}

// Effect is one change of the host that an action, or the end of a run, made.
type Effect struct {
	// Item is the item that the effect belongs to; -1 for what an earlier run left to do, such as a reload.
	Item     int    `json:"item"`
	Phase    string `json:"phase"` // before or after
	Resource string `json:"resource"`
	// PlanHash is the plan that the effect belongs to, Plugin the digest of the module that asked for it; empty where the engine
	// does it of itself.
	PlanHash string `json:"plan_hash"`
	Plugin   string `json:"plugin,omitempty"`
	Name     string `json:"name"`
	Target   string `json:"target"`
	Before   string `json:"before,omitempty"`
	After    string `json:"after,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Outcome says what became of an item.
type Outcome struct {
	Item     int          `json:"item"`
	Pass     int          `json:"pass"`
	Resource string       `json:"resource"`
	Result   drift.Result `json:"result"`
	// Left says that the run left the item as it was, so that what an earlier run did to it is as open as before.
	Left bool `json:"left,omitempty"`
}

// End closes a run.
type End struct {
	Executed    int    `json:"executed"`
	ExitCode    int    `json:"exit_code"`
	Interrupted bool   `json:"interrupted,omitempty"`
	Error       string `json:"error,omitempty"`
}

// encode gives the record's line without its newline.
func (r Record) encode() ([]byte, error) {
	line, err := canonical.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("journal: %s record: %w", r.Kind, err)
	}
	return line, nil
}

// lines gives the complete lines of a run; torn says that bytes follow the last newline. Empty lines are left out.
func lines(raw []byte) (complete [][]byte, torn bool) {
	for len(raw) > 0 {
		line, rest, ended := bytes.Cut(raw, []byte{'\n'})
		if !ended {
			return complete, true
		}
		if len(line) > 0 {
			complete = append(complete, line)
		}
		raw = rest
	}
	return complete, false
}

// decode reads one line; ok is false for what is no record.
func decode(line []byte) (rec Record, ok bool) {
	return rec, json.Unmarshal(line, &rec) == nil && rec.Kind != ""
}

// readAll gives the bytes of a file in a folder.
func readAll(at fsys.ReadDir, name string) ([]byte, error) {
	f, err := at.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
