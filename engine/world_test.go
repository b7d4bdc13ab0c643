package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/resource"
)

// world is a host and its plugins in a few maps: files and packages are a word each, a unit remembers with which words it
// was started.
type world struct {
	mu     sync.Mutex
	values map[string]string            // resource id to its present word; absent when missing
	groups map[string]bool              // groups that exist, besides root
	units  map[string]map[string]string // running unit to the words of its inputs when it started
	unseen map[string]string            // ids that cannot be observed
	noise  int                          // stands in volatile fields
	fail   map[string]error             // ids whose action fails
	after  map[string]func()            // what else happens once an id's action is done
	before map[string]func()            // what happens just before an id is observed for its action
	looks  int
	did    []string // "verb id", in order
	ended  int      // how often Finish was called
	// settled counts the calls of Settle, unsettled is what they end with.
	settled   int
	unsettled error
	power     *hosttest.Power // when set, each action is an effect that it counts
}

func newWorld() *world {
	return &world{values: map[string]string{}, groups: map[string]bool{}, units: map[string]map[string]string{}, unseen: map[string]string{},
		fail: map[string]error{}, after: map[string]func(){}, before: map[string]func(){}}
}

// spec is what the test's resources declare.
type spec struct {
	Type   string   `json:"type"`
	ID     string   `json:"id"`
	Path   string   `json:"path,omitempty"`
	Name   string   `json:"name,omitempty"`
	State  string   `json:"state,omitempty"`
	Want   string   `json:"want,omitempty"`
	Group  string   `json:"group,omitempty"`
	Inputs []string `json:"restart_on,omitempty"`
	Held   bool     `json:"held,omitempty"`
	Again  bool     `json:"again,omitempty"` // a command that is not idempotent
	// Creates and UnitFile enter no decision of the test's plugins.
	Creates  string `json:"creates,omitempty"`
	UnitFile string `json:"unit_file,omitempty"`
}

func file(p, want string) spec { return spec{Type: "file", ID: "file:" + p, Path: p, Want: want} }
func dir(p string) spec        { return spec{Type: "directory", ID: "directory:" + p, Path: p, Want: "made"} }
func pkg(n string) spec        { return spec{Type: "package", ID: "package:" + n, Name: n, Want: "1"} }
func unit(n string, inputs ...string) spec {
	return spec{Type: "systemd_unit", ID: "systemd_unit:" + n, Name: n, State: "started", Inputs: inputs}
}
func command(n string, again bool) spec {
	return spec{Type: "command", ID: "command:" + n, Want: "ran", Again: again}
}

func (s spec) resource(role string) resource.Resource {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return resource.Resource{Role: role, Type: s.Type, ID: s.ID, Declared: raw, View: raw}
}

func specOf(r resource.Resource) spec {
	var s spec
	if err := json.Unmarshal(r.Declared, &s); err != nil {
		panic(err)
	}
	return s
}

func (w *world) Warm(...string) {}

func (w *world) Observe(ctx context.Context, typ string, rs []resource.Resource) ([]drift.Observation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	if w.power != nil {
		if err := w.power.On(); err != nil {
			return nil, err
		}
	}
	out := make([]drift.Observation, len(rs))
	for i, r := range rs {
		s := specOf(r)
		if hook := w.before[s.ID]; hook != nil && len(rs) == 1 {
			hook()
		}
		if why, ok := w.unseen[s.ID]; ok {
			out[i].Unobservable = &drift.Reason{Code: "unobservable", Text: why}
			continue
		}
		out[i] = w.observe(s)
	}
	return out, nil
}

func (w *world) observe(s spec) drift.Observation {
	word, exists := w.values[s.ID]
	o := drift.Observation{Observed: raw("null")}
	switch s.Type {
	case "systemd_unit":
		started, active := w.units[s.Name]
		stale := ""
		for _, in := range s.Inputs {
			if active && started[in] != w.values[in] {
				stale = in
			}
		}
		o.Observed = raw(`{"active":%t,"enabled":true,"unit_file_present":true,"sub_state":"%d"}`, active, w.noise)
		o.Facts = raw(`{"stale":%q}`, stale)
		o.Inputs = s.Inputs
		o.PackageMayStart = s.State == "stopped" && !active
		return o
	case "package":
		if exists {
			o.Observed = raw(`{"installed":true,"version":%q,"architecture":"all%d"}`, word, w.noise)
		}
	case "command":
		o.Observed = raw(`{"has_run":%t}`, exists && !s.Again)
		return o
	default:
		if exists {
			o.Observed = raw(`{"exists":true,"sha256":%q,"size":%d}`, word, w.noise)
		}
		for _, id := range slices.Sorted(maps.Keys(w.values)) {
			if _, p, _ := strings.Cut(id, ":"); s.Type == "directory" && s.State == "absent" && path.Dir(p) == s.Path {
				o.Inputs = append(o.Inputs, p)
			}
		}
		parent := path.Dir(s.Path)
		_, made := w.values["directory:"+parent]
		o.Facts = raw(`{"no_parent":%t,"no_group":%t}`, !made && parent != "/" && parent != "/etc" && !strings.HasPrefix(parent, "/etc/systemd"), s.Group != "" && !w.groups[s.Group])
	}
	return o
}

