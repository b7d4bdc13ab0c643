package host

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"gyrum.ai/engine/fsys"
)

// watching performs an effect that may change unit files of which nobody tells us, a package's or a command's, and marks
// the reload that they make due. Most packages have systemd read their files themselves; then nothing is due.
func (w *Writer) watching(ctx context.Context, e Effect, perform func() error) error {
	before := w.unitFiles()
	err := perform()
	if ctx.Err() != nil {
		return err
	}
	loaded := w.cfg.Units.Witness(ctx)
	after := w.unitFiles()
	for p, info := range after {
		// dpkg writes a file once, under another name first; a maintainer script's file in /etc may be written twice.
		if _, was := before[p]; !was && strings.HasPrefix(strings.TrimPrefix(p, "/usr"), "/lib/") && info.Kind != fsys.KindDirectory {
			w.cfg.Units.Appeared(p, info.CTime)
		}
	}
	due := unread(before, after, loaded)
	if len(due) == 0 {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	changes, merr := w.marked()
	for _, p := range due {
		if c := (unitChange{p, e.Resource}); !slices.Contains(changes, c) {
			changes = append(changes, c)
		}
	}
	if merr == nil {
		merr = w.mark(changes)
	}
	if merr != nil && err == nil {
		err = fmt.Errorf("marking the reload that %s makes due: %w", e.Target, merr)
	}
	return err
}

// unitFiles looks at every file in systemd's unit path: fragments and drop-ins, by path. What cannot be looked at is left
// out: a change of it is then met when the unit says that it needs a reload.
func (w *Writer) unitFiles() map[string]fsys.Info {
	seen := map[string]fsys.Info{}
	for _, dir := range unitPath {
		real, err := w.r.tree.Resolve(dir)
		if err != nil || real != dir { // the other spelling of a merged /usr
			continue
		}
		w.listUnitFiles(seen, dir, true)
	}
	return seen
}

func (w *Writer) listUnitFiles(seen map[string]fsys.Info, dir string, deeper bool) {
	at, err := w.r.cfg.FS.Root()
	if err != nil {
		return
	}
	for name := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		next, err := at.OpenDir(name)
		at.Close()
		if err != nil {
			return
		}
		at = next
	}
	defer at.Close()
	names, err := at.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		p := path.Join(dir, name)
		info, err := at.Lstat(name)
		switch {
		case err != nil:
		case info.Kind != fsys.KindDirectory:
			seen[p] = info
		case deeper && strings.HasSuffix(name, ".d"):
			seen[p] = fsys.Info{Kind: info.Kind, CTime: info.CTime}
			w.listUnitFiles(seen, p, false)
		}
	}
}

// unread lists the files that changed, came or went and that were not read since; loaded is when all unit files were read last.
// Of a file that went, nothing tells when, so it counts.
func unread(before, after map[string]fsys.Info, loaded int64) []string {
	var due []string
	for p, now := range after {
		if now.Kind != fsys.KindDirectory && before[p] != now && now.CTime >= loaded {
			due = append(due, p)
		}
	}
	for p, was := range before {
		if _, there := after[p]; !there && was.Kind != fsys.KindDirectory {
			due = append(due, p)
		}
	}
	slices.Sort(due)
	return due
}
