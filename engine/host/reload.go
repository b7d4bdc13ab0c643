package host

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

// markFile is the mark, in the state folder, of unit files that changed and that the service manager has not read yet. It
// is durable before the change, so that a run that is cut short leaves it for the next one.
const markFile = "reload-due.json"

// unitPath is where systemd looks for unit files (systemd.unit(5)), in the spellings that a merged /usr gives them.
var unitPath = []string{
	"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", "/etc/systemd/system.attached",
	"/run/systemd/system.attached", "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system",
}

// unitChange is one entry of the mark.
type unitChange struct {
	// Path is the file, Resource the id of the item that changes it.
	Path     string `json:"path"`
	Resource string `json:"resource"`
}

// inUnitPath says whether systemd reads a path as a unit file, a drop-in or a link of one.
func (r *Reader) inUnitPath(p string) bool {
	p = path.Clean(p)
	spellings := []string{p}
	if real, err := r.tree.Resolve(p); err == nil {
		spellings = append(spellings, real)
	}
	return slices.ContainsFunc(spellings, func(p string) bool {
		return slices.ContainsFunc(unitPath, func(dir string) bool { return strings.HasPrefix(p, dir+"/") })
	})
}

// unitOf gives the unit whose definition a path is part of; a template gives a template, and a drop-in for a whole type
// of units gives nothing.
func unitOf(p string) string {
	name := path.Base(p)
	if dir := path.Base(path.Dir(p)); strings.HasSuffix(dir, ".d") {
		name = strings.TrimSuffix(dir, ".d")
	}
	if strings.HasPrefix(name, ".") || !strings.Contains(name, ".") {
		return ""
	}
	return name
}

func (w *Writer) markPath() string { return path.Join(w.r.cfg.StateDir, markFile) }

// marked reads the mark.
func (w *Writer) marked() ([]unitChange, error) {
	s, err := w.r.tree.Stat(w.markPath())
	if err != nil || !s.Exists {
		return nil, err
	}
	raw, err := w.r.tree.Read(w.markPath(), 16<<20)
	if err != nil {
		return nil, err
	}
	var changes []unitChange
	if err := json.Unmarshal(raw, &changes); err != nil {
		return nil, fault.New(fault.Invalid, "%s is damaged: run systemctl daemon-reload and remove it: %w", w.markPath(), err)
	}
	return changes, nil
}

// mark writes the mark; without changes it goes away.
func (w *Writer) mark(changes []unitChange) error {
	if len(changes) == 0 {
		return w.tree.Remove(w.markPath())
	}
	raw, err := canonical.Marshal(changes)
	if err != nil {
		return err
	}
	if err := w.tree.MakeOwn(w.r.cfg.StateDir); err != nil {
		return err
	}
	state, err := w.r.tree.Stat(w.r.cfg.StateDir)
	if err != nil {
		return err
	}
	return w.tree.Replace(w.markPath(), raw, files.Owner{Mode: 0o600, UID: w.r.cfg.Self, GID: state.GID})
}

// marking performs a change of a file, with the mark around it when systemd reads that file.
func (w *Writer) marking(ctx context.Context, e Effect, perform func() error) error {
	if !w.r.inUnitPath(e.Target) {
		return perform()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before, err := w.marked()
	if err != nil {
		return err
	}
	c := unitChange{path.Clean(e.Target), e.Resource}
	if !slices.Contains(before, c) {
		if err := w.mark(append(slices.Clone(before), c)); err != nil {
			return fmt.Errorf("marking the reload that %s makes due: %w", e.Target, err)
		}
	}
	defer w.r.cfg.Units.Forget()
	err = perform()
	if err == nil || ctx.Err() != nil {
		return err
	}
	// Nothing is due for a change that did not happen.
	if now, derr := w.digestNow(e.Target); derr == nil && now == e.Before {
		_ = w.mark(before)
	}
	return err
}

// Settle reloads if that is due. The engine calls it before it looks at a unit that it is about to act on, so that it sees the
// unit as its files have it now.
func (w *Writer) Settle(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes, err := w.marked()
	if err != nil || len(changes) == 0 {
		return err
	}
	return w.reloadLocked(ctx, changes[0].Resource, changes[0].Path, changes)
}

// reload reloads whether or not it is due.
func (w *Writer) reload(ctx context.Context, id, target string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes, err := w.marked()
	if err != nil {
		return err
	}
	return w.reloadLocked(ctx, id, target, changes)
}

func (w *Writer) reloadLocked(ctx context.Context, id, target string, changes []unitChange) error {
	defer w.r.cfg.Units.Forget()
	err := w.effect(Effect{Resource: id, Name: DaemonReload, Target: target}, func() error { return w.cfg.Units.Reload(ctx) })
	if err != nil {
		return fault.Of(fmt.Errorf("daemon-reload: %w", err))
	}
	for _, c := range changes {
		if err := w.resetFailed(ctx, c); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return w.mark(nil)
}

// resetFailed clears the failures that the old definition of a unit has left.
func (w *Writer) resetFailed(ctx context.Context, c unitChange) error {
	unit := unitOf(c.Path)
	if unit == "" {
		return nil
	}
	failed, err := w.cfg.Units.Failed(ctx, unit)
	if err != nil {
		return fault.Of(fmt.Errorf("%s: whether it has failed: %w", unit, err))
	}
	for _, name := range failed {
		e := Effect{Resource: c.Resource, Name: "reset_failed", Target: name}
		if err := w.effect(e, func() error { return w.cfg.Units.ResetFailed(ctx, name) }); err != nil {
			return fault.Of(fmt.Errorf("%s: reset-failed: %w", name, err))
		}
	}
	return nil
}
