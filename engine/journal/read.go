package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
)

// ErrNoRun is wrapped by the error for a run that the journal does not have.
var ErrNoRun = errors.New("no such run")

// Log is one run as the journal has it.
type Log struct {
	RunID   string
	Records []Record
	// Start is nil when a cut left no readable beginning.
	Start *Start
	// Items are the items of all passes, in the order in which a reference RUN#ITEM counts them from 0, each with its result; an
	// item without one was not reached.
	Items []drift.Item
	// After is the last observation, nil when the run did not come so far.
	After *drift.Report
	// End is nil when the run was cut off.
	End *End
	// Interrupted are the actions whose intent has no outcome.
	Interrupted []drift.Interrupted
	// Torn says that a cut left bytes that are no record.
	Torn bool
}

// Summary is one run in a list.
type Summary struct {
	RunID string `json:"run_id"`
	// Kind is apply, or check for a report that a check saved.
	Kind       string    `json:"kind"`
	Host       string    `json:"host"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // zero when the run was cut off
	PlanHash   string    `json:"plan_hash,omitempty"`
	Confirmed  Confirmer `json:"confirmed,omitzero"`
	// Items counts the items, Executed those whose action ran.
	Items    int `json:"items"`
	Executed int `json:"executed"`
	// ExitCode is the apply's; nil when the run was cut off, and for a check.
	ExitCode *int `json:"exit_code,omitempty"`
	// Interrupted counts the actions whose outcome nobody recorded.
	Interrupted int `json:"interrupted,omitempty"`
}

// Read gives one run.
func Read(system fsys.ReadFS, dir, id string) (*Log, error) {
	runs, err := openRead(system, dir+"/"+runsName)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	return read(runs, id)
}

func read(runs fsys.ReadDir, id string) (*Log, error) {
	if !fsys.ValidName(id) {
		return nil, fmt.Errorf("%w: %q", ErrNoRun, id)
	}
	raw, err := readAll(runs, id+runSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoRun, id)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	log := &Log{RunID: id}
	var complete [][]byte
	complete, log.Torn = lines(raw)
	for _, line := range complete {
		if rec, ok := decode(line); ok {
			log.Records = append(log.Records, rec)
		} else {
			log.Torn = true
		}
	}
	log.digest()
	return log, nil
}

// digest puts the records together.
func (l *Log) digest() {
	open := map[int]drift.Interrupted{}
	for _, rec := range l.Records {
		switch {
		case rec.Start != nil:
			l.Start = rec.Start
		case rec.Plan != nil:
			for len(l.Items) < rec.Plan.First {
				l.Items = append(l.Items, drift.Item{})
			}
			l.Items = append(l.Items[:rec.Plan.First], rec.Plan.Items...)
		case rec.Intent != nil:
			open[rec.Intent.Item] = drift.Interrupted{RunID: l.RunID, Resource: rec.Intent.Resource, Verb: rec.Intent.Action.Verb}
			if it := l.item(rec.Intent.Item); it != nil {
				it.Action, it.Observed = rec.Intent.Action, rec.Intent.Observed
			}
		case rec.Outcome != nil:
			delete(open, rec.Outcome.Item)
			if it := l.item(rec.Outcome.Item); it != nil {
				it.Result = &rec.Outcome.Result
			}
		case rec.Report != nil:
			l.After = rec.Report
		case rec.End != nil:
			l.End = rec.End
		}
	}
	for i := range l.Items {
		if cut, isOpen := open[i]; isOpen {
			l.Interrupted = append(l.Interrupted, cut)
		}
	}
}

func (l *Log) item(index int) *drift.Item {
	if index < 0 || index >= len(l.Items) {
		return nil
	}
	return &l.Items[index]
}

// Effects lists what an item changed on the host; -1 asks for what earlier runs had left to do.
func (l *Log) Effects(item int) []Effect {
	var effects []Effect
	for _, rec := range l.Records {
		if rec.Effect != nil && rec.Effect.Item == item {
			effects = append(effects, *rec.Effect)
		}
	}
	return effects
}

// Intent gives what announced an item's action, nil when it never began.
func (l *Log) Intent(item int) *Intent {
	for _, rec := range l.Records {
		if rec.Intent != nil && rec.Intent.Item == item {
			return rec.Intent
		}
	}
	return nil
}

// Summary gives the run as a line of a list.
func (l *Log) Summary() Summary {
	s := Summary{RunID: l.RunID, Kind: "apply", Items: len(l.Items), Interrupted: len(l.Interrupted)}
	if len(l.Records) > 0 {
		s.StartedAt = l.Records[0].Time
	}
	if l.Start != nil {
		s.Host, s.PlanHash, s.Confirmed = l.Start.Host, l.Start.PlanHash, l.Start.Confirmed
	}
	for _, it := range l.Items {
		if it.Result != nil && (it.Result.Status == drift.Applied || it.Result.Status == drift.Failed) {
			s.Executed++
		}
	}
	if l.End != nil {
		s.ExitCode, s.FinishedAt = &l.End.ExitCode, l.Records[len(l.Records)-1].Time
	}
	return s
}

// List gives every run and every saved check, oldest first. A state folder that does not exist has none.
func List(system fsys.ReadFS, dir string) ([]Summary, error) {
	runs, err := openRead(system, dir+"/"+runsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	names, err := runs.Names()
	if err != nil {
		return nil, fmt.Errorf("state folder: %s: %w", dir, err)
	}
	var list []Summary
	for _, name := range names {
		if id, isRun := runID(name); isRun {
			log, err := read(runs, id)
			if err != nil {
				return nil, err
			}
			if len(log.Records) > 0 {
				list = append(list, log.Summary())
			}
		} else if id, isSaved := savedID(name); isSaved {
			report, err := readSaved(runs, id)
			if err != nil {
				return nil, err
			}
			list = append(list, Summary{RunID: id, Kind: "check", Host: report.Host, StartedAt: report.StartedAt, FinishedAt: report.FinishedAt,
				PlanHash: report.PlanHash, Items: len(report.Items)})
		}
	}
	slices.SortFunc(list, func(a, b Summary) int { return strings.Compare(a.RunID, b.RunID) })
	return list, nil
}
