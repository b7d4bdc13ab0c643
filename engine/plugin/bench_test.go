package plugin

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/resource"
)

func benchResources(n int) ([]resource.Resource, *fakeHost) {
	h := &fakeHost{stats: map[string]string{}}
	rs := make([]resource.Resource, n)
	for i := range rs {
		path := fmt.Sprintf("/etc/app/conf.d/part-%04d.conf", i)
		rs[i] = probeResource(path)
		h.stats[path] = statReply("0644")
	}
	return rs, h
}

// BenchmarkLoad loads one stock-Go module that the cache holds.
func BenchmarkLoad(b *testing.B) {
	dir := filepath.Join(sharedDir(b), "cache")
	probeStore(b, DefaultLimits()).Prime()
	for b.Loop() {
		s := newTestStore(b, probeModules(b), CacheConfig{Dir: dir}, DefaultLimits())
		if err := s.types["probe"].observe.ready(); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkLoadCold compiles it.
func BenchmarkLoadCold(b *testing.B) {
	for b.Loop() {
		s := newTestStore(b, probeModules(b), CacheConfig{}, DefaultLimits())
		if err := s.types["probe"].observe.ready(); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkWarm loads six types at once.
func BenchmarkWarm(b *testing.B) {
	files := fstest.MapFS{}
	var types []string
	for i := range 6 {
		name := fmt.Sprintf("probe%d", i)
		types = append(types, name)
		manifest := []byte(fmt.Sprintf(`{"plugin":{"type":%q,%s`, name, probeManifest[len(`{"plugin":{"type":"probe",`):]))
		files[name+".json"] = &fstest.MapFile{Data: manifest}
		// Another byte in a custom section makes another module of it, with an entry of its own.
		files[name+".observe.wasm"] = &fstest.MapFile{Data: append(append([]byte{}, probeModules(b)["probe.observe.wasm"].Data...), 0, 3, 1, 'x', byte(i))}
	}
	dir := filepath.Join(sharedDir(b), "cache")
	load := func() {
		s := newTestStore(b, files, CacheConfig{Dir: dir}, DefaultLimits())
		r := s.Reading(b.Context(), &fakeHost{}, AlwaysRun())
		r.Warm(types...)
		s.Close()
	}
	load()
	for b.Loop() {
		load()
	}
}

// BenchmarkObserve is a call of a loaded module with a batch, a new instance included.
func BenchmarkObserve(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := probeStore(b, DefaultLimits())
			rs, h := benchResources(n)
			r := s.Reading(b.Context(), h, AlwaysRun())
			defer r.Close()
			b.ReportAllocs()
			for b.Loop() {
				h.asked = h.asked[:0]
				o, err := r.Observe(b.Context(), "probe", rs)
				if err != nil || o[0].Unobservable != nil {
					b.Fatal(err, o[0].Unobservable)
				}
			}
		})
	}
}

// BenchmarkTrace is a check of a type, observe and diff, that traces answer, in a new store as a new process has it.
func BenchmarkTrace(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "cache")
			rs, h := benchResources(n)
			check := func() bool {
				h.asked = h.asked[:0]
				s := newTestStore(b, probeModules(b), CacheConfig{Dir: dir}, DefaultLimits())
				s.types["probe"].manifest.Digests = map[Phase]string{ObservePhase: probeDigest(b)}
				r := s.Reading(b.Context(), h)
				o, err := r.Observe(b.Context(), "probe", rs)
				if err != nil || o[0].Unobservable != nil {
					b.Fatal(err, o[0].Unobservable)
				}
				in := make([]drift.DiffInput, n)
				for i := range in {
					in[i] = drift.DiffInput{Resource: rs[i], Observation: o[i]}
				}
				if _, err := r.Diff(b.Context(), "probe", in); err != nil {
					b.Fatal(err)
				}
				r.Close()
				return s.types["probe"].observe.native != nil
			}
			check()
			b.ReportAllocs()
			for b.Loop() {
				if check() {
					b.Fatal("the module was loaded")
				}
			}
		})
	}
}

func probeDigest(t testing.TB) string { return digestOf(probeModules(t)["probe.observe.wasm"].Data) }
