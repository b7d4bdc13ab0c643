package hosttest

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"gyrum.ai/engine/fsys"
)

// FS is a file system in memory. Everything is done as root. What was not synced is kept apart: Crash loses any part of it.
// Only the entries of a directory that was synced, and the content and mode of a file that was synced, are durable.
type FS struct {
	// Power counts the changes; syncs count too, since a run can die between a change and its sync.
	Power *Power
	// Inject, when set, is asked before each call (create, write, sync, rename, …) with the name that it is for ("" for
	// the directory itself) and can fail it.
	Inject func(call, name string) error

	mu      sync.Mutex
	durable disk // what a crash falls back to
	live    disk
	pending []*change
	state   uint64 // another one whenever live is
	next    uint64
	clock   clock
}

// NewFS makes a file system with a root directory and nothing in it.
func NewFS(power *Power) *FS {
	root := &inode{id: 1, kind: fsys.KindDirectory, mode: 0o755, entries: map[string]uint64{}, nlink: 1}
	d := disk{1: root}
	return &FS{
		Power: power, durable: d, live: d.clone(), next: 2,
		clock: clock{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
}

// Now gives the time of the model, a little later with every call.
func (f *FS) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Unix(0, f.clock.tick()).UTC()
}

// current names the state of the file system: another one after each change.
func (f *FS) current() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Crash loses every pending change for which lose says so, keeps the others, and leaves a host that is switched on
// again. A nil lose loses all of them.
func (f *FS) Crash(lose func(n int, c Change) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n, c := range f.pending {
		if c.synced || lose != nil && !lose(n, Change{c.call, c.name}) {
			c.apply(f.durable)
		}
	}
	f.pending = nil
	f.live = f.durable.clone()
	f.state++
	f.Power.Restore()
}

// Pending lists the changes that a crash could lose, oldest first, with those that are durable already left out.
func (f *FS) Pending() []Change {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []Change
	for _, c := range f.pending {
		if !c.synced {
			out = append(out, Change{c.call, c.name})
		}
	}
	return out
}

// Root opens "/".
func (f *FS) Root() (fsys.ReadDir, error) { return f.WritableRoot() }

// WritableRoot opens "/" for changing.
func (f *FS) WritableRoot() (fsys.Dir, error) {
	if err := f.Power.On(); err != nil {
		return nil, err
	}
	return &dir{f, 1}, nil
}

// ask stands before every question.
func (f *FS) ask(call, name string) error {
	if err := f.Power.On(); err != nil {
		return err
	}
	return f.inject(call, name)
}

func (f *FS) inject(call, name string) error {
	if f.Inject == nil {
		return nil
	}
	if err := f.Inject(call, name); err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	return nil
}

// do stands before every change, and keeps it apart as pending.
func (f *FS) do(c *change) error {
	if err := f.inject(c.call, c.name); err != nil {
		return err
	}
	if err := f.Power.Effect(); err != nil {
		return err
	}
	c.apply(f.live)
	f.state++
	f.pending = append(f.pending, c)
	return nil
}

// sync stands before flush, as do stands before a change.
func (f *FS) sync(id uint64) error {
	if err := f.inject("sync", ""); err != nil {
		return err
	}
	if err := f.Power.Effect(); err != nil {
		return err
	}
	f.flush(id)
	return nil
}

// flush makes the changes of one inode durable.
func (f *FS) flush(id uint64) {
	for _, c := range f.pending {
		c.synced = c.synced || c.inode == id
	}
	// What is durable from the beginning of the list on needs no more replaying.
	for len(f.pending) > 0 && f.pending[0].synced {
		f.pending[0].apply(f.durable)
		f.pending = f.pending[1:]
	}
}

// dir is an open directory.
type dir struct {
	fs *FS
	id uint64
}

func (d *dir) lock() func() {
	d.fs.mu.Lock()
	return d.fs.mu.Unlock
}

func failure(call string, err error) error { return fmt.Errorf("%s: %w", call, err) }

// self gives the directory's inode.
func (d *dir) self() (*inode, error) {
	n := d.fs.live[d.id]
	if n == nil {
		return nil, failure("stat", syscall.ESTALE)
	}
	return n, nil
}

// get gives what stands under a name.
func (d *dir) get(call, name string) (*inode, error) {
	if !fsys.ValidName(name) {
		return nil, failure(call, syscall.EINVAL)
	}
	if len(name) > 255 {
		return nil, failure(call, syscall.ENAMETOOLONG)
	}
	self, err := d.self()
	if err != nil {
		return nil, err
	}
	n := d.fs.live[self.entries[name]]
	if n == nil {
		return nil, failure(call, syscall.ENOENT)
	}
	return n, nil
}

func (d *dir) Stat() (fsys.Info, error) {
	defer d.lock()()
	if err := d.fs.ask("stat", ""); err != nil {
		return fsys.Info{}, err
	}
	n, err := d.self()
	if err != nil {
		return fsys.Info{}, err
	}
	return n.info(), nil
}

func (d *dir) Lstat(name string) (fsys.Info, error) {
	defer d.lock()()
	if err := d.fs.ask("stat", name); err != nil {
		return fsys.Info{}, err
	}
	n, err := d.get("stat", name)
	if err != nil {
		return fsys.Info{}, err
	}
	return n.info(), nil
}

func (d *dir) Readlink(name string) (string, error) {
	defer d.lock()()
	if err := d.fs.ask("readlink", name); err != nil {
		return "", err
	}
	n, err := d.get("readlink", name)
	if err != nil {
		return "", err
	}
	if n.kind != fsys.KindSymlink {
		return "", failure("readlink", syscall.EINVAL)
	}
	return n.target, nil
}

func (d *dir) OpenDir(name string) (fsys.ReadDir, error) { return d.OpenWritable(name) }

func (d *dir) OpenWritable(name string) (fsys.Dir, error) {
	defer d.lock()()
	if err := d.fs.ask("open directory", name); err != nil {
		return nil, err
	}
	n, err := d.get("open directory", name)
	if err != nil {
		return nil, err
	}
	if n.kind != fsys.KindDirectory {
		return nil, failure("open directory", syscall.ENOTDIR)
	}
	return &dir{d.fs, n.id}, nil
}

func (d *dir) Open(name string) (io.ReadCloser, error) {
	defer d.lock()()
	if err := d.fs.ask("open", name); err != nil {
		return nil, err
	}
	n, err := d.get("open", name)
	if err != nil {
		return nil, err
	}
	if n.kind != fsys.KindFile {
		return nil, failure("open", syscall.EINVAL)
	}
	return &reader{data: n.data}, nil
}

// reader reads the content as it was when it was opened.
type reader struct{ data []byte }

func (r *reader) Read(p []byte) (int, error) {
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}

func (r *reader) Close() error { return nil }

func (d *dir) Names() ([]string, error) {
	defer d.lock()()
	if err := d.fs.ask("list", ""); err != nil {
		return nil, err
	}
	n, err := d.self()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(n.entries)), nil
}

func (d *dir) Empty() (bool, error) {
	names, err := d.Names()
	return len(names) == 0, err
}

func (d *dir) Close() error { return nil }
