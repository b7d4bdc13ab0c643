package systemd

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"gyrum.ai/engine/host"
)

// Packages is what is asked about packages that restart_on names; host.Packages has it.
type Packages interface {
	Package(ctx context.Context, name string) (host.PackageState, error)
}

// Units answers for the units of a host. It implements host.Units.
type Units struct {
	manager  Manager
	packages Packages
	records  Records
	// installed gives the files whose times are those of a package's installation, likeliest first.
	installed func(name, arch string) []string
	glob      func(pattern string) ([]string, error)

	mu      sync.Mutex
	loads   *Loads
	loaded  map[string]Record
	started map[string]moment
	seen    []int64          // every load that this process has witnessed
	born    map[string]int64 // the ctimes of unit files that this process has seen appear, by their path without /usr
}

// moment is what was known of a running unit when it was started or looked at; a later reload would blur it.
type moment struct {
	invocation string
	same       bool
}

// Config is what Units needs beside the manager. Every field is required.
type Config struct {
	Packages Packages
	Records  Records
	// Installed gives the files whose times are those of a package's installation, likeliest first.
	Installed func(name, arch string) []string
	// Glob gives the paths that match an EnvironmentFile= pattern, sorted.
	Glob func(pattern string) ([]string, error)
}

// NewUnits makes the reading side.
func NewUnits(m Manager, c Config) *Units {
	return &Units{manager: m, packages: c.Packages, records: c.Records, installed: c.Installed, glob: c.Glob, started: map[string]moment{}}
}

// Forget drops everything that was remembered.
func (u *Units) Forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.loaded, u.loads = nil, nil
}

// answer is what the manager says of one unit.
type answer struct {
	state string
	p     Properties
	err   error
}

// ask asks both questions at once, so that they cost one round trip.
func (u *Units) ask(ctx context.Context, name string) answer {
	var a answer
	asked := make(chan error, 1)
	go func() {
		var err error
		a.p, err = u.manager.Properties(ctx, name)
		asked <- err
	}()
	a.state, a.err = u.manager.FileState(ctx, name)
	if err := <-asked; a.err == nil {
		a.err = err
	}
	return a
}

