// Package files looks at paths and changes them, so that no unprivileged user can lead a change elsewhere and nothing is
// ever half written. It walks directory by directory over package fsys and never follows a symlink in the last step.
//
// It knows no resources, no names of accounts and no secrets.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
)

// maxLinks is how many symlinks a walk follows, as in the kernel.
const maxLinks = 40

// Tree is a file system with the rule for walking it.
type Tree struct {
	FS fsys.ReadFS
	// Self is a user whose directories and links are as trustworthy as root's: the one that the program runs as.
	Self uint32
	// Walks spares walks that were made already; nil makes each anew.
	Walks *Walks
}

// place is where a walk ended.
type place struct {
	// dir holds the last element; nil when missing or bad is set.
	dir fsys.ReadDir
	// base is the last element, empty for "/".
	base string
	// real is the path of dir, without symlinks.
	real string
	// owner is who owns dir; shared says that others may put entries there.
	owner  uint32
	shared bool
	// missing is the first ancestor that does not exist, bad one that is no directory.
	missing string
	bad     *BadParent
}

// BadParent is an ancestor of a path that is not a directory.
type BadParent struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
}

func (p *place) close() {
	if p.dir != nil {
		p.dir.Close()
	}
}

// why says why there is no directory to work in, nil when there is one.
func (p *place) why(of string) error {
	switch {
	case p.missing != "":
		return fault.New(fault.Invalid, "%s: the directory %s does not exist", show(of), show(p.missing))
	case p.bad != nil:
		return fault.New(fault.Invalid, "%s: %s is a %s, not a directory", show(of), show(p.bad.Path), p.bad.Kind)
	}
	return nil
}

// show makes a path printable.
func show(p string) string { return canonical.Text(p) }

// check refuses a path that is not absolute and plain; slashes too many are taken away.
func check(p string) (string, error) {
	if !strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) {
		return "", fault.New(fault.Invalid, "%q is no absolute path", p)
	}
	for element := range strings.SplitSeq(p, "/") {
		if element == ".." {
			return "", fault.New(fault.Invalid, "%s: a path must not have .. in it", show(p))
		}
	}
	return path.Clean(p), nil
}

// opener opens a directory in another, for looking or for changing.
type opener func(parent fsys.ReadDir, name string) (fsys.ReadDir, error)

func openToLook(parent fsys.ReadDir, name string) (fsys.ReadDir, error) { return parent.OpenDir(name) }

func openToChange(parent fsys.ReadDir, name string) (fsys.ReadDir, error) {
	return parent.(fsys.Dir).OpenWritable(name)
}

// step is one directory on the way.
type step struct {
	dir   fsys.ReadDir
	name  string
	owner uint32
	// shared says that others than the owner and root's group may put entries there.
	shared bool
}

func shared(dir fsys.Info) bool { return dir.Mode&0o002 != 0 || dir.Mode&0o020 != 0 && dir.GID != 0 }

// walker goes from the root towards a path.
type walker struct {
	Tree
	open opener
	root func() (fsys.ReadDir, error)
	// anywhere takes the kernel's way, whoever owns what lies on it; for questions that lead to no change.
	anywhere bool
	steps    []step
	links    int
}

// at is the path of the last step.
func (w *walker) at(name string) string {
	var b strings.Builder
	for _, s := range w.steps[1:] {
		b.WriteString("/" + s.name)
	}
	return b.String() + "/" + name
}

func (w *walker) top() *step { return &w.steps[len(w.steps)-1] }

// pop leaves the last directory; the root is left by nothing.
func (w *walker) pop() {
	if len(w.steps) > 1 {
		w.top().dir.Close()
		w.steps = w.steps[:len(w.steps)-1]
	}
}

func (w *walker) close() {
	for _, s := range w.steps {
		s.dir.Close()
	}
	w.steps = nil
}

func (w *walker) trusted(uid uint32) bool { return uid == 0 || uid == w.Self }

// begin opens the root.
func (w *walker) begin() error {
	root, err := w.root()
	if err != nil {
		return fmt.Errorf("/: %w", err)
	}
	info, err := root.Stat()
	if err != nil {
		root.Close()
		return fmt.Errorf("/: %w", err)
	}
	w.steps = []step{{root, "", info.UID, shared(info)}}
	return nil
}

