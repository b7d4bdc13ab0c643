package hosttest

import (
	"fmt"
	"path"
	"strings"

	"gyrum.ai/engine/fsys"
)

// The methods here set a scene and look at the outcome: durable at once, uncounted, whatever Power says.

// Add puts something at a path, replacing what is there, and makes missing parents as root's, 0755.
func (f *FS) Add(p string, info fsys.Info, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.tick()
	n := &inode{id: f.next, kind: info.Kind, mode: info.Mode, uid: info.UID, gid: info.GID, mtime: now, ctime: now}
	switch info.Kind {
	case fsys.KindSymlink:
		n.target, n.mode = content, 0o777
	case fsys.KindDirectory:
		n.entries = map[string]uint64{}
	default:
		n.data = []byte(content)
	}
	f.next++
	f.settle()
	parent := f.parent(p)
	f.durable[n.id] = n
	f.durable.link(parent, path.Base(p), n.id, now)
	f.live = f.durable.clone()
	f.state++
}

// write puts a file of root's in place of the one at a path as a tool does that makes it durable: written beside it, synced, renamed,
// and its directory synced. Nothing can come in between, and it is not counted; what else is not durable stays so.
func (f *FS) write(p, content string, mode uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir := uint64(1)
	for name := range strings.SplitSeq(strings.Trim(path.Dir(p), "/"), "/") {
		dir = f.live[dir].entries[name]
	}
	now, name := f.clock.tick(), path.Base(p)
	n := &inode{id: f.next, kind: fsys.KindFile, mode: mode, data: []byte(content), mtime: now, ctime: now}
	f.next++
	f.durable[n.id], f.live[n.id] = n, n.clone()
	c := &change{call: "rename", inode: dir, name: name, apply: func(k disk) { k.link(dir, name, n.id, now) }}
	c.apply(f.live)
	f.state++
	f.pending = append(f.pending, c)
	f.flush(dir)
}

// settle makes everything durable.
func (f *FS) settle() {
	for _, c := range f.pending {
		c.apply(f.durable)
	}
	f.pending = nil
}

// parent gives the id of a path's directory in the durable state, made where it is missing or where something else is.
// Links are not followed.
func (f *FS) parent(p string) uint64 {
	at := uint64(1)
	for _, name := range strings.Split(strings.Trim(path.Dir(p), "/"), "/") {
		if name == "" {
			continue
		}
		next, ok := f.durable[at].entries[name]
		if !ok || f.durable[next].kind != fsys.KindDirectory {
			n := &inode{id: f.next, kind: fsys.KindDirectory, mode: 0o755, entries: map[string]uint64{}}
			f.next++
			f.durable[n.id] = n
			f.durable.link(at, name, n.id, f.clock.tick())
			next = n.id
		}
		at = next
	}
	return at
}

// AddFile puts a regular file of root's at a path.
func (f *FS) AddFile(p, content string, mode uint32) {
	f.Add(p, fsys.Info{Kind: fsys.KindFile, Mode: mode}, content)
}

// AddDir puts an empty directory at a path.
func (f *FS) AddDir(p string, mode, uid, gid uint32) {
	f.Add(p, fsys.Info{Kind: fsys.KindDirectory, Mode: mode, UID: uid, GID: gid}, "")
}

// AddLink puts a symlink of a user at a path.
func (f *FS) AddLink(p, target string, uid uint32) {
	f.Add(p, fsys.Info{Kind: fsys.KindSymlink, UID: uid}, target)
}

// AddHardLink gives the inode at from a second name.
func (f *FS) AddHardLink(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	id := f.durable[f.parent(from)].entries[path.Base(from)]
	f.durable.link(f.parent(to), path.Base(to), id, f.clock.tick())
	f.live = f.durable.clone()
	f.state++
}

// SetAttributes gives the inode at a path extended attributes.
func (f *FS) SetAttributes(p string, attrs map[string][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	f.durable[f.durable[f.parent(p)].entries[path.Base(p)]].attrs = attrs
	f.live = f.durable.clone()
	f.state++
}

// Content gives the content of the regular file at a path.
func (f *FS) Content(p string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.live[1]
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if at = f.live[at.entries[name]]; at == nil {
			return "", false
		}
	}
	return string(at.data), at.kind == fsys.KindFile
}

// Dump describes everything by path: kind, mode, owner and content, without times. It leaves out what lies under the
// skipped paths.
func (f *FS) Dump(skip ...string) map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]string{}
	f.dump(out, "/", f.live[1], skip)
	return out
}

func (f *FS) dump(out map[string]string, p string, n *inode, skip []string) {
	for _, s := range skip {
		if p == s {
			return
		}
	}
	out[p] = fmt.Sprintf("%s %04o %d:%d %q%s", n.kind, n.mode, n.uid, n.gid, n.data, n.target)
	for name, id := range n.entries {
		f.dump(out, path.Join(p, name), f.live[id], skip)
	}
}
