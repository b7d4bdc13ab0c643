package hosttest

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/systemd"
)

// Units is a service manager over the unit files of an FS. It implements systemd.Manager and systemd.Control, so that
// everything above the bus is the real code. It knows services of the types simple, oneshot and notify, and treats
// every other unit as one that is up as soon as it is started. A service whose ExecStart begins with /bin/false fails
// at once, one with /bin/true ends at once.
//
// Each change of a unit is one effect. What runs survives the end of the program that asked; Reboot plays a power cut.
type Units struct {
	Power *Power
	FS    *FS

	mu      sync.Mutex
	loaded  map[string]*unitFile
	read    map[string]reading // by unit
	last    int64              // when all unit files were read last
	boot    int64
	running map[string]*daemon
	failed  map[string]string // unit to result
	enabled map[string]bool
	starts  map[string]int
	count   int // invocations
}

// reading is what the files of a unit say in one state of the file system; nil when there are none.
type reading struct {
	state uint64
	file  *unitFile
}

// daemon is a unit that is up.
type daemon struct {
	invocation string
	start      int64
	from       map[string]string // content by path, as it was at the start
}

// NewUnits makes a manager that has just come up.
func NewUnits(power *Power, fs *FS) *Units {
	u := &Units{Power: power, FS: fs, enabled: map[string]bool{}, starts: map[string]int{}, read: map[string]reading{}}
	u.reset()
	return u
}

func (u *Units) reset() {
	u.loaded, u.running, u.failed = map[string]*unitFile{}, map[string]*daemon{}, map[string]string{}
	u.boot = u.FS.Now().UnixNano()
	u.last = u.boot
}

func (u *Units) tree() files.Tree { return files.Tree{FS: u.FS} }

// files reads a unit's files, unless nothing changed since it did.
func (u *Units) files(name string) (*unitFile, error) {
	if err := u.Power.On(); err != nil {
		return nil, err
	}
	state := u.FS.current()
	if r, ok := u.read[name]; ok && r.state == state {
		return r.file, nil
	}
	f, err := readUnit(u.tree(), name)
	if err == nil {
		u.read[name] = reading{state, f}
	}
	return f, err
}

// Reboot ends everything and starts the enabled units anew.
func (u *Units) Reboot() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.reset()
	for _, name := range slices.Sorted(maps.Keys(u.enabled)) {
		if err := u.startNamed(name); err != nil {
			return err
		}
	}
	return nil
}

// RunsFrom gives the content of a path as it was when the unit was started: what a test holds against what is there now.
func (u *Units) RunsFrom(name, p string) (content string, running bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := u.running[name]
	if r == nil {
		return "", false
	}
	return r.from[p], true
}

// Starts counts how often a unit was started.
func (u *Units) Starts(name string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.starts[name]
}

// Set brings a unit up or down, as somebody else would.
func (u *Units) Set(name string, up bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !up {
		delete(u.running, name)
		return nil
	}
	return u.startNamed(name)
}

// SetEnabled changes the enable state, as somebody else would.
func (u *Units) SetEnabled(name string, enabled bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.setEnabled(name, enabled)
}

func (u *Units) setEnabled(name string, enabled bool) {
	if enabled {
		u.enabled[name] = true
		return
	}
	delete(u.enabled, name)
}

// State describes every unit that is up, enabled or failed, for comparing hosts.
func (u *Units) State() map[string]string {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := map[string]string{}
	for name := range u.running {
		s[name] += "running "
	}
	for name := range u.enabled {
		s[name] += "enabled "
	}
	for name, result := range u.failed {
		s[name] += "failed " + result
	}
	return s
}

// load reads a unit's definition. One that runs or is enabled is pinned: it keeps the definition that it has until all unit
// files are read anew. Others are forgotten and read again each time, as systemd does.
func (u *Units) load(name string) (*unitFile, error) {
	if f := u.loaded[name]; f != nil && (u.running[name] != nil || u.enabled[name]) {
		return f, nil
	}
	f, err := u.files(name)
	if err != nil {
		return nil, err
	}
	u.loaded[name] = f
	return f, nil
}

// Properties tells of a unit.
func (u *Units) Properties(_ context.Context, name string) (systemd.Properties, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.Power.On(); err != nil {
		return systemd.Properties{}, err
	}
	f, err := u.load(name)
	if err != nil {
		return systemd.Properties{}, err
	}
	p := systemd.Properties{ID: name, LoadState: "not-found", ActiveState: "inactive", SubState: "dead", CanStart: true}
	if f != nil {
		p.LoadState, p.Fragment, p.DropIns = "loaded", f.fragment, f.dropIns
		p.Type, p.RemainAfterExit = f.last("Service.Type"), f.last("Service.RemainAfterExit") == "yes"
		for _, e := range f.settings["Service.EnvironmentFile"] {
			pattern, missing := strings.CutPrefix(e, "-")
			p.EnvironmentFiles = append(p.EnvironmentFiles, systemd.EnvironmentFile{Pattern: pattern, Missing: missing})
		}
		if f.masked {
			p.LoadState = "masked"
		}
		if p.Type == "" && strings.HasSuffix(name, ".service") {
			p.Type = "simple"
		}
		if p.NeedReload, err = u.changed(name, f); err != nil {
			return p, err
		}
	}
	if r := u.running[name]; r != nil {
		p.ActiveState, p.SubState, p.Invocation, p.InactiveExit = "active", "running", r.invocation, r.start
		if u.starts[name] > 1 {
			p.InactiveEnter = r.start
		}
	} else if result, ok := u.failed[name]; ok {
		p.ActiveState, p.SubState, p.Result, p.ExecMainCode, p.ExecMainStatus = "failed", "failed", result, 1, 1
	}
	return p, nil
}

