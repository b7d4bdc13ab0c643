package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/plugin/tape"
	"gyrum.ai/engine/resource"
)

// look is a check of the probe's type, as a process does it: observe, diff of the first round, and one of a second.
type look struct {
	observed      []drift.Observation
	first, second []*drift.Decision
	// loaded says that the module was needed.
	loaded bool
}

func lookAt(t testing.TB, dir string, l Limits, h host.Asker, rs []resource.Resource, changing []string, options ...Option) look {
	t.Helper()
	s := newTestStore(t, probeModules(t), CacheConfig{Dir: dir}, l)
	defer s.Close()
	out := lookWith(t, s, h, rs, changing, options...)
	if out.loaded != (s.types["probe"].observe.native != nil) {
		t.Error("a module was loaded that did not run, or the other way round")
	}
	return out
}

func lookWith(t testing.TB, s *Store, h host.Asker, rs []resource.Resource, changing []string, options ...Option) look {
	t.Helper()
	r := s.Reading(t.Context(), h, options...)
	defer r.Close()
	var out look
	var err error
	if out.observed, err = r.Observe(t.Context(), "probe", rs); err != nil {
		t.Fatal(err)
	}
	var first, second []drift.DiffInput
	for i := range rs {
		in := drift.DiffInput{Resource: rs[i], Observation: out.observed[i]}
		first = append(first, in)
		for _, c := range changing {
			if slices.Contains(out.observed[i].Inputs, c) {
				in.Changing.Inputs = append(in.Changing.Inputs, c)
				second = append(second, in)
			}
		}
	}
	if out.first, err = r.Diff(t.Context(), "probe", first); err != nil {
		t.Fatal(err)
	}
	if out.second, err = r.Diff(t.Context(), "probe", second); err != nil {
		t.Fatal(err)
	}
	out.loaded = len(r.Ran()) > 0
	return out
}

func sameLook(a, b look) bool {
	a.loaded = b.loaded
	return reflect.DeepEqual(a, b)
}

