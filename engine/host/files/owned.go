package files

import (
	"fmt"
	"io"
	"strings"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
)

// Private says what a file must be like so that its content is taken: nobody but its owner could have put it there.
type Private struct {
	// UID owns the file and every directory on the way to it; root's directories are good for anyone.
	UID uint32
	// Deny are the permission bits that the file must not have; no directory on the way may be writable for group or others.
	Deny uint32
	// Limit is the largest size that is read.
	Limit int64
}

// ReadPrivate gives the content of a regular file that nobody but its owner could have put there. No symlink is followed.
func (t Tree) ReadPrivate(p string, rule Private) ([]byte, error) {
	dir, base, err := t.privateWay(p, rule)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(base)
	if err != nil {
		return nil, explain(p, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, rule.Limit+1))
	if err != nil {
		return nil, explain(p, err)
	}
	if int64(len(raw)) > rule.Limit {
		return nil, fault.New(fault.Invalid, "%s is larger than %d bytes", show(p), rule.Limit)
	}
	return raw, nil
}

// CheckPrivate looks at a file as ReadPrivate does, without opening it.
func (t Tree) CheckPrivate(p string, rule Private) error {
	dir, _, err := t.privateWay(p, rule)
	if err != nil {
		return err
	}
	return dir.Close()
}

// privateWay walks to the directory of p and checks everything on the way and the file itself.
func (t Tree) privateWay(p string, rule Private) (fsys.ReadDir, string, error) {
	p, err := check(p)
	if err != nil {
		return nil, "", err
	}
	dir, err := t.FS.Root()
	if err != nil {
		return nil, "", explain("/", err)
	}
	names := strings.Split(p[1:], "/")
	at := ""
	for i := 0; ; i++ {
		info, err := dir.Stat()
		if err == nil {
			err = rule.directory("/"+strings.TrimPrefix(at, "/"), info)
		}
		if err == nil && i == len(names)-1 {
			if info, err = dir.Lstat(names[i]); err == nil {
				err = rule.file(p, info)
			}
			if err == nil {
				return dir, names[i], nil
			}
		}
		if err != nil {
			dir.Close()
			return nil, "", explainOnce(p, err)
		}
		at += "/" + names[i]
		next, err := openReal(dir, names[i], at)
		dir.Close()
		if err != nil {
			return nil, "", explainOnce(p, err)
		}
		dir = next
	}
}

// openReal opens a directory and says so when a symlink stands there.
func openReal(dir fsys.ReadDir, name, at string) (fsys.ReadDir, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Kind != fsys.KindDirectory {
		return nil, fault.New(fault.UnsafePath, "%s is a %s, not a directory", show(at), info.Kind)
	}
	return dir.OpenDir(name)
}

// explainOnce adds the path to an error that does not name one yet.
func explainOnce(p string, err error) error {
	if f, ok := err.(*fault.Error); ok {
		return f
	}
	return explain(p, err)
}

func (r Private) directory(p string, info fsys.Info) error {
	if info.UID != 0 && info.UID != r.UID {
		return fault.New(fault.UnsafePath, "%s belongs to user %d, not to %s", show(p), info.UID, who(r.UID))
	}
	if info.Mode&0o022 != 0 {
		return fault.New(fault.UnsafePath, "%s can be written to by others than its owner (mode %04o): chmod go-w", show(p), info.Mode)
	}
	return nil
}

func (r Private) file(p string, info fsys.Info) error {
	switch {
	case info.Kind != fsys.KindFile:
		return fault.New(fault.UnsafePath, "%s is a %s, not a regular file", show(p), info.Kind)
	case info.UID != r.UID:
		return fault.New(fault.UnsafePath, "%s belongs to user %d, not to %s", show(p), info.UID, who(r.UID))
	case info.Mode&r.Deny != 0:
		return fault.New(fault.UnsafePath, "%s has mode %04o: at most %04o is safe", show(p), info.Mode, info.Mode&^r.Deny)
	}
	return nil
}

func who(uid uint32) string {
	if uid == 0 {
		return "root"
	}
	return fmt.Sprintf("user %d", uid)
}
