package systemd

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

// Records reads what earlier applies wrote down of units.
type Records interface {
	// Load gives the stored bytes; the error wraps fs.ErrNotExist when there are none yet.
	Load() ([]byte, error)
}

// RecordStore stores them too.
type RecordStore interface {
	Records
	// Save replaces the stored bytes, durably.
	Save(raw []byte) error
}

// recordFile is the name in the state folder, recordLimit its greatest size: a record is some hundred bytes.
const (
	recordFile  = "units.json"
	recordLimit = 16 << 20
)

// stored is the form of the file.
type stored struct {
	Version int               `json:"version"`
	Units   map[string]Record `json:"units"`
}

// StateRecords reads the records of a state folder.
type StateRecords struct {
	Tree     files.Tree
	StateDir string
}

// Load gives the bytes.
func (r StateRecords) Load() ([]byte, error) {
	p := path.Join(r.StateDir, recordFile)
	s, err := r.Tree.Stat(p)
	if err == nil && !s.Exists {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return r.Tree.Read(p, recordLimit)
}

// StateStore stores the records in a state folder.
type StateStore struct {
	StateRecords
	Write files.WriteTree
	// Group is the group that the file gets, the program's own.
	Group uint32
}

// Save replaces the file, readable for root alone.
func (s StateStore) Save(raw []byte) error {
	return s.Write.Replace(path.Join(s.StateDir, recordFile), raw, files.Owner{Mode: 0o600, UID: s.Write.Self, GID: s.Group})
}

// record gives the newest record of a unit, nil when there is none or it may not be read: then the times must do.
func (u *Units) record(name string) *Record {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.loaded == nil {
		u.loaded, _ = load(u.records)
	}
	if r, ok := u.loaded[name]; ok {
		return &r
	}
	return nil
}

// load reads all records. A damaged file holds none: it is written anew by the next apply.
func load(r Records) (map[string]Record, error) {
	raw, err := r.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Record{}, nil
	}
	if err != nil {
		return map[string]Record{}, err
	}
	var s stored
	if json.Unmarshal(raw, &s) != nil || s.Version != 1 || s.Units == nil {
		return map[string]Record{}, nil
	}
	return s.Units, nil
}

// Remember records the digests of a unit's inputs if it is known to run from them as they are, and drops a record that is
// spent. Nothing is written when the newest record says the same.
func (w *Writer) Remember(ctx context.Context, q host.UnitQuery) error {
	p, _, j, err := w.units.look(ctx, q)
	if err != nil {
		return err
	}
	known, complete := digests(j.inputs)
	w.saving.Lock()
	defer w.saving.Unlock()
	all, err := load(w.store)
	if err != nil {
		return fault.New(fault.Of(err).Code, "the records of units: %w", err)
	}
	was, recorded := all[q.Name]
	all = maps.Clone(all)
	switch now := (Record{Invocation: p.Invocation, Inputs: known}); {
	case j.State == Fresh && complete && p.Invocation != "":
		if recorded && was.Invocation == now.Invocation && maps.Equal(was.Inputs, now.Inputs) {
			return nil
		}
		all[q.Name] = now
	case recorded && spent(was, p, j.inputs):
		delete(all, q.Name)
	default:
		return nil
	}
	raw, err := json.MarshalIndent(stored{Version: 1, Units: all}, "", " ")
	if err != nil {
		return fault.New(fault.IO, "the records of units: %w", err)
	}
	if err := w.store.Save(append(raw, '\n')); err != nil {
		return fault.New(fault.Of(err).Code, "the records of units: %w", err)
	}
	w.units.Forget()
	return nil
}

// spent says that a record is of another process than the one that runs, and of other inputs than there are. Would the inputs
// become again what they were, it would vouch for a process that was started meanwhile, from these.
func spent(r Record, p Properties, inputs []Input) bool {
	if p.Running() && p.Invocation == r.Invocation {
		return false
	}
	now := map[string]Input{}
	for _, in := range inputs {
		now[in.Name] = in
	}
	for name, was := range r.Inputs {
		in, there := now[name]
		if !there || in.Digest != was && (in.Digest != "" || in.Absent) {
			return true
		}
	}
	return false
}
