package hosttest

import (
	"bytes"
	"maps"
	"syscall"

	"gyrum.ai/engine/fsys"
)

// add makes an inode under a new name.
func (d *dir) add(call, name string, n *inode) (*inode, error) {
	if _, err := d.get(call, name); err == nil {
		return nil, failure(call, syscall.EEXIST)
	} else if !fsys.ValidName(name) || len(name) > 255 {
		return nil, err
	}
	self, err := d.self()
	if err != nil {
		return nil, err
	}
	if self.mode&0o2000 != 0 {
		n.gid = self.gid
	}
	n.id = d.fs.next
	d.fs.next++
	now := d.fs.clock.tick()
	n.mtime, n.ctime = now, now
	// The empty inode itself is no change that could be lost: without its name nobody finds it.
	made := n.clone()
	d.fs.durable[n.id] = made
	d.fs.live[n.id] = n
	dirID := d.id
	err = d.fs.do(&change{call: call, inode: dirID, name: name, apply: func(k disk) { k.link(dirID, name, n.id, now) }})
	if err != nil {
		delete(d.fs.durable, n.id)
		delete(d.fs.live, n.id)
	}
	return n, err
}

func (d *dir) Create(name string, mode uint32) (fsys.File, error) {
	defer d.lock()()
	n, err := d.add("create", name, &inode{kind: fsys.KindFile, mode: mode & 0o7777})
	if err != nil {
		return nil, err
	}
	return &handle{d.fs, n.id, name}, nil
}

func (d *dir) OpenAppend(name string, mode uint32) (fsys.File, error) {
	defer d.lock()()
	if n, err := d.get("open", name); err == nil {
		if n.kind != fsys.KindFile {
			return nil, failure("open", syscall.EINVAL)
		}
		if err := d.fs.ask("open", name); err != nil {
			return nil, err
		}
		return &handle{d.fs, n.id, name}, nil
	}
	n, err := d.add("create", name, &inode{kind: fsys.KindFile, mode: mode & 0o7777})
	if err != nil {
		return nil, err
	}
	return &handle{d.fs, n.id, name}, nil
}

func (d *dir) Mkdir(name string, mode uint32) error {
	defer d.lock()()
	_, err := d.add("mkdir", name, &inode{kind: fsys.KindDirectory, mode: mode & 0o7777, entries: map[string]uint64{}})
	return err
}

func (d *dir) Symlink(target, name string) error {
	defer d.lock()()
	if target == "" {
		return failure("symlink", syscall.ENOENT)
	}
	_, err := d.add("symlink", name, &inode{kind: fsys.KindSymlink, mode: 0o777, target: target})
	return err
}

func (d *dir) ChownLink(name string, uid, gid uint32) error {
	unlock := d.lock()
	n, err := d.get("chown", name)
	unlock()
	switch {
	case err != nil:
		return err
	case n.kind != fsys.KindSymlink:
		return failure("chown", syscall.EINVAL)
	}
	return (&handle{d.fs, n.id, name}).Chown(uid, gid)
}

func (d *dir) Pin(name string) (fsys.Node, error) {
	defer d.lock()()
	if err := d.fs.ask("open", name); err != nil {
		return nil, err
	}
	n, err := d.get("open", name)
	if err != nil {
		return nil, err
	}
	if n.kind == fsys.KindSymlink {
		return nil, failure("open", syscall.ELOOP)
	}
	return &handle{d.fs, n.id, name}, nil
}

func (d *dir) Rename(from, to string) error {
	defer d.lock()()
	source, err := d.get("rename", from)
	if err != nil {
		return err
	}
	target, err := d.get("rename", to)
	switch {
	case !fsys.ValidName(to) || len(to) > 255:
		return err
	case target != nil && target.kind == fsys.KindDirectory && source.kind != fsys.KindDirectory:
		return failure("rename", syscall.EISDIR)
	case target != nil && target.kind != fsys.KindDirectory && source.kind == fsys.KindDirectory:
		return failure("rename", syscall.ENOTDIR)
	case target != nil && len(target.entries) > 0:
		return failure("rename", syscall.ENOTEMPTY)
	case target == source:
		return nil
	}
	now, id, dirID := d.fs.clock.tick(), source.id, d.id
	return d.fs.do(&change{call: "rename", inode: dirID, name: to, apply: func(k disk) {
		k.link(dirID, to, id, now)
		// Only while the old name is still this inode's: a lost create never gave it.
		if parent := k[dirID]; parent != nil && parent.entries[from] == id {
			k.unlink(dirID, from, now)
		}
	}})
}

func (d *dir) Unlink(name string) error {
	defer d.lock()()
	n, err := d.get("unlink", name)
	if err != nil {
		return err
	}
	if n.kind == fsys.KindDirectory {
		return failure("unlink", syscall.EISDIR)
	}
	return d.remove("unlink", name)
}

func (d *dir) Rmdir(name string) error {
	defer d.lock()()
	n, err := d.get("rmdir", name)
	if err != nil {
		return err
	}
	if n.kind != fsys.KindDirectory {
		return failure("rmdir", syscall.ENOTDIR)
	}
	if len(n.entries) > 0 {
		return failure("rmdir", syscall.ENOTEMPTY)
	}
	return d.remove("rmdir", name)
}

func (d *dir) remove(call, name string) error {
	now, dirID := d.fs.clock.tick(), d.id
	return d.fs.do(&change{call: call, inode: dirID, name: name, apply: func(k disk) { k.unlink(dirID, name, now) }})
}

func (d *dir) Sync() error {
	defer d.lock()()
	return d.fs.sync(d.id)
}

// handle is an open file, or an inode that is held on to.
type handle struct {
	fs   *FS
	id   uint64
	name string
}

// set changes the inode as one change.
func (h *handle) set(call string, apply func(n *inode, now int64)) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	now, id := h.fs.clock.tick(), h.id
	return h.fs.do(&change{call: call, inode: id, name: h.name, apply: func(k disk) {
		if n := k[id]; n != nil {
			apply(n, now)
			n.ctime = now
		}
	}})
}

func (h *handle) Stat() (fsys.Info, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.ask("stat", h.name); err != nil {
		return fsys.Info{}, err
	}
	return h.fs.live[h.id].info(), nil
}

func (h *handle) Write(p []byte) (int, error) {
	data := bytes.Clone(p)
	err := h.set("write", func(n *inode, now int64) {
		n.data = append(n.data, data...)
		n.mtime = now
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (h *handle) Chmod(mode uint32) error {
	return h.set("chmod", func(n *inode, _ int64) { n.mode = mode & 0o7777 })
}

func (h *handle) Chown(uid, gid uint32) error {
	return h.set("chown", func(n *inode, _ int64) {
		n.uid, n.gid = uid, gid
		if n.kind == fsys.KindFile {
			n.mode &^= 0o6000
			delete(n.attrs, "security.capability")
		}
	})
}

func (h *handle) Attributes() (map[string][]byte, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.fs.ask("listxattr", h.name); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	maps.Copy(out, h.fs.live[h.id].attrs)
	return out, nil
}

func (h *handle) SetAttributes(attrs map[string][]byte) error {
	attrs = maps.Clone(attrs)
	return h.set("setxattr", func(n *inode, _ int64) { n.attrs = maps.Clone(attrs) })
}

func (h *handle) Sync() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	return h.fs.sync(h.id)
}

func (h *handle) Close() error { return nil }
