// Package conformance is the suite that every plugin passes, whatever language it is written in: that it keeps the
// boundary's rules, is granted no more than it uses, is deterministic, judges each resource by itself, takes nothing
// for absent that it could not see, and fails when its effect fails.
//
// It knows no type; what a type decides is tested beside the type.
package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/resource"
)

// Subject is a plugin and what it is tried with.
type Subject struct {
	// Modules holds <type>.json, <type>.observe.wasm and <type>.apply.wasm.
	Modules fs.FS
	Type    string
	// Resources are different ones of the type, at least two, in as many ways as the type has.
	Resources []resource.Resource
	// Host makes a host that the resources are looked for on; some should be in sync there and some not.
	Host func() host.Asker
	// Cache is a folder that may keep compiled modules; empty for none.
	Cache string
}

// T is the part of testing.T that the rules use.
type T interface {
	Context() context.Context
	Cleanup(func())
	TempDir() string
	Helper()
	Log(args ...any)
	Logf(format string, args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Runner is what the suite runs under: *testing.T in a test, *Trial elsewhere.
type Runner[R any] interface {
	T
	Run(name string, f func(R)) bool
}

// Run holds the subject against every rule.
func Run[R Runner[R]](t R, s Subject) {
	if len(s.Resources) < 2 {
		t.Fatal("conformance needs two resources at least")
	}
	store, err := plugin.NewStore(s.Modules, plugin.CacheConfig{Dir: s.Cache}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	c := &suite{Subject: s, store: store}
	for _, rule := range []struct {
		name string
		hold func(T)
	}{
		{"outside", c.outside},
		{"sound", c.sound},
		{"deterministic", c.deterministic},
		{"each resource by itself", c.independent},
		{"a long list", c.long},
		{"a host that says nothing", c.blind},
		{"odd replies and records", c.odd},
		{"apply", c.apply},
		{"an effect that fails", c.failing},
		{"an unknown verb", c.unknownVerb},
		{"remembered", c.remembered},
	} {
		if c.loops {
			return // each further rule would wait for it again
		}
		t.Run(rule.name, func(t R) { rule.hold(t) })
	}
}

type suite struct {
	Subject
	store *plugin.Store
	// loops says that a module did not come to an end.
	loops bool
}

// few gives the first resources, for rules that take each by itself.
func (c *suite) few() []resource.Resource { return c.Resources[:min(12, len(c.Resources))] }

// outcome is what a plugin says of resources.
type outcome struct {
	observed  []drift.Observation
	decisions []*drift.Decision
}

func (c *suite) look(t T, store *plugin.Store, asker host.Asker, rs []resource.Resource, options ...plugin.Option) (outcome, []string) {
	t.Helper()
	r := store.Reading(t.Context(), asker, options...)
	defer r.Close()
	observed, err := r.Observe(t.Context(), c.Type, rs)
	if err != nil {
		t.Fatal(err)
	}
	var in []drift.DiffInput
	for i, o := range observed {
		if o.Unobservable == nil {
			in = append(in, drift.DiffInput{Resource: rs[i], Observation: o})
		}
	}
	some, err := r.Diff(t.Context(), c.Type, in)
	if err != nil {
		t.Fatal(err)
	}
	out := outcome{observed: observed, decisions: make([]*drift.Decision, len(rs))}
	for i, o := range observed {
		if o.Unobservable == nil {
			out.decisions[i], some = some[0], some[1:]
		}
	}
	for i := range rs {
		if why := out.broken(i); strings.Contains(why, plugin.CauseTime) {
			c.loops = true
			t.Fatalf("%s: %s; the rules that follow were not tried", rs[i].ID, why)
		}
	}
	return out, r.Ran()
}

func (c *suite) run(t T, asker host.Asker, rs []resource.Resource) outcome {
	t.Helper()
	out, _ := c.look(t, c.store, asker, rs, plugin.AlwaysRun())
	return out
}

// broken says why the plugin broke on a resource, empty when it did not.
func (o outcome) broken(i int) string {
	if u := o.observed[i].Unobservable; u != nil && u.Code == plugin.CodeFailed {
		return u.Text
	}
	if d := o.decisions[i]; d != nil && d.Reason.Code == plugin.CodeFailed {
		return d.Reason.Text
	}
	return ""
}

func (c *suite) outside(t T) {
	for _, phase := range []plugin.Phase{plugin.ObservePhase, plugin.ApplyPhase} {
		in, err := c.store.Inspect(c.Type, phase)
		if err != nil {
			t.Fatal(err)
		}
		if in.Refusal != "" {
			t.Errorf("the %s module would not be loaded: %s", phase, in.Refusal)
		}
		if len(in.Unused) > 0 {
			t.Errorf("%s is granted %s and does not import it: grant no more than is used", phase, strings.Join(in.Unused, ", "))
		}
		for _, im := range in.Imports {
			if phase == plugin.ObservePhase && im.Module == "gyrum:write" {
				t.Errorf("the observe module imports %s.%s", im.Module, im.Name)
			}
		}
	}
}

func (c *suite) sound(t T) {
	out := c.run(t, c.Host(), c.Resources)
	for i, r := range c.Resources {
		if why := out.broken(i); why != "" {
			t.Errorf("%s: %s", r.ID, why)
		}
		// Observe and diff are handed on as JSON and hashed: only canonical records keep one form.
		for _, raw := range []json.RawMessage{out.observed[i].Observed, out.observed[i].Facts} {
			if len(raw) > 0 && !json.Valid(raw) {
				t.Errorf("%s: %s", r.ID, raw)
			}
		}
	}
}

func (c *suite) deterministic(t T) {
	first := c.run(t, c.Host(), c.Resources)
	for range 3 {
		if again := c.run(t, c.Host(), c.Resources); !reflect.DeepEqual(first, again) {
			t.Fatalf("the same host, and not the same answer:\n%s\n%s", show(first), show(again))
		}
	}
}

func (c *suite) independent(t T) {
	together := c.run(t, c.Host(), c.Resources)
	reversed := slices.Clone(c.Resources)
	slices.Reverse(reversed)
	back := c.run(t, c.Host(), reversed)
	slices.Reverse(back.observed)
	slices.Reverse(back.decisions)
	if !reflect.DeepEqual(together, back) {
		t.Errorf("in another order the answers differ:\n%s\n%s", show(together), show(back))
	}
	for i, r := range c.few() {
		alone := c.run(t, c.Host(), []resource.Resource{r})
		if !reflect.DeepEqual(alone.observed[0], together.observed[i]) || !reflect.DeepEqual(alone.decisions[0], together.decisions[i]) {
			t.Errorf("%s alone and among others differ:\n%s\n%s", r.ID, show(alone), show(together))
		}
	}
}

func (c *suite) long(t T) {
	var rs []resource.Resource
	for len(rs) < 2500 {
		rs = append(rs, c.Resources...)
	}
	want := c.run(t, c.Host(), c.Resources)
	got := c.run(t, c.Host(), rs)
	for i := range rs {
		if why := got.broken(i); why != "" {
			t.Fatalf("resource %d of %d: %s", i, len(rs), why)
		}
		if k := i % len(c.Resources); !reflect.DeepEqual(got.observed[i], want.observed[k]) || !reflect.DeepEqual(got.decisions[i], want.decisions[k]) {
			t.Fatalf("resource %d of %d is another than in a short list", i, len(rs))
		}
	}
}

// blind shows that nothing is absent, or in sync, because it could not be seen.
func (c *suite) blind(t T) {
	for _, code := range []string{"permission-denied", "unavailable", "a-code-of-the-future"} {
		for _, r := range c.few() {
			asker := &fixed{reply: `{"error":{"code":"` + code + `","text":"nothing can be seen"}}`}
			out := c.run(t, asker, []resource.Resource{r})
			if why := out.broken(0); why != "" {
				t.Errorf("%s, %s: %s", r.ID, code, why)
				continue
			}
			if asker.asked == 0 || out.observed[0].Unobservable != nil {
				continue
			}
			if d := out.decisions[0]; d == nil || d.Severity != drift.SeverityError {
				t.Errorf("%s: the host could not tell (%s), and the plugin says %s", r.ID, code, show(out))
			}
		}
	}
}

// odd shows that nothing which a host or a manifest could say breaks more than the resource itself: every call ends.
func (c *suite) odd(t T) {
	for _, reply := range []string{`{}`, `{"exists":"yes"}`, `{"error":{}}`, `{"error":null}`, `{"error":"no"}`, `{"exists":true,"mode":null,"kind":7}`,
		`{"a":` + strings.Repeat(`[`, 400) + strings.Repeat(`]`, 400) + `}`, `{"text":"` + strings.Repeat("long ", 50000) + `"}`} {
		c.run(t, &fixed{reply: reply}, c.Resources)
	}
	for _, view := range []string{`{}`, `{"id":null,"path":7,"name":[]}`, `{"path":"` + strings.Repeat("/long", 20000) + `"}`} {
		rs := []resource.Resource{{Type: c.Type, ID: c.Type + ":odd", View: json.RawMessage(view), Declared: json.RawMessage(view)}, c.Resources[0]}
		got := c.run(t, c.Host(), rs)
		want := c.run(t, c.Host(), rs[1:])
		if !reflect.DeepEqual(got.observed[1], want.observed[0]) {
			t.Errorf("an odd record %.40s changes what is said of its neighbour", view)
		}
	}
}

// acting calls f for some resources on which the plugin would act, of every verb that it names.
func (c *suite) acting(t T, f func(r resource.Resource, o drift.Observation, d *drift.Decision)) {
	t.Helper()
	out := c.run(t, c.Host(), c.Resources)
	verbs := map[drift.Verb]int{}
	for i, d := range out.decisions {
		if d == nil || d.Severity == drift.SeverityError || d.Verb == drift.Noop {
			continue
		}
		if verbs[d.Verb]++; verbs[d.Verb] <= 4 {
			f(c.Resources[i], out.observed[i], d)
		}
	}
}

func (c *suite) apply(t T) {
	acted := 0
	c.acting(t, func(r resource.Resource, o drift.Observation, d *drift.Decision) {
		doer := &fixed{reply: `{}`}
		_, err := c.store.Writing(t.Context(), c.Host(), doer).Apply(t.Context(), r, o, drift.Action{Verb: d.Verb, Params: d.Params})
		var failed *plugin.ActionError
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("%s: %v", r.ID, err)
		}
		if err == nil && doer.asked == 0 {
			t.Errorf("%s: %s says that it worked and did nothing", r.ID, d.Verb)
		}
		acted++
	})
	if acted == 0 {
		t.Error("no resource is in drift on the host; conformance needs one to apply")
	}
}

func (c *suite) failing(t T) {
	c.acting(t, func(r resource.Resource, o drift.Observation, d *drift.Decision) {
		doer := &fixed{reply: `{"error":{"code":"io","text":"the effect failed"}}`}
		_, err := c.store.Writing(t.Context(), c.Host(), doer).Apply(t.Context(), r, o, drift.Action{Verb: d.Verb, Params: d.Params})
		var failed *plugin.ActionError
		if !errors.As(err, &failed) {
			t.Errorf("%s: its effect failed, and %s says %v", r.ID, d.Verb, err)
		} else if !strings.Contains(failed.Text, "the effect failed") {
			t.Errorf("%s: the error does not say why: %s", r.ID, failed.Text)
		}
	})
}

func (c *suite) unknownVerb(t T) {
	info, err := c.store.Info(c.Type)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range append(drift.Verbs(), "obliterate", "") {
		if slices.Contains(info.Manifest.Verbs, verb) {
			continue
		}
		doer := &fixed{reply: `{}`}
		_, err := c.store.Writing(t.Context(), c.Host(), doer).Apply(t.Context(), c.Resources[0], drift.Observation{}, drift.Action{Verb: verb})
		if err == nil || doer.asked > 0 {
			t.Errorf("the verb %q, which the type does not have: %v, %d effects", verb, err, doer.asked)
		}
	}
}

// remembered shows that the plugin's answers can be remembered: its second look needs no module.
func (c *suite) remembered(t T) {
	store, err := plugin.NewStore(c.Modules, plugin.CacheConfig{Dir: filepath.Join(t.TempDir(), "cache")}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	first, _ := c.look(t, store, c.Host(), c.Resources)
	second, ran := c.look(t, store, c.Host(), c.Resources)
	if !reflect.DeepEqual(first, second) {
		t.Errorf("remembered:\n%s\n%s", show(first), show(second))
	}
	if len(ran) > 0 {
		t.Error("the module ran again on a host that had not changed: it asks or answers differently each time")
	}
}

// fixed gives one reply to everything and counts.
type fixed struct {
	mu    sync.Mutex
	reply string
	asked int
}

func (f *fixed) Ask(context.Context, string, []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return []byte(f.reply), nil
}

func (f *fixed) Do(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return f.Ask(ctx, capability, request)
}

func show(o outcome) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", " ")
	if err := enc.Encode([]any{o.observed, o.decisions}); err != nil {
		return err.Error()
	}
	return b.String()
}
