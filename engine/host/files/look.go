package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
)

// Stat is what stands at a path.
type Stat struct {
	Exists bool
	fsys.Info
	// Target is where a symlink leads.
	Target string
	// Empty is set for a directory that may be read.
	Empty *bool
	// MissingParent is the first ancestor that does not exist, BadParent one that is no directory; both say why there is
	// nothing at the path.
	MissingParent string
	BadParent     *BadParent
}

// Stat tells what stands at a path, itself, not what it may link to.
func (t Tree) Stat(p string) (Stat, error) { return t.stat(p, false) }

func (t Tree) stat(p string, anywhere bool) (Stat, error) {
	p, err := check(p)
	if err != nil {
		return Stat{}, err
	}
	if p == "/" {
		return t.statRoot()
	}
	at, err := t.find(p, anywhere)
	if err != nil {
		return Stat{}, err
	}
	defer at.close()
	if at.dir == nil {
		return Stat{MissingParent: at.missing, BadParent: at.bad}, nil
	}
	s := Stat{Exists: true}
	s.Info, err = at.dir.Lstat(at.base)
	if errors.Is(err, fs.ErrNotExist) {
		return Stat{}, nil
	}
	if err == nil && s.Kind == fsys.KindSymlink {
		s.Target, err = at.dir.Readlink(at.base)
	}
	if err != nil {
		return Stat{}, fault.Of(fmt.Errorf("%s: %w", show(p), err))
	}
	if s.Kind == fsys.KindDirectory {
		if dir, err := at.dir.OpenDir(at.base); err == nil {
			s.Empty = empty(dir)
			dir.Close()
		}
	}
	return s, nil
}

func (t Tree) statRoot() (Stat, error) {
	root, err := t.FS.Root()
	if err != nil {
		return Stat{}, fault.Of(fmt.Errorf("/: %w", err))
	}
	defer root.Close()
	info, err := root.Stat()
	if err != nil {
		return Stat{}, fault.Of(fmt.Errorf("/: %w", err))
	}
	return Stat{Exists: true, Info: info, Empty: empty(root)}, nil
}

// empty says whether a directory is empty; nil when it may not be read.
func empty(dir fsys.ReadDir) *bool {
	is, err := dir.Empty()
	if err != nil {
		return nil
	}
	return &is
}

// Exists is lstat(2) as test -e would need it: a trailing slash asks for a directory, also through a symlink, and a
// dangling symlink exists. Whoever owns the way does not matter.
func (t Tree) Exists(p string) (exists bool, kind string, err error) {
	if strings.HasSuffix(p, "/") {
		s, _, err := t.Follow(p)
		if err != nil || s.Kind != fsys.KindDirectory {
			return false, "", err
		}
		return true, s.Kind, nil
	}
	s, err := t.stat(p, true)
	return s.Exists, s.Kind, err
}

// Follow tells what a path leads to in the end, as stat(2) does, and the path of that without symlinks; a dangling link
// leads to nothing. Whoever owns the way does not matter.
func (t Tree) Follow(p string) (s Stat, real string, err error) {
	if _, err := check(p); err != nil {
		return Stat{}, "", err
	}
	w := walker{Tree: t, open: openToLook, root: t.FS.Root, anywhere: true}
	if err := w.begin(); err != nil {
		return Stat{}, "", fault.Of(err)
	}
	defer w.close()
	end, rest, err := w.enter(strings.Split(p, "/"))
	switch {
	case err != nil:
		return Stat{}, "", err
	case end == nil:
		real = path.Clean(w.at(""))
	case end.bad != nil && len(rest) == 0:
		real = end.bad.Path
	default:
		return Stat{MissingParent: end.missing, BadParent: end.bad}, "", nil
	}
	s, err = t.stat(real, true)
	return s, real, err
}

// Digest reads a regular file to its end and gives the lower-case hexadecimal sha256 and the size of its content.
func (t Tree) Digest(p string) (sha string, size int64, err error) {
	hash := sha256.New()
	size, err = t.copyTo(p, hash, false)
	if err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// CopyAnywhere copies the content of a regular file, whoever owns the way to it.
func (t Tree) CopyAnywhere(p string, w io.Writer) error {
	_, err := t.copyTo(p, w, true)
	return err
}

// Read gives the content of a regular file of at most limit bytes.
func (t Tree) Read(p string, limit int64) ([]byte, error) {
	var b limited
	b.limit = limit
	if _, err := t.copyTo(p, &b, false); err != nil {
		return nil, err
	}
	return b.bytes, nil
}

// limited keeps what is written and fails beyond a limit.
type limited struct {
	bytes []byte
	limit int64
}

func (l *limited) Write(b []byte) (int, error) {
	if int64(len(l.bytes)+len(b)) > l.limit {
		return 0, fault.New(fault.Invalid, "larger than %d bytes", l.limit)
	}
	l.bytes = append(l.bytes, b...)
	return len(b), nil
}

// buffers are for copying; a thousand files need no thousand of them.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 128<<10)
	return &b
}}

func (t Tree) copyTo(p string, w io.Writer, anywhere bool) (int64, error) {
	p, err := check(p)
	if err != nil {
		return 0, err
	}
	if p == "/" {
		return 0, fault.New(fault.Invalid, "/ is a directory, not a file")
	}
	at, err := t.find(p, anywhere)
	if err != nil {
		return 0, err
	}
	defer at.close()
	if err := at.why(p); err != nil {
		return 0, err
	}
	f, err := at.dir.Open(at.base)
	if err != nil {
		return 0, fault.Of(fmt.Errorf("%s: %w", show(p), err))
	}
	defer f.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n, err := io.CopyBuffer(w, f, *buf)
	if err != nil {
		return 0, fault.Of(fmt.Errorf("%s: %w", show(p), err))
	}
	return n, nil
}

// StatAnywhere is Stat for questions that lead to no change: whoever owns the way does not matter.
func (t Tree) StatAnywhere(p string) (Stat, error) { return t.stat(p, true) }