// loadTimes asks for the loads once until Forget.
func (u *Units) loadTimes(ctx context.Context) (Loads, error) {
	u.mu.Lock()
	known := u.loads
	u.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	l, err := u.manager.Loads(ctx)
	if err != nil {
		return Loads{}, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.loads = &l
	u.witness(l)
	return l, nil
}

// witness keeps the moment of a load.
func (u *Units) witness(l Loads) {
	if !slices.Contains(u.seen, l.Last) {
		u.seen = append(u.seen, l.Last)
	}
}

// Unit tells of one unit.
func (u *Units) Unit(ctx context.Context, q host.UnitQuery) (host.UnitState, error) {
	p, state, j, err := u.look(ctx, q)
	if err != nil {
		return host.UnitState{}, err
	}
	s := host.UnitState{
		LoadState: p.LoadState, ActiveState: p.ActiveState, SubState: p.SubState, UnitFileState: state,
		NeedDaemonReload: p.NeedReload, ServiceType: p.Type, RemainAfterExit: p.RemainAfterExit, Fragment: p.Fragment,
		Result: p.Result, ExecMainStatus: p.ExecMainStatus, CanStart: p.CanStart, Job: p.Job,
		TriggeredBy: []string{}, Inputs: j.names, Freshness: j.State, StaleInputs: append([]string{}, j.Judgement.Inputs...),
		FreshnessText: j.Text,
	}
	if state == "alias" && p.ID != q.Name {
		s.AliasOf = p.ID
		if s.AliasState, err = u.manager.FileState(ctx, p.ID); err != nil {
			return host.UnitState{}, err
		}
	}
	if s.UnitFilePresent, err = filePresent(q, p.Fragment, state); err != nil {
		return host.UnitState{}, err
	}
	triggers := slices.Clone(p.TriggeredBy)
	slices.Sort(triggers)
	for _, t := range triggers {
		tp, err := u.manager.Properties(ctx, t)
		if err != nil {
			return host.UnitState{}, err
		}
		if tp.ActiveState == "active" {
			s.TriggeredBy = append(s.TriggeredBy, t)
		}
	}
	return s, nil
}

// filePresent says whether the unit's file is there: the declared one, else the one that the manager loaded it from, else
// any that it finds for the name without having loaded it yet.
func filePresent(q host.UnitQuery, fragment, state string) (bool, error) {
	if q.UnitFile == "" && fragment == "" {
		return state != "", nil
	}
	fact, err := q.Look(cmp.Or(q.UnitFile, fragment))
	if err != nil && q.UnitFile == "" {
		return true, nil // it was loaded from there, and nothing that was declared hangs on it
	}
	return fact.Exists, err
}

// judged is a judgement with the inputs that it is about.
type judged struct {
	Judgement
	names  []string
	inputs []Input
}

// look asks the manager and judges. An input that cannot be examined makes the state unknown, not the unit unseen.
func (u *Units) look(ctx context.Context, q host.UnitQuery) (Properties, string, judged, error) {
	a := u.ask(ctx, q.Name)
	if a.err != nil {
		return Properties{}, "", judged{}, a.err
	}
	p, state := a.p, a.state
	inputs, err := u.inputs(ctx, p, q)
	if err != nil {
		return Properties{}, "", judged{}, err
	}
	j := judged{inputs: inputs, names: []string{}}
	for _, in := range inputs {
		j.names = append(j.names, in.Name)
	}
	if !p.Running() {
		j.Judgement = Judge(Process{}, inputs, nil)
		return p, state, j, nil
	}
	loads, err := u.loadTimes(ctx)
	if err != nil {
		return Properties{}, "", judged{}, err
	}
	j.Judgement = Judge(u.process(q.Name, p, loads), inputs, u.record(q.Name))
	if p.LoadState == "not-found" && j.State == Fresh {
		j.Judgement = Judgement{State: Unknown, Text: "it runs, but its unit file is gone"}
	}
	return p, state, j, nil
}

// process says what is known of the running process, also from having started it.
func (u *Units) process(name string, p Properties, l Loads) Process {
	u.mu.Lock()
	defer u.mu.Unlock()
	r := Process{
		Running: true, Invocation: p.Invocation, Start: p.InactiveExit, Loads: append([]int64{l.Boot, l.Last}, u.seen...), SameDefinition: sameDefinition(p, l),
	}
	if born, ok := u.born[strings.TrimPrefix(p.Fragment, "/usr")]; ok {
		// The unit cannot have been loaded before its file was there.
		r.Loads = append(r.Loads, born+1)
	}
	if m, ok := u.started[name]; ok && m.invocation == p.Invocation {
		r.SameDefinition = r.SameDefinition || m.same && !p.NeedReload
	}
	if r.SameDefinition {
		u.started[name] = moment{p.Invocation, true}
	}
	return r
}

// sameDefinition: see Process.
func sameDefinition(p Properties, l Loads) bool {
	return p.InactiveExit != 0 && p.InactiveEnter == 0 && l.Last < p.InactiveExit && !p.NeedReload
}

// note keeps what is known right after a start; a later daemon-reload would blur it.
func (u *Units) note(ctx context.Context, name string, p Properties) {
	l, err := u.manager.Loads(ctx)
	if err != nil {
		return // then the times must do
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.witness(l)
	u.started[name] = moment{p.Invocation, sameDefinition(p, l)}
}

// inputs gathers what the unit is started from: its fragment, drop-ins, environment files, and what restart_on names.
func (u *Units) inputs(ctx context.Context, p Properties, q host.UnitQuery) ([]Input, error) {
	var inputs []Input
	seen := map[string]bool{}
	add := func(in Input) {
		if !seen[in.Name] {
			seen[in.Name] = true
			inputs = append(inputs, in)
		}
	}
	var files []string
	if p.Fragment != "" {
		files = append(files, p.Fragment)
	}
	for _, f := range append(files, p.DropIns...) {
		in, err := u.file(q, f, f)
		if err != nil {
			return nil, err
		}
		in.UnitFile, in.Generated = true, strings.HasPrefix(f, "/run/systemd/generator")
		if in.Generated && p.Source != "" {
			source, err := u.file(q, p.Source, p.Source)
			if err != nil {
				return nil, err
			}
			in.MTime, in.CTime = source.MTime, source.CTime
		}
		add(in)
	}
	for _, e := range p.EnvironmentFiles {
		paths := []string{e.Pattern}
		if strings.ContainsAny(e.Pattern, "*?[") {
			var err error
			if paths, err = u.glob(e.Pattern); err != nil {
				return nil, err
			}
		}
		for _, f := range paths {
			in, err := u.file(q, f, f)
			if err != nil {
				return nil, err
			}
			add(in)
		}
	}
	for _, r := range q.RestartOn {
		in, err := u.resource(ctx, q, r)
		if err != nil {
			return nil, err
		}
		if r.Path != "" && seen[r.Path] {
			continue // it is the same file under its path
		}
		add(in)
	}
	return inputs, nil
}

// file examines an input that is a path.
func (u *Units) file(q host.UnitQuery, name, path string) (Input, error) {
	fact, err := q.Look(path)
	if err != nil {
		return Input{}, err
	}
	in := Input{Name: name, Absent: !fact.Exists, Digest: fact.Digest, MTime: fact.MTime, CTime: fact.CTime}
	if in.Absent {
		in.Digest = "absent"
	}
	return in, nil
}

// resource examines an input that restart_on names.
func (u *Units) resource(ctx context.Context, q host.UnitQuery, r host.UnitInput) (Input, error) {
	if r.Package == "" {
		return u.file(q, r.ID, r.Path)
	}
	s, err := u.packages.Package(ctx, r.Package)
	if err != nil {
		return Input{}, err
	}
	if !s.Installed {
		return Input{Name: r.ID, Absent: true, Digest: "absent"}, nil
	}
	in := Input{Name: r.ID, Digest: s.Version}
	base, _, _ := strings.Cut(r.Package, ":")
	for _, f := range u.installed(base, s.Architecture) {
		fact, err := q.Look(f)
		if err != nil {
			return Input{}, err
		}
		if fact.Exists {
			in.MTime, in.CTime = fact.MTime, fact.CTime
			break
		}
	}
	return in, nil
}
