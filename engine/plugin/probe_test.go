package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"gyrum.ai/engine/resource"
)

const probeManifest = `{"plugin":{"type":"probe","version":1,"abi":1,"verbs":["write","chmod","start"],"decision":"0000-probe",
"observe":{"file_stat":{"scope":["path"]},"content_matches":{"scope":["id"]}},
"apply":{"file_stat":{"scope":["path"]},"file_mode":{"scope":["path"]},"file_replace":{"scope":["path"]}}}}`

// probe holds the modules of testdata/probe, built once by the stock toolchain, and a cache that every test may share.
var probe struct {
	once  sync.Once
	dir   string
	err   error
	files fstest.MapFS
}

func TestMain(m *testing.M) {
	code := m.Run()
	if probe.dir != "" {
		os.RemoveAll(probe.dir)
	}
	os.Exit(code)
}

// probeModules gives a store's folder with the probe under a type's name.
func probeModules(t testing.TB) fstest.MapFS {
	t.Helper()
	probe.once.Do(func() {
		if probe.dir, probe.err = os.MkdirTemp("", "gyrum-probe-"); probe.err != nil {
			return
		}
		probe.files = fstest.MapFS{"probe.json": {Data: []byte(probeManifest)}}
		for _, phase := range []Phase{ObservePhase, ApplyPhase} {
			name := "probe." + string(phase) + ".wasm"
			var raw []byte
			if raw, probe.err = buildGuest("./testdata/probe/"+string(phase), filepath.Join(probe.dir, name)); probe.err != nil {
				return
			}
			probe.files[name] = &fstest.MapFile{Data: raw}
		}
	})
	if probe.err != nil {
		t.Fatal(probe.err)
	}
	files := fstest.MapFS{}
	for name, f := range probe.files {
		files[name] = f
	}
	return files
}

func buildGuest(pkg, out string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, text)
	}
	return os.ReadFile(out)
}

// testLimits stop what misbehaves soon.
func testLimits() Limits {
	l := DefaultLimits()
	l.Time = 4 * time.Second
	return l
}

func probeStore(t testing.TB, limits Limits) *Store {
	t.Helper()
	return newTestStore(t, probeModules(t), CacheConfig{Dir: filepath.Join(sharedDir(t), "cache")}, limits)
}

func sharedDir(t testing.TB) string {
	probeModules(t)
	return probe.dir
}

func newTestStore(t testing.TB, files fs.FS, c CacheConfig, limits Limits) *Store {
	t.Helper()
	s, err := NewStoreWithin(files, c, limits, func(line string) { t.Logf("store: %s", line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// fakeHost answers from a table of paths and notes what it is told to do.
type fakeHost struct {
	mu    sync.Mutex
	stats map[string]string // by path; a missing one does not exist
	asked []string
	done  []string
	delay time.Duration
	fault error
}

func (h *fakeHost) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	if h.delay > 0 {
		select {
		case <-time.After(h.delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, capability+" "+string(request))
	if h.fault != nil {
		return nil, h.fault
	}
	if capability != "file_stat" {
		return []byte(`{"match":"match"}`), nil
	}
	var q struct{ Path string }
	if err := json.Unmarshal(request, &q); err != nil {
		return nil, err
	}
	if reply, ok := h.stats[q.Path]; ok {
		return []byte(reply), nil
	}
	return []byte(`{"exists":false}`), nil
}

func (h *fakeHost) Do(_ context.Context, capability string, request []byte) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, capability+" "+string(request))
	return []byte(`{}`), nil
}

// probeResource declares a path; more are further members, as name and value.
func probeResource(path string, more ...string) resource.Resource {
	record := map[string]string{"id": "probe:" + path, "type": "probe", "path": path, "mode": "0644"}
	for i := 0; i+1 < len(more); i += 2 {
		record[more[i]] = more[i+1]
	}
	view, err := json.Marshal(record) // sorted, and free of what needs escapes
	if err != nil {
		panic(err)
	}
	return resource.Resource{Role: "role", Type: "probe", ID: record["id"], View: view, Declared: bytes.Clone(view)}
}

func statReply(mode string) string { return `{"exists":true,"mode":"` + mode + `"}` }

func lines(list []string) string { return strings.Join(list, "\n") }

// emptyFS is a store without plugins.
type emptyFS struct{}

func (emptyFS) Open(name string) (fs.File, error) { return fstest.MapFS{}.Open(name) }

// probeFS is a folder with one manifest and one module.
func probeFS(manifest string, observe []byte) fstest.MapFS {
	return fstest.MapFS{"probe.json": {Data: []byte(manifest)}, "probe.observe.wasm": {Data: observe}}
}
