package files

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
)

// The names of temporary files begin with a dot, which run-parts, cron, logrotate and shells skip, and end in .tmp, which
// no service takes for a unit or a configuration file.
const (
	tempPrefix = ".gyrum-"
	tempSuffix = ".tmp"
)

// random gives sixteen hexadecimal digits.
func random() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// Replace makes p a regular file with this content, owner and mode; what a crash leaves is the old file or the new one.
// A symlink at p is itself replaced; any other kind is refused. ACLs and extended attributes of a replaced file carry
// over, except those that vouch for the old content: security.capability and the integrity signatures.
func (t WriteTree) Replace(p string, content []byte, o Owner) error {
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	attrs, err := r.attributes(p)
	if err != nil {
		return err
	}
	t.sweep(r.dir)
	temp := tempPrefix + t.Run + "-" + random() + tempSuffix
	if err := fill(r.dir, temp, content, o, attrs); err != nil {
		return explain(p, err)
	}
	if err := r.dir.Rename(temp, r.base); err != nil {
		return explain(p, drop(r.dir, temp, err))
	}
	// Without this a power cut could bring the old name back after the journal has the new content as done.
	return explain(p, r.dir.Sync())
}

// drop removes a temporary file after a failure and gives the failure.
func drop(dir fsys.Dir, temp string, err error) error {
	if rerr := dir.Unlink(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
		return fmt.Errorf("%w; and the temporary file %s could not be removed: %v", err, temp, rerr)
	}
	return err
}

// attributes gives what a replaced file hands on; none when there is nothing yet or a symlink.
func (r *room) attributes(p string) (map[string][]byte, error) {
	info, err := r.dir.Lstat(r.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, explain(p, err)
	case info.Kind == fsys.KindSymlink:
		return nil, nil
	case info.Kind != fsys.KindFile:
		return nil, fault.New(fault.Invalid, "%s is a %s: only a file or a symlink is replaced", show(p), info.Kind)
	}
	node, err := r.dir.Pin(r.base)
	if err != nil {
		return nil, explain(p, err)
	}
	defer node.Close()
	attrs, err := node.Attributes()
	if err != nil {
		return nil, explain(p, err)
	}
	delete(attrs, "security.capability")
	delete(attrs, "security.ima")
	delete(attrs, "security.evm")
	if attrs == nil {
		attrs = map[string][]byte{}
	}
	return attrs, nil
}

// fill makes the temporary file complete and durable. It is readable by nobody else before its owner and mode are set,
// and gone after a failure.
func fill(dir fsys.Dir, temp string, content []byte, o Owner, attrs map[string][]byte) error {
	f, err := dir.Create(temp, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chown(o.UID, o.GID)
	}
	// A nil map is a new file, which keeps what its directory hands down by default.
	if err == nil && attrs != nil {
		err = f.SetAttributes(attrs)
	}
	// The mode comes last: chown takes set-id bits away, and an ACL brings a mask of its own.
	if err == nil {
		err = f.Chmod(o.Mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return drop(dir, temp, err)
	}
	return nil
}

// stale says that a name is that of a temporary file of another run.
func (t WriteTree) stale(name string) bool {
	name, ok := strings.CutPrefix(name, tempPrefix)
	name, ok2 := strings.CutSuffix(name, tempSuffix)
	run, rest, ok3 := strings.Cut(name, "-")
	return ok && ok2 && ok3 && isRandom(run) && isRandom(rest) && run != t.Run
}

func isRandom(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 8
}

// sweep removes the temporary files that killed runs left in the directory, once a run. Only one run writes at a time,
// so a mark that is not this run's belongs to a dead one. What cannot be removed is left: it harms nobody.
func (t WriteTree) sweep(dir fsys.Dir) {
	info, err := dir.Stat()
	if err != nil {
		return
	}
	if _, done := t.swept.LoadOrStore([2]uint64{info.Dev, info.Ino}, true); done {
		return
	}
	names, err := dir.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		if !t.stale(name) {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && (info.Kind == fsys.KindFile || info.Kind == fsys.KindSymlink) {
			_ = dir.Unlink(name)
		}
	}
}
