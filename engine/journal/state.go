package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
)

// State is what the journal says of the host before the next run.
type State struct {
	// Number is how many applies of this host executed an action.
	Number int
	// LastRun is the id of the newest run, LastHash the digest of its last complete record.
	LastRun, LastHash string
	// Interrupted are the actions whose intent has no outcome.
	Interrupted []drift.Interrupted
}

// Load reads the state. A state folder that does not exist is a host that saw no apply. What a cut left behind (a torn line,
// a run without a record) is passed over; damage is for Verify to find and stops no apply.
func Load(system fsys.ReadFS, dir string) (State, error) {
	at, err := openRead(system, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("state folder: %w", err)
	}
	defer at.Close()
	runs, err := at.OpenDir(runsName)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("state folder: %s/%s: %w", dir, runsName, err)
	}
	defer runs.Close()
	names, err := runs.Names()
	if err != nil {
		return State{}, fmt.Errorf("state folder: %s/%s: %w", dir, runsName, err)
	}
	var state State
	unread := 0 // runs newer than the newest whose start can be read
	for i := len(names) - 1; i >= 0; i-- {
		id, isRun := runID(names[i])
		if !isRun {
			continue
		}
		if state.LastRun == "" {
			state.LastRun = id
		}
		raw, err := readAll(runs, names[i])
		if err != nil {
			return State{}, fmt.Errorf("state folder: %s/%s/%s: %w", dir, runsName, names[i], err)
		}
		seen := survey(id, raw)
		if seen.hash == "" {
			continue
		}
		newest := state.LastHash == ""
		if newest {
			state.LastHash, state.Interrupted = seen.hash, seen.open
		}
		if seen.start == nil {
			unread++
			continue
		}
		state.Number = seen.start.Number + unread
		if seen.executed {
			state.Number++
		}
		if newest {
			state.Interrupted = append(seen.pending(), seen.open...)
		}
		return state, nil
	}
	anchor, err := loadAnchor(runs)
	if err != nil {
		return State{}, fmt.Errorf("state folder: %s/%s: %w", dir, runsName, err)
	}
	state.Number = anchor.Number + unread
	if state.LastHash == "" {
		state.LastHash = anchor.Hash
	}
	if state.LastRun < anchor.LastRun {
		state.LastRun = anchor.LastRun
	}
	return state, nil
}

// The beginnings of the only lines that survey must read; a canonical record's fields are sorted by name.
var (
	intentBegins  = []byte(`{"intent":`)
	outcomeBegins = []byte(`{"kind":"outcome"`)
	startBegins   = []byte(`{"kind":"start"`)
	endBegins     = []byte(`{"end":`)
)

// surveyed is what the next run must know of a run.
type surveyed struct {
	hash     string // of the last record in the chain, empty when there is none
	start    *Start // nil when it cannot be read
	executed bool
	open     []drift.Interrupted // intents without an outcome
	// settled and left are resources that the run acted on or found in order, and such as it had to leave as they were.
	settled, left map[string]bool
	ended         bool
}

// pending lists what the run was told of earlier runs' interrupted actions and did not settle: what it did not look at, what it
// had to leave as it was, and, when it was cut off itself, what it had not come to. Otherwise a second cut would hide the first.
func (s *surveyed) pending() []drift.Interrupted {
	pending := slices.Clone(s.start.Carried)
	for _, cut := range s.start.Interrupted {
		id := cut.Resource
		if !s.settled[id] && (s.left[id] || !s.ended) && !slices.Contains(pending, cut) {
			pending = append(pending, cut)
		}
	}
	return pending
}

// survey follows the chain through a run. Lines that are not in it were cut off by a full disk or a lost power and say
// nothing for certain: they were never made durable.
func survey(id string, raw []byte) surveyed {
	seen := surveyed{settled: map[string]bool{}, left: map[string]bool{}}
	var order []int
	begun := map[int]drift.Interrupted{}
	complete, _ := lines(raw)
	for _, line := range complete {
		if seen.hash != "" && !bytes.Contains(line, []byte(`,"prev":"`+seen.hash+`",`)) {
			continue
		}
		if line[0] != '{' || line[len(line)-1] != '}' {
			continue
		}
		seen.hash = canonical.Digest(line)
		if bytes.HasPrefix(line, endBegins) {
			seen.ended = true
			continue
		}
		if !bytes.HasPrefix(line, intentBegins) && !bytes.HasPrefix(line, outcomeBegins) && !bytes.HasPrefix(line, startBegins) {
			continue
		}
		var rec struct {
			Start   *Start   `json:"start"`
			Intent  *Intent  `json:"intent"`
			Outcome *Outcome `json:"outcome"`
		}
		if json.Unmarshal(line, &rec) != nil {
			continue
		}
		switch {
		case rec.Start != nil && seen.start == nil:
			seen.start = rec.Start
		case rec.Intent != nil:
			seen.executed, seen.settled[rec.Intent.Resource] = true, true
			order = append(order, rec.Intent.Item)
			begun[rec.Intent.Item] = drift.Interrupted{RunID: id, Resource: rec.Intent.Resource, Verb: rec.Intent.Action.Verb}
		case rec.Outcome != nil:
			if rec.Outcome.Left {
				seen.left[rec.Outcome.Resource] = true
			} else {
				seen.settled[rec.Outcome.Resource] = true
			}
			delete(begun, rec.Outcome.Item)
		}
	}
	for _, item := range order {
		if it, isOpen := begun[item]; isOpen {
			seen.open = append(seen.open, it)
		}
	}
	return seen
}
