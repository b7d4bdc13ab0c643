package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gyrum.ai/engine/fsys"
)

// Follower gives the records of all runs in the order in which they were written, also those that are written while it looks.
type Follower struct {
	system fsys.ReadFS
	dir    string
	only   string         // a run's id, or empty for all
	read   map[string]int // bytes read of each run
}

// Follow begins at the oldest record. With a run's id it gives only that run's records.
func Follow(system fsys.ReadFS, dir, run string) *Follower {
	return &Follower{system: system, dir: dir, only: run, read: map[string]int{}}
}

// Next gives the complete records that came since the last call; none is no end, only nothing new.
func (f *Follower) Next() ([]Record, error) {
	runs, err := openRead(f.system, f.dir+"/"+runsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	names, err := runs.Names()
	if err != nil {
		return nil, fmt.Errorf("state folder: %s: %w", f.dir, err)
	}
	var records []Record
	for i, name := range names {
		id, isRun := runID(name)
		if !isRun || f.only != "" && id != f.only {
			continue
		}
		info, err := runs.Lstat(name)
		if err != nil || int(info.Size) <= f.read[id] {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return records, fmt.Errorf("run %s: %w", id, err)
			}
			continue
		}
		raw, err := readAll(runs, names[i])
		if errors.Is(err, fs.ErrNotExist) {
			continue // a retention removed it
		}
		if err != nil {
			return records, fmt.Errorf("run %s: %w", id, err)
		}
		raw = raw[min(f.read[id], len(raw)):]
		complete, _ := lines(raw)
		for _, line := range complete {
			if rec, ok := decode(line); ok {
				records = append(records, rec)
			}
		}
		if end := strings.LastIndexByte(string(raw), '\n'); end >= 0 {
			f.read[id] += end + 1
		}
	}
	return records, nil
}
