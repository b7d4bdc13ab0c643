package plugin

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gyrum.ai/engine/internal/tinywasm"
)

// bare is an observe module of which a test says what observe does. It may import wasi's random_get as function 0.
func bare(pages int, observe string, more func(m *tinywasm.Module)) []byte {
	m := tinywasm.New(pages)
	m.Import(moduleWASI, "random_get", "ii>i")
	run := m.Func("i>i", 2, observe)
	m.Export("observe", run).Export("diff", run)
	m.Export("_initialize", m.Func(">", 0, ""))
	m.Export("gyrum_abi", m.Func(">i", 0, "i32.const 1"))
	if more != nil {
		more(m) // its first function is the fourth, after the one that is imported
	}
	return m.ExportMemory("memory").Bytes()
}

// runBare runs it for a second at most.
func runBare(ctx context.Context, s *Store) error {
	_, _, _, err := s.types["probe"].observe.run(ctx, "observe", []byte("x"), nil, s.limits.budget(1), time.Second)
	return err
}

const (
	allMemory = "i32.const 1023\nmemory.grow\ndrop\n"
	fill      = "i32.const 0\ni32.const 255\nmemory.size\ni32.const 16\ni32.shl\nmemory.fill\n"
	move      = "i32.const 0\ni32.const 1\nmemory.size\ni32.const 16\ni32.shl\ni32.const 1\ni32.sub\nmemory.copy\n"
	random    = "i32.const 0\nmemory.size\ni32.const 16\ni32.shl\ncall 0\ndrop\n"
)

