package files

import (
	"errors"
	"io/fs"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
)

// Link makes p a symlink with this text and owner; what a crash leaves is the old link or the new one. A symlink at p is
// replaced; any other kind is refused.
func (t WriteTree) Link(p, target string, uid, gid uint32) error {
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	switch info, err := r.dir.Lstat(r.base); {
	case err == nil && info.Kind != fsys.KindSymlink:
		return fault.New(fault.Invalid, "%s is a %s: only a symlink is replaced by one", show(p), info.Kind)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return explain(p, err)
	}
	t.sweep(r.dir)
	temp := tempPrefix + t.Run + "-" + random() + tempSuffix
	if err := r.dir.Symlink(target, temp); err != nil {
		return explain(p, err)
	}
	err = r.dir.ChownLink(temp, uid, gid)
	if err == nil {
		err = r.dir.Rename(temp, r.base)
	}
	if err != nil {
		return explain(p, drop(r.dir, temp, err))
	}
	return explain(p, r.dir.Sync())
}

// ChownLink sets the owner of a symlink, itself.
func (t WriteTree) ChownLink(p string, uid, gid uint32) error {
	r, err := t.enter(p)
	if err != nil {
		return err
	}
	defer r.close()
	return explain(p, r.dir.ChownLink(r.base, uid, gid))
}

// RemoveLink unlinks a symlink, itself, and nothing else. What is not there is removed.
func (t WriteTree) RemoveLink(p string) error {
	r, info, err := t.present(p)
	if r == nil || err != nil {
		return err
	}
	defer r.close()
	if info.Kind != fsys.KindSymlink {
		return fault.New(fault.Invalid, "%s is a %s, not a symlink", show(p), info.Kind)
	}
	if err := r.dir.Unlink(r.base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(p, err)
	}
	return explain(p, r.dir.Sync())
}