func raw(format string, args ...any) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(format, args...))
}

func (w *world) Diff(ctx context.Context, typ string, in []drift.DiffInput) ([]*drift.Decision, error) {
	out := make([]*drift.Decision, len(in))
	for i, d := range in {
		out[i] = decide(specOf(d.Resource), d)
	}
	return out, nil
}

func decide(s spec, in drift.DiffInput) *drift.Decision {
	var seen struct {
		SHA256  string `json:"sha256"`
		Version string `json:"version"`
		Exists  bool   `json:"exists"`
		HasRun  bool   `json:"has_run"`
		Active  bool   `json:"active"`
	}
	var facts struct {
		Stale    string `json:"stale"`
		NoParent bool   `json:"no_parent"`
		NoGroup  bool   `json:"no_group"`
	}
	_ = json.Unmarshal(in.Observation.Observed, &seen)
	_ = json.Unmarshal(in.Observation.Facts, &facts)
	d := &drift.Decision{Severity: drift.SeverityDrift, Verb: drift.Write, Reason: drift.Reason{Code: "content-differs", Text: "has " + seen.SHA256}}
	if s.Held {
		d.Blocked = "the package is on hold"
	}
	switch s.Type {
	case "systemd_unit":
		switch {
		case s.State == "stopped" && (seen.Active || len(in.Changing.Package) > 0):
			d.Verb, d.Reason.Code = drift.Stop, "package-may-start"
		case s.State == "stopped":
			return nil
		case !seen.Active:
			d.Verb, d.Params, d.Reason.Code = drift.Start, raw(`{"enable":true}`), "not-running"
		case facts.Stale != "":
			d.Verb, d.Params, d.Reason.Code = drift.Start, raw(`{"restart":true}`), "stale"
		case len(in.Changing.Inputs) > 0:
			d.Verb, d.Params, d.Reason = drift.Start, raw(`{"restart":true}`), drift.Reason{Code: "input-changes", Text: strings.Join(in.Changing.Inputs, " ")}
		default:
			return nil
		}
		return d
	case "package":
		if seen.Version == s.Want {
			return nil
		}
		d.Verb, d.Reason.Code = drift.Install, "not-installed"
		return d
	case "command":
		if seen.HasRun {
			return nil
		}
		d.Verb, d.Reason.Code = drift.Run, "has-not-run"
		if s.Again {
			no := false
			d.Severity, d.Idempotent, d.Reason.Code = drift.SeverityWarn, &no, "not-idempotent"
		}
		return d
	}
	if s.State == "absent" {
		if !seen.Exists {
			return nil
		}
		d.Verb = drift.Remove
		if slices.ContainsFunc(in.Observation.Inputs, func(entry string) bool { return !slices.Contains(in.Changing.Inputs, entry) }) {
			d.Blocked = "not empty"
		}
		return d
	}
	if seen.SHA256 == s.Want {
		return nil
	}
	if facts.NoParent {
		d.Needs = append(d.Needs, drift.Need{Kind: "path", Name: path.Dir(s.Path), Text: path.Dir(s.Path) + " does not exist"})
	}
	if facts.NoGroup {
		d.Needs = append(d.Needs, drift.Need{Kind: "group", Name: s.Group, Text: "group " + s.Group + " does not exist"})
	}
	return d
}

// hand is the writing side of a world.
type hand struct {
	*world
	on host.EffectFunc
}

func (w *world) newHand(ctx context.Context, on host.EffectFunc) (Hand, error) {
	return &hand{w, on}, nil
}

func (h *hand) Apply(ctx context.Context, r resource.Resource, obs drift.Observation, action drift.Action) (json.RawMessage, error) {
	s := specOf(r)
	e := host.Effect{Resource: s.ID, Name: string(action.Verb), Target: s.Path + s.Name}
	if err := h.on("before", e, nil); err != nil {
		return nil, err
	}
	h.mu.Lock()
	err := h.fail[s.ID]
	if h.power != nil {
		err = h.power.Effect()
	}
	if err == nil || h.power == nil {
		h.did = append(h.did, string(action.Verb)+" "+s.ID)
	}
	if err == nil {
		switch action.Verb {
		case drift.Start:
			started := map[string]string{}
			for _, in := range s.Inputs {
				started[in] = h.values[in]
			}
			h.units[s.Name] = started
		case drift.Stop:
			delete(h.units, s.Name)
		case drift.Remove:
			delete(h.values, s.ID)
		default:
			h.values[s.ID] = s.Want
		}
		if hook := h.after[s.ID]; hook != nil {
			hook()
		}
	}
	h.mu.Unlock()
	return nil, errors.Join(err, h.on("after", e, err))
}

