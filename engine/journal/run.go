package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
)

// The size of the reserve: enough for what a run writes of one action, and of the run itself, besides its plan.
const (
	reserveRun    = 64 << 10
	reserveAction = 16 << 10
	reserveMost   = 8 << 20
)

// Run is the journal of the apply that is under way. Its methods may be called from several goroutines at once. After the first
// error that is not an effect's own, every method fails: what cannot be recorded must not be done.
type Run struct {
	mu      sync.Mutex
	id      string
	clock   func() time.Time
	system  fsys.FS
	dir     string
	runs    fsys.Dir
	file    fsys.File
	size    int64 // at least so many bytes were written
	seq     int
	synced  int
	prev    string
	reserve bool              // the reserve still stands
	plan    string            // the hash of the pass's plan
	open    map[string]bool   // ids of resources whose intent has no outcome yet
	begun   map[string]Intent // ids of resources to the last intent of each
	err     error
}

// Begin opens the journal of a new run, with its first record on disk. It fails before anything else was done when the
// state folder cannot be written, or has no room for about as many actions as the run may have.
func Begin(system fsys.FS, dir string, state State, start Start, actions int, clock func() time.Time, random io.Reader) (*Run, error) {
	id, err := NewID(clock(), random, state.LastRun)
	if err != nil {
		return nil, err
	}
	base, err := openWrite(system, dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	base.Close()
	runs, err := openWrite(system, dir+"/"+runsName)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r := &Run{id: id, clock: clock, system: system, dir: dir, runs: runs, prev: state.LastHash, plan: start.PlanHash, open: map[string]bool{}, begun: map[string]Intent{}}
	if err := r.begin(state, start, actions); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: the run cannot be recorded in %s, so nothing was done: %w", dir, err), r.close())
	}
	return r, nil
}

func (r *Run) begin(state State, start Start, actions int) error {
	if err := r.settle(state.LastRun); err != nil {
		return err
	}
	if err := r.fillReserve(min(reserveRun+actions*reserveAction, reserveMost)); err != nil {
		return err
	}
	file, err := r.runs.Create(r.id+runSuffix, 0o600)
	if err != nil {
		return err
	}
	r.file = file
	start.Version = Version
	if err := r.write(Record{Kind: KindStart, Start: &start}, true); err != nil {
		return err
	}
	return r.runs.Sync()
}

// settle makes the run before durable as it stands: a process that was killed may have left records that only the page
// cache has, and the chain is about to build on them.
func (r *Run) settle(last string) error {
	if last == "" {
		return nil
	}
	if _, err := r.runs.Lstat(last + runSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil // a retention removed it
	}
	f, err := r.runs.OpenAppend(last+runSuffix, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// fillReserve occupies room that is given back when the disk fills up in the middle of the run.
func (r *Run) fillReserve(size int) error {
	if err := r.dropReserve(); err != nil {
		return err
	}
	f, err := r.runs.Create(reserveName, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, size))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, r.dropReserve())
	}
	r.reserve = true
	return nil
}

func (r *Run) dropReserve() error {
	r.reserve = false
	if err := r.runs.Unlink(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ID is the run's id.
func (r *Run) ID() string { return r.id }

// Plan records the items that a pass will deal with; it is durable with the first intent.
func (r *Run) Plan(p Plan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan = p.PlanHash
	return r.write(Record{Kind: KindPlan, Plan: &p}, false)
}

// Intent makes the intent durable. The action may begin when it returned nil.
func (r *Run) Intent(i Intent) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.write(Record{Kind: KindIntent, Intent: &i}, true)
	if err == nil {
		err = r.inPlace()
	}
	if err == nil {
		r.open[i.Resource], r.begun[i.Resource] = true, i
	}
	return err
}

// Outcome makes durable what became of an item.
func (r *Run) Outcome(o Outcome) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	executed := r.open[o.Resource]
	delete(r.open, o.Resource)
	return r.write(Record{Kind: KindOutcome, Outcome: &o}, executed)
}

// Effect is the host.EffectFunc of the run. It stands under the item of the resource that it is for, also when another item's
// action, or the end of a pass, is what brings it about. Then no intent announced it, so its own record is made durable
// before it happens.
func (r *Run) Effect(phase string, e host.Effect, failure error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := Effect{Item: -1, Phase: phase, Resource: e.Resource, PlanHash: r.plan, Name: e.Name, Target: e.Target, Before: e.Before, After: e.After}
	if intent, known := r.begun[e.Resource]; known {
		rec.Item, rec.PlanHash = intent.Item, intent.PlanHash
		if r.open[e.Resource] {
			rec.Plugin = intent.Plugin
		}
	}
	if failure != nil {
		rec.Error = failure.Error()
	}
	return r.write(Record{Kind: KindEffect, Effect: &rec}, !r.open[e.Resource])
}

// Observed records the last observation.
func (r *Run) Observed(report *drift.Report) error {
	return r.add(Record{Kind: KindReport, Report: report}, false)
}

// End closes the run, durably.
func (r *Run) End(e End) error {
	err := r.add(Record{Kind: KindEnd, End: &e}, true)
	if err == nil {
		err = r.inPlace()
	}
	return errors.Join(err, r.close())
}

// inPlace makes sure that what was written is where the next run will look for it. A command or a mount of this very run may have
// taken the folder away, and then the record of everything since would be lost.
func (r *Run) inPlace() error {
	runs, err := openRead(r.system, r.dir+"/"+runsName)
	var info fsys.Info
	if err == nil {
		defer runs.Close()
		info, err = runs.Lstat(r.id + runSuffix)
	}
	if err == nil && info.Size < r.size {
		err = fmt.Errorf("it was cut to %d bytes", info.Size)
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("journal: run %s: its record in %s was taken away while it ran: %w", r.id, r.dir, err)
	}
	return r.err
}

func (r *Run) close() error {
	var errs []error
	if r.file != nil {
		errs = append(errs, r.file.Close())
	}
	errs = append(errs, r.dropReserve(), r.runs.Close())
	return errors.Join(errs...)
}

func (r *Run) add(rec Record, durable bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(rec, durable)
}

func (r *Run) write(rec Record, durable bool) error {
	if r.err != nil {
		return r.err
	}
	rec.Run, rec.Seq, rec.Synced, rec.Prev, rec.Time = r.id, r.seq, r.synced, r.prev, r.clock().UTC().Truncate(time.Microsecond)
	line, err := rec.encode()
	if err == nil {
		err = r.put(append(line, '\n'))
	}
	if err == nil && durable {
		err = r.file.Sync()
	}
	if err != nil {
		r.err = fmt.Errorf("journal: run %s cannot be recorded any further: %w", r.id, err)
		return r.err
	}
	r.seq++
	if durable {
		r.synced = r.seq
	}
	r.prev = canonical.Digest(line)
	return nil
}

// put appends a line. When there is no room it gives the reserve back and tries once more; what the first try may have left is
// ended by a newline and belongs to no chain.
func (r *Run) put(line []byte) error {
	_, err := r.file.Write(line)
	if err == nil {
		r.size += int64(len(line))
	}
	if err == nil || !r.reserve {
		return err
	}
	if dropped := r.dropReserve(); dropped != nil {
		return errors.Join(err, dropped)
	}
	_, err = r.file.Write(append([]byte{'\n'}, line...))
	return err
}
