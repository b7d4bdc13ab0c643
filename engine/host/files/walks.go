package files

import (
	"slices"
	"strings"
	"sync"

	"gyrum.ai/engine/fsys"
)

// maxWalks bounds how many directories stay open.
const maxWalks = 16

// Walks keeps the directories open that walks for looking ended in, so that a thousand files in one directory take one walk.
// What is kept is the directory that was found and judged, not what was found in it: every look into it is made anew. It
// is for one look at a host, during which nothing of ours changes anything; Forget ends it.
type Walks struct {
	mu sync.Mutex
	// kept holds the most recently used last.
	kept []*walked
}

// walked is one open directory. It is closed once nobody uses it and it is not kept any more.
type walked struct {
	dir      string // as asked for
	anywhere bool
	place    place
	walks    *Walks
	uses     int
	dropped  bool
}

// Forget drops what is kept, so that the next walk begins at the root.
func (w *Walks) Forget() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.kept {
		k.drop()
	}
	w.kept = nil
}

// drop is called with mu held.
func (k *walked) drop() {
	if k.dropped = true; k.uses == 0 {
		_ = k.place.dir.Close()
	}
}

// take gives the place of a path whose directory is kept; nil when it is not.
func (w *Walks) take(dir, base string, anywhere bool) *place {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.kept, func(k *walked) bool { return k.anywhere == anywhere && k.dir == dir })
	if i < 0 {
		return nil
	}
	k := w.kept[i]
	if last := len(w.kept) - 1; i != last {
		w.kept = append(slices.Delete(w.kept, i, i+1), k)
	}
	return k.lend(base)
}

// lend is called with mu held.
func (k *walked) lend(base string) *place {
	k.uses++
	at := k.place
	at.base, at.dir = base, &lent{ReadDir: k.place.dir, of: k}
	return &at
}

// keep takes over the directory that a walk ended in, and lends it to who walked.
func (w *Walks) keep(dir string, anywhere bool, at *place) *place {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := &walked{dir: dir, anywhere: anywhere, place: *at, walks: w}
	if len(w.kept) == maxWalks {
		w.kept[0].drop()
		w.kept = slices.Delete(w.kept, 0, 1)
	}
	w.kept = append(w.kept, k)
	return k.lend(at.base)
}

// lent is a kept directory in use. It is closed once, by its one user.
type lent struct {
	fsys.ReadDir
	of *walked
}

// Close gives the directory back.
func (l *lent) Close() error {
	w := l.of.walks
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.of.uses--; l.of.uses == 0 && l.of.dropped {
		return l.ReadDir.Close()
	}
	return nil
}

// find walks to the parent of a path for looking.
func (t Tree) find(p string, anywhere bool) (*place, error) {
	cut := strings.LastIndexByte(p, '/')
	if t.Walks != nil {
		if at := t.Walks.take(p[:cut], p[cut+1:], anywhere); at != nil {
			return at, nil
		}
	}
	w := walker{Tree: t, open: openToLook, root: t.FS.Root, anywhere: anywhere}
	at, err := w.parents(p)
	if t.Walks != nil && err == nil && at.dir != nil {
		at = t.Walks.keep(p[:cut], anywhere, at)
	}
	return at, err
}