// tracedDir has the compiled module, so that a look which needs it is quick, and no traces.
func tracedDir(t testing.TB) string {
	t.Helper()
	shared := filepath.Join(sharedDir(t), "cache")
	probeStore(t, testLimits()).Prime()
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.CopyFS(filepath.Join(dir, compiledDir), os.DirFS(filepath.Join(shared, compiledDir))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, compiledDir)} {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list, _ := os.ReadDir(filepath.Join(dir, compiledDir))
	for _, e := range list {
		if err := os.Chmod(filepath.Join(dir, compiledDir, e.Name()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheSecondLookLoadsNothing(t *testing.T) {
	dir := tracedDir(t)
	h := &fakeHost{stats: map[string]string{"/a": statReply("0644"), "/b": statReply("0600")}}
	rs := []resource.Resource{probeResource("/a"), probeResource("/b"), probeResource("/c")}
	changing := []string{"/a.in"}
	first := lookAt(t, dir, testLimits(), h, rs, changing)
	asked := slices.Clone(h.asked)
	h.asked = nil
	second := lookAt(t, dir, testLimits(), h, rs, changing)
	if !first.loaded || second.loaded {
		t.Errorf("loaded %v, then %v", first.loaded, second.loaded)
	}
	if !sameLook(first, second) {
		t.Errorf("%+v\nand then\n%+v", first, second)
	}
	if !slices.Equal(asked, h.asked) {
		t.Errorf("the host was asked\n%v\nand then\n%v", asked, h.asked)
	}

	// Another state of the host, and back: both are remembered.
	h.stats["/c"] = statReply("0644")
	if drifted := lookAt(t, dir, testLimits(), h, rs, changing); !drifted.loaded || drifted.first[2] != nil {
		t.Errorf("%+v", drifted)
	}
	if again := lookAt(t, dir, testLimits(), h, rs, changing); again.loaded {
		t.Error("the second state was not remembered")
	}
	delete(h.stats, "/c")
	if back := lookAt(t, dir, testLimits(), h, rs, changing); back.loaded || !sameLook(first, back) {
		t.Errorf("the first state was forgotten: %+v", back)
	}
	if fresh := lookAt(t, dir, testLimits(), h, rs, changing, AlwaysRun()); !fresh.loaded || !sameLook(first, fresh) {
		t.Errorf("%+v", fresh)
	}
	h.stats["/c"] = statReply("0644")
	if again := lookAt(t, dir, testLimits(), h, rs, changing); again.loaded {
		t.Error("a run of the module made it forget another state")
	}
}

// At the first reply that differs the module runs, on the replies that were just given and the rest anew: the host is
// asked nothing twice.
func TestNothingIsAskedTwice(t *testing.T) {
	dir := tracedDir(t)
	h := &fakeHost{stats: map[string]string{}}
	var rs []resource.Resource
	for _, name := range strings.Split("abcdef", "") {
		rs = append(rs, probeResource("/"+name))
		h.stats["/"+name] = statReply("0644")
	}
	lookAt(t, dir, testLimits(), h, rs, nil)
	h.asked = nil
	h.stats["/d"] = statReply("0600")
	if l := lookAt(t, dir, testLimits(), h, rs, nil); !l.loaded || l.first[3] == nil {
		t.Errorf("%+v", l)
	}
	if len(h.asked) != len(rs) {
		t.Errorf("asked %v", h.asked)
	}
}

func TestWhatMakesAnotherTrace(t *testing.T) {
	dir := tracedDir(t)
	h := &fakeHost{stats: map[string]string{"/a": statReply("0644")}}
	rs := []resource.Resource{probeResource("/a"), probeResource("/b")}
	lookAt(t, dir, testLimits(), h, rs, nil)
	if lookAt(t, dir, testLimits(), h, rs, nil).loaded {
		t.Fatal("no trace was kept")
	}
	limits := testLimits()
	limits.Calls++
	if !lookAt(t, dir, limits, h, rs, nil).loaded {
		t.Error("other limits: the trace was used")
	}
	other := []resource.Resource{rs[0], probeResource("/b", "mode", "0600")}
	if !lookAt(t, dir, testLimits(), h, other, nil).loaded {
		t.Error("another record: the trace was used")
	}
	if !lookAt(t, dir, testLimits(), h, []resource.Resource{rs[1], rs[0]}, nil).loaded {
		t.Error("another order: the trace was used")
	}
	box := func(m string, module []byte) *sandbox {
		parsed, err := ParseManifest([]byte(m))
		if err != nil {
			t.Fatal(err)
		}
		return &sandbox{manifest: parsed, phase: ObservePhase, limits: testLimits(), modules: probeFS(m, module)}
	}
	key := func(b *sandbox, export string) traceKey {
		k, err := b.traceKey(export, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(box(probeManifest, []byte("module")), "observe")
	if base != key(box(probeManifest, []byte("module")), "observe") {
		t.Error("the key is not stable")
	}
	for name, k := range map[string]traceKey{
		"module":     key(box(probeManifest, []byte("another")), "observe"),
		"export":     key(box(probeManifest, []byte("module")), "diff"),
		"capability": key(box(strings.Replace(probeManifest, `"observe":{`, `"observe":{"package_compare":{"scope":[]},`, 1), []byte("module")), "observe"),
		"verb":       key(box(strings.Replace(probeManifest, `"chmod"`, `"chown"`, 1), []byte("module")), "observe"),
	} {
		if k == base {
			t.Errorf("another %s has the same key", name)
		}
	}
}

// A check of a tape is the check that was recorded, with traces or without.
func TestATapeGivesTheSameLook(t *testing.T) {
	dir := tracedDir(t)
	h := &fakeHost{stats: map[string]string{"/a": statReply("0644"), "/b": statReply("0600")}}
	rs := []resource.Resource{probeResource("/a"), probeResource("/b"), probeResource("/c", "do", "own-id")}
	s := newTestStore(t, probeModules(t), CacheConfig{Dir: dir}, testLimits())
	for range 2 { // by the module, then by its trace
		recorder := tape.NewRecorder(h, rs)
		live := lookWith(t, s, recorder, rs, nil)
		recorded := recorder.Tape(tape.Header{Host: "h"})
		for _, options := range [][]Option{nil, {AlwaysRun()}} {
			player := recorded.Player(rs)
			if played := lookWith(t, s, player, rs, nil, options...); !sameLook(live, played) || player.Missed() > 0 {
				t.Errorf("%s\nand played\n%s", show(live), show(played))
			}
		}
	}
	player := tape.NewRecorder(h, rs).Tape(tape.Header{}).Player(rs)
	for i, o := range lookWith(t, s, player, rs[:2], nil).observed {
		if o.Unobservable == nil {
			t.Errorf("%s, which is on no tape: %+v", rs[i].ID, o)
		}
	}
}

// What went wrong is not remembered, although the rest of the batch came out.
func TestFailuresAreNotRemembered(t *testing.T) {
	for _, do := range []string{"panic", "bad-json", "unknown-member", "other-path", "refuse", "many-calls"} {
		dir := tracedDir(t)
		rs := []resource.Resource{probeResource("/a"), probeResource("/bad", "do", do)}
		for range 2 {
			l := lookAt(t, dir, testLimits(), &fakeHost{}, rs, nil)
			if l.observed[1].Unobservable == nil || !l.loaded {
				t.Errorf("%s: %+v", do, l)
			}
		}
	}
}

// Whatever happens to a trace file, the report stays what it was.
func TestDamagedTracesAreMisses(t *testing.T) {
	dir := tracedDir(t)
	h := &fakeHost{stats: map[string]string{"/a": statReply("0644")}}
	rs := []resource.Resource{probeResource("/a")}
	want := lookAt(t, dir, testLimits(), h, rs, nil)
	files, err := filepath.Glob(filepath.Join(dir, tracesDir, "probe", "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("traces of observe and diff: %v %v", files, err)
	}
	sound := map[string][]byte{}
	for _, f := range files {
		if sound[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	damage := func(name string, change func([]byte) []byte) {
		for f, content := range sound {
			if err := os.WriteFile(f, change(bytes.Clone(content)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if l := lookAt(t, dir, testLimits(), h, rs, nil); !l.loaded || !sameLook(want, l) {
			t.Errorf("%s: %+v", name, l)
		}
	}
	damage("empty", func(b []byte) []byte { return nil })
	damage("half", func(b []byte) []byte { return b[:len(b)/2] })
	damage("longer", func(b []byte) []byte { return append(b, 0) })
	for i := 0; i < 120; i += 7 {
		damage("byte "+itoa(i), func(b []byte) []byte { b[i%len(b)] ^= 1; return b })
	}
	// The trace of another request under this one's name.
	swapped := map[string][]byte{files[0]: sound[files[1]], files[1]: sound[files[0]]}
	for f, content := range swapped {
		if err := os.WriteFile(f, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if l := lookAt(t, dir, testLimits(), h, rs, nil); !l.loaded || !sameLook(want, l) {
		t.Errorf("swapped: %+v", l)
	}
}

// With and without traces every look is the same, whatever is declared, whatever the host is and whatever changes in
// between.
func TestTracesChangeNothing(t *testing.T) {
	remembering := newTestStore(t, probeModules(t), CacheConfig{Dir: tracedDir(t)}, testLimits())
	plain := probeStore(t, testLimits())
	hits := 0
	rapid.Check(t, func(rt *rapid.T) {
		paths := []string{"/a", "/b", "/c", "/d"}
		mode := rapid.SampledFrom([]string{"0644", "0600", "4755"})
		reply := rapid.SampledFrom([]string{"", statReply("0644"), statReply("0600"), `{"error":{"code":"permission-denied","text":"no"}}`, `{}`, `null`})
		var rs []resource.Resource
		for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 0, 4, rapid.ID).Draw(rt, "paths") {
			do := rapid.SampledFrom([]string{"", "", "", "own-id", "count", "panic"}).Draw(rt, "do")
			rs = append(rs, probeResource(p, "mode", mode.Draw(rt, "mode"), "do", do))
		}
		h := &fakeHost{stats: map[string]string{}}
		for range rapid.IntRange(1, 4).Draw(rt, "looks") {
			for _, p := range rapid.SliceOf(rapid.SampledFrom(paths)).Draw(rt, "changed") {
				if r := reply.Draw(rt, "reply"); r == "" {
					delete(h.stats, p)
				} else {
					h.stats[p] = r
				}
			}
			changing := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"/a.in", "/c.in"}), rapid.ID).Draw(rt, "changing")
			traced := lookWith(t, remembering, h, rs, changing)
			without := lookWith(t, plain, h, rs, changing, AlwaysRun())
			if !sameLook(traced, without) {
				rt.Fatalf("with traces\n%s\nwithout\n%s", show(traced), show(without))
			}
			if !traced.loaded {
				hits++
			}
		}
	})
	if hits == 0 {
		t.Error("no trace was ever used")
	}
}

func show(l look) string {
	raw, err := json.MarshalIndent([]any{l.observed, l.first, l.second}, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func TestTraceFoldersAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shrink(dir, 10, 1<<20)
	if list, _ := os.ReadDir(dir); len(list) != 10 {
		t.Errorf("%d files", len(list))
	}
	shrink(dir, 10, 450)
	if list, _ := os.ReadDir(dir); len(list) != 4 {
		t.Errorf("%d files", len(list))
	}
	many := make([]*trace, 10)
	for i := range many {
		many[i] = &trace{results: []json.RawMessage{[]byte(itoa(i))}}
	}
	kept, err := decodeTraces(traceKey{}, encodeTraces(traceKey{}, many))
	if err != nil || len(kept) != maxTraces || string(kept[0].results[0]) != "0" {
		t.Errorf("%v %v", kept, err)
	}
	if encodeTraces(traceKey{}, []*trace{{results: []json.RawMessage{make([]byte, maxTraceBytes)}}}) != nil {
		t.Error("a trace that is too large was kept")
	}
}

func FuzzDecodeTraces(f *testing.F) {
	t := &trace{calls: []tracedCall{{capability: "file_stat", request: []byte(`{"path":"/a"}`)}}, results: []json.RawMessage{[]byte("null")}}
	sound := encodeTraces(traceKey{1}, []*trace{t, t})
	f.Add(sound)
	f.Add(sound[len(traceMagic)+32+32:])
	f.Fuzz(func(t *testing.T, raw []byte) {
		if traces, err := decodeTraces(traceKey{1}, raw); err == nil {
			if again := encodeTraces(traceKey{1}, traces); len(traces) <= maxTraces && again != nil && len(again) > len(raw) {
				t.Errorf("%d bytes became %d", len(raw), len(again))
			}
		}
		// The same bytes behind a checksum that fits, so that the fields are reached.
		sealed := sealTrace(traceKey{1}, raw)
		if traces, err := decodeTraces(traceKey{1}, sealed); err == nil {
			total := 0
			for _, t := range traces {
				total += len(t.calls) + len(t.results)
			}
			if total > len(raw) {
				t.Errorf("%d entries out of %d bytes", total, len(raw))
			}
		}
	})
}
