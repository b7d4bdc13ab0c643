package hosttest

import (
	"maps"
	"slices"
	"time"

	"gyrum.ai/engine/fsys"
)

// inode is one file, directory or other thing; ids are never used twice.
type inode struct {
	id             uint64
	kind           string
	mode, uid, gid uint32
	data           []byte
	target         string
	attrs          map[string][]byte
	entries        map[string]uint64
	nlink          uint64
	mtime, ctime   int64
}

// clone shares the content, which only ever grows: whoever appends to what has no room moves it.
func (n *inode) clone() *inode {
	c := *n
	c.data = slices.Clip(n.data)
	c.attrs = maps.Clone(n.attrs)
	c.entries = maps.Clone(n.entries)
	return &c
}

// disk is a set of inodes; the root directory has id 1.
type disk map[uint64]*inode

func (d disk) clone() disk {
	c := disk{}
	for id, n := range d {
		c[id] = n.clone()
	}
	return c
}

// change is one mutation that a crash keeps or loses as a whole. It concerns one inode: a directory for changes of its
// entries, else the file itself.
type change struct {
	// call is the name of the system call, on the inode with the name as it was called.
	call   string
	inode  uint64
	name   string
	synced bool
	apply  func(d disk)
}

// Change is what a test sees of a change that is not yet durable.
type Change struct {
	Call string // create, write, chmod, chown, attributes, mkdir, symlink, rename, unlink, rmdir
	Name string
}

// link enters a name into a directory, replacing what was there.
func (d disk) link(dir uint64, name string, id uint64, now int64) {
	parent, child := d[dir], d[id]
	if parent == nil || child == nil {
		return // the crash lost the inode or its directory
	}
	d.unlink(dir, name, now)
	parent.entries[name] = id
	parent.mtime, parent.ctime = now, now
	child.nlink++
	child.ctime = now
}

func (d disk) unlink(dir uint64, name string, now int64) {
	parent := d[dir]
	if parent == nil {
		return
	}
	id, ok := parent.entries[name]
	if !ok {
		return
	}
	delete(parent.entries, name)
	parent.mtime, parent.ctime = now, now
	if child := d[id]; child != nil {
		child.nlink--
		child.ctime = now
	}
}

func (n *inode) info() fsys.Info {
	i := fsys.Info{
		Kind: n.kind, Mode: n.mode, UID: n.uid, GID: n.gid, Size: int64(len(n.data)), Dev: 1, Ino: n.id, Nlink: n.nlink,
		MTime: n.mtime, CTime: n.ctime,
	}
	switch n.kind {
	case fsys.KindSymlink:
		i.Size = int64(len(n.target))
	case fsys.KindDirectory:
		i.Size, i.Nlink = 4096, n.nlink+1
	}
	return i
}

// clock gives times that always move on.
type clock struct{ now time.Time }

func (c *clock) tick() int64 {
	c.now = c.now.Add(time.Millisecond)
	return c.now.UnixNano()
}
