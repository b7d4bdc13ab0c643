package files

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
)

// Owner is mode and owner of what is written; the mode holds all twelve bits.
type Owner struct {
	Mode     uint32
	UID, GID uint32
}

// WriteTree is a Tree that can be changed.
type WriteTree struct {
	Tree
	FS fsys.FS
	// Run marks the temporary files of this run, so that only those of dead runs are cleaned away.
	Run string
	// swept holds the directories in which that was done, by device and inode.
	swept *sync.Map
}

// NewWriteTree makes a tree for one run.
func NewWriteTree(fs fsys.FS, self uint32) WriteTree {
	return WriteTree{Tree: Tree{FS: fs, Self: self}, FS: fs, Run: random(), swept: &sync.Map{}}
}

// room is the directory in which a change happens.
type room struct {
	*place
	dir fsys.Dir
}

// enter walks to the parent of a path for changing.
func (t WriteTree) enter(p string) (*room, error) {
	p, err := check(p)
	if err != nil {
		return nil, err
	}
	if p == "/" {
		return nil, fault.New(fault.Invalid, "/ itself is not changed")
	}
	w := walker{Tree: t.Tree, open: openToChange, root: func() (fsys.ReadDir, error) { return t.FS.WritableRoot() }}
	at, err := w.parents(p)
	if err != nil {
		return nil, fault.Of(err)
	}
	if err := at.why(p); err != nil {
		return nil, err
	}
	return &room{at, at.dir.(fsys.Dir)}, nil
}

// explain adds to a failed call what it means for the path and what can be done.
func explain(p string, err error) error {
	if err == nil {
		return nil
	}
	f := fault.Of(err)
	hint := ""
	switch {
	case errors.Is(err, syscall.EBUSY):
		hint = " (something is mounted on it: unmount it, or mount its directory instead)"
	case errors.Is(err, syscall.ETXTBSY):
		hint = " (it is being executed)"
	case errors.Is(err, syscall.EROFS):
		hint = " (the file system is mounted read-only)"
	case errors.Is(err, syscall.EPERM):
		hint = " (perhaps an immutable or append-only attribute, see lsattr; gyrum does not take it away)"
	case errors.Is(err, syscall.ENOSPC):
		hint = " (the file system is full)"
	case errors.Is(err, syscall.EDQUOT):
		hint = " (the quota is used up)"
	}
	return &fault.Error{Code: f.Code, Text: show(p) + ": " + f.Text + hint, Cause: err}
}

// pin holds on to what stands at a path after seeing that it is of the kind.
func (r *room) pin(t WriteTree, p, kind string) (fsys.Node, error) {
	node, err := r.dir.Pin(r.base)
	if err != nil {
		return nil, explain(p, err)
	}
	info, err := node.Stat()
	switch {
	case err != nil:
		err = explain(p, err)
	case info.Kind != kind:
		err = fault.New(fault.Invalid, "%s is a %s, not a %s", show(p), info.Kind, kind)
	case kind == fsys.KindFile && info.Nlink > 1 && (r.shared || r.owner != 0 && r.owner != t.Self):
		// Whoever may put entries into the directory may have linked a file here that belongs elsewhere.
		err = fault.New(fault.UnsafePath, "%s has %d hard links in a directory that others than root can put files into, and changing it would change them all: replace it by a copy",
			show(p), info.Nlink)
	}
	if err != nil {
		node.Close()
		return nil, err
	}
	return node, nil
}

// Chmod sets the mode of a file or directory, which must be of that kind.
func (t WriteTree) Chmod(p string, mode uint32, kind string) error {
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	node, err := r.pin(t, p, kind)
	if err != nil {
		return err
	}
	defer node.Close()
	return explain(p, lasting(node, mode))
}

// lasting sets the mode as the last of the changes to an inode, and makes all of them durable.
func lasting(node fsys.Node, mode uint32) error {
	if err := node.Chmod(mode); err != nil {
		return err
	}
	return node.Sync()
}

