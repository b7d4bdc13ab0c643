package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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
		id, isRun := strings.CutSuffix(names[i], runSuffix)
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
			state.Interrupted = append(append([]drift.Interrupted{}, seen.start.Carried...), seen.open...)
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
)

// surveyed is what the next run must know of a run.
type surveyed struct {
	hash     string // of the last record in the chain, empty when there is none
	start    *Start // nil when it cannot be read
	executed bool
	open     []drift.Interrupted // intents without an outcome
}

// survey follows the chain through a run. Lines that are not in it were cut off by a full disk or a lost power and say
// nothing for certain: they were never made durable.
func survey(id string, raw []byte) surveyed {
	var seen surveyed
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
			seen.executed = true
			order = append(order, rec.Intent.Item)
			begun[rec.Intent.Item] = drift.Interrupted{RunID: id, Resource: rec.Intent.Resource, Verb: rec.Intent.Action.Verb}
		case rec.Outcome != nil:
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