// changed says whether the files of a definition are not those that were read.
func (u *Units) changed(name string, f *unitFile) (bool, error) {
	now, err := u.files(name)
	if err != nil || now == nil {
		return err == nil, err
	}
	return !maps.Equal(now.mtimes, f.mtimes), nil
}

// FileState tells the enable word.
func (u *Units) FileState(_ context.Context, name string) (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.Power.On(); err != nil {
		return "", err
	}
	f, err := u.files(name)
	switch {
	case err != nil || f == nil:
		return "", err
	case f.masked:
		return "masked", nil
	case u.enabled[name]:
		return "enabled", nil
	case !installable(f):
		return "static", nil
	}
	return "disabled", nil
}

func installable(f *unitFile) bool {
	return f.last("Install.WantedBy") != "" || f.last("Install.RequiredBy") != "" || f.last("Install.Alias") != ""
}

// Loads tells when unit files were read.
func (u *Units) Loads(context.Context) (systemd.Loads, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return systemd.Loads{Boot: u.boot, Last: u.last}, u.Power.On()
}

// Failed lists failed units.
func (u *Units) Failed(_ context.Context, pattern string) ([]string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var names []string
	for name := range u.failed {
		if ok, err := path.Match(strings.ReplaceAll(pattern, `\`, `\\`), name); ok && err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, u.Power.On()
}

// Job starts, stops or restarts a unit.
func (u *Units) Job(_ context.Context, kind systemd.JobKind, name string) (string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f, err := u.load(name)
	if err != nil {
		return "", err
	}
	if kind != systemd.JobStop && (f == nil || f.masked) {
		return "", fault.New(fault.Invalid, "%s: systemd says: Unit %s not found or masked.", name, name)
	}
	if err := u.Power.Effect(); err != nil {
		return "", err
	}
	if kind != systemd.JobStart {
		delete(u.running, name)
	}
	if kind == systemd.JobStop || u.running[name] != nil {
		return "done", nil
	}
	if err := u.start(name, f); err != nil {
		return "", err
	}
	if u.failed[name] != "" {
		return "failed", nil
	}
	return "done", nil
}

// startNamed starts a unit if there is one.
func (u *Units) startNamed(name string) error {
	f, err := u.load(name)
	if err != nil || f == nil || f.masked || u.running[name] != nil {
		return err
	}
	return u.start(name, f)
}

// start runs a unit from a definition that was loaded and from its environment files as they are.
func (u *Units) start(name string, f *unitFile) error {
	u.starts[name]++
	delete(u.failed, name)
	command := f.last("Service.ExecStart")
	switch {
	case strings.HasPrefix(command, "/bin/false"):
		u.failed[name] = "exit-code"
		return nil
	case strings.HasPrefix(command, "/bin/true"), f.last("Service.Type") == "oneshot" && f.last("Service.RemainAfterExit") != "yes":
		return nil
	}
	u.count++
	r := &daemon{invocation: fmt.Sprintf("%032x", u.count), start: u.FS.Now().UnixNano(), from: map[string]string{}}
	maps.Copy(r.from, f.contents)
	var paths []string
	for _, e := range f.settings["Service.EnvironmentFile"] {
		found, err := glob(u.tree(), strings.TrimPrefix(e, "-"))
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	for _, p := range paths {
		content, _ := u.FS.Content(p)
		r.from[p] = content
	}
	u.running[name] = r
	return nil
}

// Hold does nothing: the model forgets no unit.
func (u *Units) Hold(context.Context, string) func() { return func() {} }

// EnableFile links a unit for the next boot.
func (u *Units) EnableFile(_ context.Context, name string) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	f, err := u.files(name)
	switch {
	case err != nil:
		return false, err
	case f == nil || f.masked:
		return false, fault.New(fault.Invalid, "%s: systemd says: Unit file %s does not exist or is masked.", name, name)
	case !installable(f):
		return false, nil
	}
	if err := u.Power.Effect(); err != nil {
		return false, err
	}
	u.setEnabled(name, true)
	return true, nil
}

// DisableFile removes the links.
func (u *Units) DisableFile(_ context.Context, name string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.Power.Effect(); err != nil {
		return err
	}
	u.setEnabled(name, false)
	return nil
}

// Reload reads all unit files anew.
func (u *Units) Reload(context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.Power.Effect(); err != nil {
		return err
	}
	u.last = u.FS.Now().UnixNano()
	for name := range u.loaded {
		f, err := u.files(name)
		if err != nil {
			return err
		}
		u.loaded[name] = f
	}
	return nil
}

// ResetFailed clears a failure.
func (u *Units) ResetFailed(_ context.Context, name string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.Power.Effect(); err != nil {
		return err
	}
	delete(u.failed, name)
	return nil
}

// Sleep lets the model's time pass at once; it makes Units a systemd.Clock.
func (u *Units) Sleep(context.Context, time.Duration) { u.FS.Now() }