// parents walks to the directory that holds the last element of p, a path that check has passed.
func (w *walker) parents(p string) (*place, error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	defer w.close()
	names := strings.Split(strings.TrimPrefix(p, "/"), "/")
	base := names[len(names)-1]
	found, _, err := w.enter(names[:len(names)-1])
	if err != nil || found != nil {
		return found, err
	}
	last := w.top()
	end := &place{dir: last.dir, base: base, real: w.at(""), owner: last.owner, shared: last.shared}
	if len(end.real) > 1 {
		end.real = strings.TrimSuffix(end.real, "/")
	}
	w.steps = w.steps[:len(w.steps)-1] // the caller closes it
	return end, nil
}

// enter walks through the names; where the way ends early, it returns the place and the names that are left.
func (w *walker) enter(names []string) (*place, []string, error) {
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			w.pop()
			continue
		}
		here := w.top()
		info, err := here.dir.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &place{missing: w.at(name)}, names, nil
		case err != nil:
			return nil, nil, fault.Of(fmt.Errorf("%s: %w", show(w.at(name)), err))
		}
		switch info.Kind {
		case fsys.KindDirectory:
			if err := w.descend(name, info); err != nil {
				return nil, nil, err
			}
		case fsys.KindSymlink:
			target, err := w.follow(name, info)
			if err != nil {
				return nil, nil, err
			}
			if strings.HasPrefix(target, "/") {
				for len(w.steps) > 1 {
					w.pop()
				}
			}
			names = append(strings.Split(target, "/"), names...)
		default:
			return &place{bad: &BadParent{w.at(name), info.Kind}}, names, nil
		}
	}
	return nil, nil, nil
}

// descend goes into a directory. The rule is systemd-tmpfiles': a directory of an unprivileged user leads only to
// directories of the same user, since the user could have put anything there.
func (w *walker) descend(name string, seen fsys.Info) error {
	here := w.top()
	dir, err := w.open(here.dir, name)
	if err != nil {
		return fault.Of(fmt.Errorf("%s: %w", show(w.at(name)), err))
	}
	info, err := dir.Stat()
	if err != nil {
		dir.Close()
		return fault.Of(fmt.Errorf("%s: %w", show(w.at(name)), err))
	}
	if !w.anywhere && !w.trusted(here.owner) && info.UID != here.owner {
		dir.Close()
		return fault.New(fault.UnsafePath, "%s belongs to user %d but lies in a directory of user %d, who could replace it: give both to one owner",
			show(w.at(name)), info.UID, here.owner)
	}
	w.steps = append(w.steps, step{dir, name, info.UID, shared(info)})
	return nil
}

// follow reads a link on the way. Only links of trustworthy users in directories of trustworthy users are followed.
func (w *walker) follow(name string, info fsys.Info) (string, error) {
	if w.links++; w.links > maxLinks {
		return "", fault.New(fault.Invalid, "%s: more than %d symlinks on the way: %w", show(w.at(name)), maxLinks, syscall.ELOOP)
	}
	if !w.anywhere && !(w.trusted(info.UID) && w.trusted(w.top().owner)) {
		owner := info.UID
		if w.trusted(owner) {
			owner = w.top().owner
		}
		return "", fault.New(fault.UnsafePath, "%s is a symlink that user %d could change: write the path that it leads to", show(w.at(name)), owner)
	}
	target, err := w.top().dir.Readlink(name)
	if err != nil {
		return "", fault.Of(fmt.Errorf("%s: %w", show(w.at(name)), err))
	}
	if target == "" {
		return "", fault.New(fault.Invalid, "%s is a symlink to nothing", show(w.at(name)))
	}
	return target, nil
}

// Resolve gives the path with the symlinks of its parents resolved; the last element stays as it is, and so does what
// does not exist. Two resources with one resolved path own the same file.
func (t Tree) Resolve(p string) (string, error) {
	p, err := check(p)
	if err != nil || p == "/" {
		return p, err
	}
	at, err := t.find(p, true)
	if err != nil {
		return "", err
	}
	defer at.close()
	if at.dir == nil {
		return p, nil
	}
	return path.Join(at.real, at.base), nil
}