// What has no loop is stopped like what has one: functions that each call the next twice, and code that goes straight on for
// minutes because each of its instructions has all memory to do. The bound is far from both a second and minutes.
func TestADeadlineStopsWhatHasNoLoop(t *testing.T) {
	doubling := func(work string) func(m *tinywasm.Module) {
		return func(m *tinywasm.Module) {
			const n = 60
			for i := range n - 1 {
				m.Func(">", 0, work+strings.Repeat(fmt.Sprintf("call %d\n", 4+i+1), 2))
			}
			m.Func(">", 0, work)
		}
	}
	for name, module := range map[string][]byte{
		"calls":       bare(1, "call 4\ni32.const 0", doubling("")),
		"memory.fill": bare(1, allMemory+"call 4\ni32.const 0", doubling(strings.Repeat(fill, 100))),
		"memory.copy": bare(1, allMemory+"call 4\ni32.const 0", doubling(strings.Repeat(move, 100))),
		"an import":   bare(1, allMemory+strings.Repeat(random, 7000)+"i32.const 0", nil),
	} {
		t.Run(name, func(t *testing.T) {
			s := tinyStore(t, module, nil)
			if err := s.types["probe"].observe.ready(); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			err := runBare(t.Context(), s)
			if err == nil || !strings.Contains(err.Error(), "it computed longer than its 1s") {
				t.Errorf("%v", err)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A brake stands behind the declarations of a function's variables, and behind what works on a whole memory or table.
func TestWhereBrakesStand(t *testing.T) {
	const b = "\x03\x40\x0b"
	body := func(code string) []byte { return append([]byte{byte(len(code))}, code...) }
	for name, c := range map[string]struct{ code, want string }{
		"nothing":          {"\x00\x0b", "\x00" + b + "\x0b"},
		"variables":        {"\x02\x03\x7f\x01\x7e\x0b", "\x02\x03\x7f\x01\x7e" + b + "\x0b"},
		"a constant":       {"\x00\x41\xfc\x0b\x1a\x0b", "\x00" + b + "\x41\xfc\x0b\x1a\x0b"}, // whose bytes are those of a fill
		"memory.fill":      {"\x00\xfc\x0b\x00\x0b", "\x00" + b + "\xfc\x0b\x00" + b + "\x0b"},
		"in a long number": {"\x00\xfc\x8b\x00\x00\x0b", "\x00" + b + "\xfc\x8b\x00\x00" + b + "\x0b"},
		"memory.copy":      {"\x00\xfc\x0a\x00\x00\x0b", "\x00" + b + "\xfc\x0a\x00\x00" + b + "\x0b"},
		"memory.init":      {"\x00\xfc\x08\x80\x01\x00\x0b", "\x00" + b + "\xfc\x08\x80\x01\x00" + b + "\x0b"},
		"table.init":       {"\x00\xfc\x0c\x01\x00\x0b", "\x00" + b + "\xfc\x0c\x01\x00" + b + "\x0b"},
		"table.copy":       {"\x00\xfc\x0e\x01\x00\x0b", "\x00" + b + "\xfc\x0e\x01\x00" + b + "\x0b"},
		"table.fill":       {"\x00\xfc\x11\x00\x0b", "\x00" + b + "\xfc\x11\x00" + b + "\x0b"},
		"what drops":       {"\x00\xfc\x09\x00\xfc\x0d\x00\x0b", "\x00" + b + "\xfc\x09\x00\xfc\x0d\x00\x0b"},
		"blocks":           {"\x00\x02\x40\x03\x7f\x04\x40\x05\x0b\x0b\x0e\x02\x00\x01\x00\x0b\x0b", "\x00" + b + "\x02\x40\x03\x7f\x04\x40\x05\x0b\x0b\x0e\x02\x00\x01\x00\x0b\x0b"},
		"numbers":          {"\x00\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x43\xfc\x0b\x00\x00\x44\xfc\x0b\x00\x00\x00\x00\x00\x00\x0b", "\x00" + b + "\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x43\xfc\x0b\x00\x00\x44\xfc\x0b\x00\x00\x00\x00\x00\x00\x0b"},
	} {
		br := &braker{functions: []arity{{}}}
		r := &sectionReader{in: append([]byte{1}, body(c.code)...)}
		got := br.code(r)
		if want := append([]byte{1}, body(c.want)...); r.err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: % x, %v; want % x", name, got, r.err, want)
		}
	}
}

// What cannot be read, or a plugin may not use, is refused before anything compiles it.
func TestCodeThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"no end":             {"\x00\x41\x00", "middle of an entry"},
		"a block open":       {"\x00\x02\x40\x0b", "middle of an entry"},
		"more behind it":     {"\x00\x0b\x0b", "something follows its end"},
		"half a number":      {"\x00\x41\x80", "middle of an entry"},
		"a long number":      {"\x00\x41\x80\x80\x80\x80\x80\x00\x0b", "too long"},
		"a vector":           {"\x00\xfd\x0c\x0b", "without SIMD"},
		"several values":     {"\x00\x02\x01\x0b\x0b", "without multi-value"},
		"table.grow":         {"\x00\xfc\x0f\x00\x0b", "a table grow"},
		"an exception":       {"\x00\x1f\x40\x00\x0b\x0b", "the instruction 0x1f"},
		"an atomic":          {"\x00\xfe\x00\x0b", "the instruction 0xfe"},
		"a tail call":        {"\x00\x12\x00\x0b", "the instruction 0x12"},
		"one of no standard": {"\x00\xfc\x12\x0b", "the instruction 0xfc 18"},
		"no such function":   {"\x00\x10\x07\x0b", "does not exist"},
		"no such type":       {"\x00\x11\x07\x00\x0b", "does not exist"},
	} {
		br := &braker{functions: []arity{{}}}
		r := &sectionReader{in: append([]byte{1, byte(len(c.code))}, c.code...)}
		br.code(r)
		if r.err == nil || !strings.Contains(r.err.Error(), c.want) || !strings.Contains(r.err.Error(), "function 0") {
			t.Errorf("%s: %v, want %q", name, r.err, c.want)
		}
	}
	for name, code := range map[string]string{"more bodies than functions": "\x02\x02\x00\x0b\x02\x00\x0b", "bytes behind the last": "\x01\x02\x00\x0b\x00", "a body cut off": "\x01\x05\x00\x0b"} {
		r := &sectionReader{in: []byte(code)}
		if (&braker{functions: []arity{{}}}).code(r); r.err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// The module that is compiled with brakes and the same one without never share what the cache keeps.
func TestTheCacheKeepsBrakedModulesApart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	files := fstest.MapFS{"probe.json": {Data: []byte(probeManifest)}, "probe.observe.wasm": {Data: tinyModule}}
	load := func(options ...StoreOption) {
		t.Helper()
		s, err := NewStoreWithin(files, CacheConfig{Dir: dir}, testLimits(), func(line string) { t.Error(line) }, options...)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if o := observeOne(t, s, &fakeHost{}, probeResource("/a")); string(o[0].Observed) != `{"tiny":true}` {
			t.Fatalf("%+v", o[0].Unobservable)
		}
	}
	load()
	load(ProgramsOwn())
	load()
	list, err := os.ReadDir(filepath.Join(dir, compiledDir))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	digest := strings.TrimPrefix(digestOf(tinyModule), "sha256:")
	if want := []string{digest, digest + "-" + braking}; strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("entries %v, want %v", names, want)
	}
}

// A type that is added to a store is never the program's own.
func TestWhatIsAddedGetsBrakes(t *testing.T) {
	m, err := ParseManifest([]byte(probeManifest))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStoreWithin(emptyFS{}, CacheConfig{}, testLimits(), func(string) {}, ProgramsOwn())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	vector := bare(1, "i32.const 0", func(m *tinywasm.Module) {})
	vector = bytes.Replace(vector, []byte("\x41\x00\x0b"), []byte("\xfd\x00\x0b"), 1)
	if err := s.Add(m, fstest.MapFS{"probe.observe.wasm": {Data: vector}}); err != nil {
		t.Fatal(err)
	}
	if err := s.types["probe"].observe.ready(); err == nil || !strings.Contains(err.Error(), "without SIMD") {
		t.Errorf("%v", err)
	}
}