// Chown sets owner and mode of a file or directory, which must be of that kind. The new owner never has more access in
// between than before or after, and set-id bits that the mode asks for survive.
func (t WriteTree) Chown(p string, o Owner, kind string) error {
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	node, err := r.pin(t, p, kind)
	if err != nil {
		return err
	}
	defer node.Close()
	info, err := node.Stat()
	if err != nil {
		return explain(p, err)
	}
	if narrow := info.Mode & o.Mode; narrow != info.Mode {
		if err := node.Chmod(narrow); err != nil {
			return explain(p, err)
		}
	}
	if err := node.Chown(o.UID, o.GID); err != nil {
		return explain(p, err)
	}
	return explain(p, lasting(node, o.Mode))
}

// Remove unlinks a regular file or a symlink, itself, and nothing else. What is not there is removed.
func (t WriteTree) Remove(p string) error {
	r, info, err := t.present(p)
	if r == nil || err != nil {
		return err
	}
	defer r.close()
	if info.Kind != fsys.KindFile && info.Kind != fsys.KindSymlink {
		return fault.New(fault.Invalid, "%s is a %s: only a file or a symlink is removed", show(p), info.Kind)
	}
	if err := r.dir.Unlink(r.base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(p, err)
	}
	return explain(p, r.dir.Sync())
}

// present walks to what is to be removed; without a room there is nothing to remove.
func (t WriteTree) present(p string) (*room, fsys.Info, error) {
	s, err := t.Stat(p)
	if err != nil || !s.Exists {
		return nil, fsys.Info{}, err
	}
	r, err := t.enter(p)
	if err != nil {
		return nil, fsys.Info{}, err
	}
	info, err := r.dir.Lstat(r.base)
	if err != nil {
		r.close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fsys.Info{}, nil
		}
		return nil, fsys.Info{}, explain(p, err)
	}
	return r, info, nil
}

// MakeDirectory makes a directory with exactly this mode and owner, whatever the umask and the parent's set-group-id bit.
// Its parent must exist.
func (t WriteTree) MakeDirectory(p string, o Owner) error {
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	t.sweep(r.dir)
	// Nobody but the final owner gets in before everything is as declared.
	if err := r.dir.Mkdir(r.base, 0o700&o.Mode); err != nil {
		return explain(p, err)
	}
	if err := t.own(r, p, o); err != nil {
		return errors.Join(err, r.dir.Rmdir(r.base))
	}
	return explain(p, r.dir.Sync())
}

// own gives a new directory its owner and mode.
func (t WriteTree) own(r *room, p string, o Owner) error {
	node, err := r.pin(t, p, fsys.KindDirectory)
	if err != nil {
		return err
	}
	defer node.Close()
	if err := node.Chown(o.UID, o.GID); err != nil {
		return explain(p, err)
	}
	return explain(p, lasting(node, o.Mode))
}

// RemoveDirectory removes an empty directory. What is not there is removed.
func (t WriteTree) RemoveDirectory(p string) error {
	r, info, err := t.present(p)
	if r == nil || err != nil {
		return err
	}
	defer r.close()
	if info.Kind != fsys.KindDirectory {
		return fault.New(fault.Invalid, "%s is a %s, not a directory", show(p), info.Kind)
	}
	err = r.dir.Rmdir(r.base)
	switch {
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, syscall.EEXIST):
		return fault.New(fault.Invalid, "%s is not empty: gyrum deletes no tree: %w", show(p), err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return explain(p, err)
	}
	return explain(p, r.dir.Sync())
}

// MakeOwn makes a directory of gyrum's own with its missing parents, 0700 each, and leaves one that exists as it is.
func (t WriteTree) MakeOwn(p string) error {
	p, err := check(p)
	if err != nil || p == "/" {
		return err
	}
	s, err := t.Stat(p)
	switch {
	case err != nil:
		return err
	case s.Exists && s.Kind == fsys.KindDirectory:
		return nil
	case s.Exists:
		return fault.New(fault.Invalid, "%s is a %s, not a directory", show(p), s.Kind)
	case s.BadParent != nil:
		return fault.New(fault.Invalid, "%s is a %s, not a directory", show(s.BadParent.Path), s.BadParent.Kind)
	case s.MissingParent != "":
		if err := t.MakeOwn(s.MissingParent); err != nil {
			return err
		}
		return t.MakeOwn(p)
	}
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	if err := r.dir.Mkdir(r.base, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", show(p), err)
	}
	return explain(p, r.dir.Sync())
}
