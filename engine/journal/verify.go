package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/fsys"
)

// Damage is one place where the journal is not as it was written.
type Damage struct {
	RunID string `json:"run_id"`
	// Line counts from 1; 0 is the run as a whole.
	Line int    `json:"line"`
	Text string `json:"text"`
}

// String gives the damage as a person reads it.
func (d Damage) String() string {
	if d.Line == 0 {
		return fmt.Sprintf("run %s: %s", d.RunID, d.Text)
	}
	return fmt.Sprintf("run %s, line %d: %s", d.RunID, d.Line, d.Text)
}

// Verdict is what Verify found.
type Verdict struct {
	// Runs and Records count what is in the chain.
	Runs    int `json:"runs"`
	Records int `json:"records"`
	// Removed counts the runs that a retention removed.
	Removed int `json:"removed"`
	// Head is the digest of the newest record: an anchor that, kept elsewhere, proves later that everything up to here is
	// still the same.
	Head string `json:"head"`
	// Anchored says that the anchor asked for was found.
	Anchored bool `json:"anchored"`
	// Cut counts bytes or lines that a lost power or a full disk left behind a run's last record; they are no damage.
	Cut    int      `json:"cut"`
	Damage []Damage `json:"damage"`
}

// Verify follows the chain through all runs. A changed, dropped or reordered record shows; so does a dropped run. What a chain alone cannot
// show is that its newest end was removed, or all of it replaced: for that, give an anchor, the Head of an earlier Verify
// that was kept elsewhere. Do not verify while an apply runs.
func Verify(system fsys.ReadFS, dir, anchor string) (*Verdict, error) {
	v := &Verdict{Damage: []Damage{}}
	runs, err := openRead(system, dir+"/"+runsName)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	names, err := runs.Names()
	if err != nil {
		return nil, fmt.Errorf("state folder: %s: %w", dir, err)
	}
	before, err := loadAnchor(runs)
	if err != nil {
		return nil, fmt.Errorf("state folder: %s: %w", dir, err)
	}
	v.Removed, v.Head = before.Runs, before.Hash
	v.Anchored = anchor != "" && anchor == before.Hash
	for _, name := range names {
		id, isRun := runID(name)
		if !isRun || id <= before.LastRun { // what a retention was cut off from removing
			continue
		}
		raw, err := readAll(runs, name)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", id, err)
		}
		v.follow(id, raw, anchor)
	}
	return v, nil
}

// follow checks one run against the chain so far. A line that is no record is what a full disk or a lost power left of one: had it been
// durable, the next record would build on it. A record that builds on something else than what stands before it was cut
// loose by a lost power only if what is missing was not durable yet.
func (v *Verdict) follow(id string, raw []byte, anchor string) {
	complete, torn := lines(raw)
	if torn {
		v.Cut++
	}
	next := 0 // the number that the next record has
	for i, line := range complete {
		rec, ok := decode(line)
		chained := ok && rec.Prev == v.Head && rec.Run == id && rec.Seq == next
		if !ok || !chained && next > 0 && rec.Run == id && rec.Seq > next && rec.Synced <= next {
			v.Cut++
			continue
		}
		if !chained {
			v.Damage = append(v.Damage, Damage{id, i + 1, fmt.Sprintf("it was written behind record %s, and before it stands %s: something was changed, dropped or moved", short(rec.Prev), short(v.Head))})
		}
		next = rec.Seq + 1
		v.Head = canonical.Digest(line)
		v.Records++
		v.Anchored = v.Anchored || anchor == v.Head
	}
	if next > 0 {
		v.Runs++
	}
}

// short is a digest as a message shows it.
func short(hash string) string {
	if hash == "" {
		return "of nothing"
	}
	return hash[:min(len(hash), len("sha256:")+12)]
}
