package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/oklog/ulid/v2"

	"gyrum.ai/engine/fsys"
)

// Retention says which runs may go. A zero field does not limit.
type Retention struct {
	// MaxAge lets go of runs and saved checks that are older.
	MaxAge time.Duration
	// MaxRuns lets go of the oldest runs beyond this number, and of the oldest saved checks beyond it.
	MaxRuns int
	// AtLeast newest runs, and as many saved checks, stay whatever their age: a host that slept, or whose clock is wrong, must
	// not lose its history at a stroke.
	AtLeast int
}

// Standing is the retention that an apply keeps to by itself unless told otherwise: more than a year, and never few runs.
var Standing = Retention{MaxAge: 400 * 24 * time.Hour, AtLeast: 1000}

// Prune removes runs and saved checks that the retention lets go of, oldest first, and leaves an anchor for the chain of the
// rest. The newest run always stays: it says where the next one goes on. The caller holds the apply lock.
func Prune(system fsys.FS, dir string, keep Retention, now time.Time) (removed []string, err error) {
	if base, err := openRead(system, dir+"/"+runsName); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err == nil {
		base.Close()
	}
	runs, err := openWrite(system, dir+"/"+runsName)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	names, err := runs.Names()
	if err != nil {
		return nil, fmt.Errorf("state folder: %s: %w", dir, err)
	}
	var ids, checks []string
	for _, name := range names {
		if id, isRun := runID(name); isRun {
			ids = append(ids, id)
		} else if id, isSaved := savedID(name); isSaved {
			checks = append(checks, id)
		}
	}
	gone := keep.lets(ids[:max(0, len(ids)-1)], len(ids), now)
	if err := anchorBehind(runs, gone); err != nil {
		return nil, fmt.Errorf("state folder: %s: %w", dir, err)
	}
	for _, list := range []struct {
		ids    []string
		suffix string
	}{{gone, runSuffix}, {keep.lets(checks, len(checks), now), savedSuffix}} {
		for _, id := range list.ids {
			if err := runs.Unlink(id + list.suffix); err != nil {
				return removed, fmt.Errorf("state folder: %s: %w", dir, err)
			}
			removed = append(removed, id)
		}
	}
	if len(removed) == 0 {
		return nil, nil
	}
	return removed, runs.Sync()
}

// lets gives the first of the ids, oldest first, that may go; all counts them with those that must stay.
func (k Retention) lets(ids []string, all int, now time.Time) []string {
	n := 0
	if k.MaxRuns > 0 {
		n = min(len(ids), max(0, all-k.MaxRuns))
	}
	for n < min(len(ids), all-k.AtLeast) && k.MaxAge > 0 {
		id, err := ulid.ParseStrict(ids[n])
		if err != nil || now.Sub(ulid.Time(id.Time())) <= k.MaxAge {
			break
		}
		n++
	}
	return ids[:n]
}

// anchorBehind writes the anchor that stands for the runs once they are gone. It is durable before the first of them goes, and
// knows which runs it stands for, so that a cut in between changes nothing.
func anchorBehind(runs fsys.Dir, gone []string) error {
	anchor, err := loadAnchor(runs)
	if err != nil {
		return err
	}
	before := anchor
	for _, id := range gone {
		if id <= anchor.LastRun {
			continue // an earlier retention was cut off here
		}
		raw, err := readAll(runs, id+runSuffix)
		if err != nil {
			return err
		}
		seen := survey(id, raw)
		anchor.LastRun = id
		anchor.Runs++
		if seen.hash == "" {
			continue
		}
		anchor.Hash = seen.hash
		if seen.start != nil {
			anchor.Number = seen.start.Number
		}
		if seen.executed || seen.start == nil {
			anchor.Number++
		}
	}
	if anchor == before {
		return nil
	}
	return storeAnchor(runs, anchor)
}