func (h *hand) Settle(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settled++
	return h.unsettled
}

func (h *hand) Finish(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended++
	return nil
}

// lock is a journal.Locker in memory.
type lock struct {
	mu    sync.Mutex
	owner *journal.Owner
}

func (l *lock) Lock(path string, owner journal.Owner) (func() error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner != nil {
		return nil, &journal.LockedError{Path: path, Owner: *l.owner}
	}
	l.owner = &owner
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.owner = nil
		return nil
	}, nil
}

func (l *lock) Peek(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner != nil {
		return &journal.LockedError{Path: path, Owner: *l.owner}
	}
	return nil
}

// counter is a source of randomness that is the same in every run.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.n
	}
	c.n++
	return len(p), nil
}

// bench is a world with everything around it that an apply needs.
type bench struct {
	*world
	t    *testing.T
	fs   *hosttest.FS
	lock *lock
	o    ApplyOptions
}

const stateDir = "/var/lib/gyrum"

var epoch = time.Date(2026, 5, 6, 10, 0, 0, 0, time.UTC)

// newBench declares the resources for roles given as "role" or "role<required,required", each followed by its specs.
func newBench(t *testing.T, declared ...any) *bench {
	t.Helper()
	b := &bench{world: newWorld(), t: t, fs: hosttest.NewFS(hosttest.NewPower()), lock: &lock{}}
	var tick time.Duration
	var mu sync.Mutex
	b.o = ApplyOptions{
		CheckOptions: CheckOptions{
			Plugins: b.world, State: b.fs, StateDir: stateDir, Running: b.lock,
			Clock: func() time.Time {
				mu.Lock()
				defer mu.Unlock()
				tick += 5 * time.Millisecond
				return epoch.Add(tick)
			},
			Random: &counter{},
		},
		StateFS: b.fs, Locker: b.lock, NewHand: b.newHand, AutoConfirm: true,
	}
	for _, typ := range []string{"command", "directory", "file", "package", "systemd_unit"} {
		b.o.Modules = append(b.o.Modules, Module{Type: typ, Observe: "sha256:observe-" + typ, Apply: "sha256:apply-" + typ})
	}
	b.declare(declared...)
	return b
}

func (b *bench) declare(declared ...any) {
	b.t.Helper()
	b.o.Target = Target{Host: "t", Catalog: drift.Catalog{Digest: "sha256:catalog"}}
	for _, d := range declared {
		switch d := d.(type) {
		case string:
			name, requires, _ := strings.Cut(d, "<")
			role := Role{Name: name}
			if requires != "" {
				role.Requires = strings.Split(requires, ",")
			}
			b.o.Target.Roles = append(b.o.Target.Roles, role)
		case spec:
			b.o.Target.Resources = append(b.o.Target.Resources, d.resource(b.o.Target.Roles[len(b.o.Target.Roles)-1].Name))
		default:
			b.t.Fatalf("%T is neither a role nor a resource", d)
		}
	}
}

func (b *bench) check() *drift.Report {
	b.t.Helper()
	r, err := Check(context.Background(), b.o.CheckOptions)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) apply() *ApplyResult {
	b.t.Helper()
	r, err := Apply(context.Background(), b.o)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// has puts words in place, as another hand would.
func (b *bench) has(specs ...spec) {
	for _, s := range specs {
		b.values[s.ID] = s.Want
	}
}

// state gives the journal's view of the host.
func (b *bench) state() journal.State {
	b.t.Helper()
	s, err := journal.Load(b.fs, stateDir)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// entries shows a report's items as "verb id severity", with "!" behind what is blocked.
func entries(r *drift.Report) []string {
	out := []string{}
	for _, it := range r.Items {
		line := string(it.Action.Verb) + " " + it.Resource.ID
		if it.Severity != drift.SeverityDrift {
			line += " " + string(it.Severity)
		}
		if it.Blocked != "" {
			line += " !"
		}
		out = append(out, line)
	}
	return out
}

// results shows a report's items as "id status".
func results(r *drift.Report) []string {
	out := []string{}
	for _, it := range r.Items {
		status := "none"
		if it.Result != nil {
			status = string(it.Result.Status)
		}
		out = append(out, it.Resource.ID+" "+status)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// frozen is a copy of the world's words, to see what a run changed.
func (w *world) frozen() map[string]string { return maps.Clone(w.values) }

var _ fsys.FS = (*hosttest.FS)(nil)
