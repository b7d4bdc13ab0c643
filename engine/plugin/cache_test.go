package plugin

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"

	"gyrum.ai/engine/internal/tinywasm"
)

// cacheTry opens a store on the tiny module with a cache folder, uses it, and gives what the log said. Whatever the
// folder is, the module works.
func cacheTry(t *testing.T, dir string) string {
	t.Helper()
	var mu sync.Mutex
	var log []string
	s, err := NewStoreWithin(fstest.MapFS{
		"probe.json":         {Data: []byte(probeManifest)},
		"probe.observe.wasm": {Data: tinyModule},
	}, CacheConfig{Dir: dir}, testLimits(), func(line string) {
		mu.Lock()
		defer mu.Unlock()
		log = append(log, line)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if o := observeOne(t, s, &fakeHost{}, probeResource("/a")); string(o[0].Observed) != `{"tiny":true}` {
		t.Fatalf("%+v", o[0].Unobservable)
	}
	return strings.Join(log, "\n")
}

var tinyModule = tiny(`{"results":[{"observed":{"tiny":true}}]}`, func(m *tinywasm.Module) { m.Import(moduleCall, "input", "i>") })

func compiledFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, compiledDir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != sealName {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheCacheIsMadeAndUsed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	if log := cacheTry(t, dir); log != "" {
		t.Error(log)
	}
	files := compiledFiles(t, dir)
	if len(files) != 1 {
		t.Fatalf("entries %v", files)
	}
	before, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if log := cacheTry(t, dir); log != "" {
		t.Error(log)
	}
	if after, err := os.Stat(files[0]); err != nil || !os.SameFile(before, after) {
		t.Errorf("the entry was not used but written anew: %v", err)
	}
	for _, path := range append(files, dir, filepath.Join(dir, compiledDir)) {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v %v", path, info.Mode(), err)
		}
	}
}

func TestDamagedEntriesAreCompiledAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	cacheTry(t, dir)
	path := compiledFiles(t, dir)[0]
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{"empty": {}, "truncated": sound[:len(sound)/2], "longer": append(bytes.Clone(sound), 0)}
	for i := 0; i < len(sound); i += max(1, len(sound)/64) {
		flipped := bytes.Clone(sound)
		flipped[i] ^= 0x10
		damage["byte "+itoa(i)] = flipped
	}
	for name, content := range damage {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		cacheTry(t, dir)
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, sound) {
			t.Errorf("%s: not made anew: %v", name, err)
		}
	}
	// An entry that another hand put there, with a seal that fits.
	if err := os.WriteFile(path, sound[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := seal(filepath.Dir(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if log := cacheTry(t, dir); !strings.Contains(log, "compiling anew") {
		t.Errorf("log: %s", log)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, sound) {
		t.Error("not made anew")
	}
}

// Each of these is a folder that somebody else could change; nothing is loaded from it or left there.
func TestFoldersThatAreNotTrusted(t *testing.T) {
	mkdir := func(path string, mode fs.FileMode) {
		t.Helper()
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chown := func(path string) {
		t.Helper()
		if os.Geteuid() != 0 {
			t.Skip("needs root: makes a folder of another user")
		}
		if err := os.Lchown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		want  string
		setup func(base string) (dir string)
	}{
		"loose mode":  {"mode 0755", func(b string) string { mkdir(b+"/c", 0o755); return b + "/c" }},
		"group's":     {"mode 0770", func(b string) string { mkdir(b+"/c", 0o770); return b + "/c" }},
		"world's":     {"mode 0777", func(b string) string { mkdir(b+"/c", 0o777); return b + "/c" }},
		"open parent": {"can be written by others", func(b string) string { mkdir(b+"/p", 0o777); return b + "/p/c" }},
		"open group":  {"can be written by others", func(b string) string { mkdir(b+"/p", 0o770); return b + "/p/c" }},
		"open far":    {"can be written by others", func(b string) string { mkdir(b+"/p", 0o777); mkdir(b+"/p/q", 0o700); return b + "/p/q/c" }},
		"foreign":     {"belongs to uid 65534", func(b string) string { mkdir(b+"/c", 0o700); chown(b + "/c"); return b + "/c" }},
		"foreign far": {"belongs to uid 65534", func(b string) string { mkdir(b+"/p", 0o755); chown(b + "/p"); return b + "/p/c" }},
		"a file":      {"no directory", func(b string) string { os.WriteFile(b+"/c", nil, 0o600); return b + "/c" }},
		"a link":      {"is a symlink", func(b string) string { mkdir(b+"/real", 0o700); os.Symlink("real", b+"/c"); return b + "/c" }},
		"foreign link": {"symlink", func(b string) string {
			mkdir(b+"/real", 0o700)
			os.Symlink("real", b+"/l")
			chown(b + "/l")
			return b + "/l/c"
		}},
		"link to open": {"can be written by others", func(b string) string {
			mkdir(b+"/p", 0o777)
			mkdir(b+"/p/real", 0o700)
			os.Symlink("p/real", b+"/l")
			return b + "/l/c"
		}},
		"link loop": {"too many symlinks", func(b string) string { os.Symlink("l", b+"/l"); return b + "/l/c" }},
		"no folder": {"no directory", func(b string) string { os.WriteFile(b+"/f", nil, 0o600); return b + "/f/c" }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := c.setup(t.TempDir())
			if log := cacheTry(t, dir); !strings.Contains(log, c.want) {
				t.Errorf("the log lacks %q: %s", c.want, log)
			}
			if list, _ := os.ReadDir(dir); len(list) > 1 || len(list) == 1 && list[0].Name() != "real" {
				t.Errorf("something was left there: %v", list)
			}
		})
	}
}

// A sticky directory such as /tmp is one in which nobody can move what is ours; a link of ours is ours, too.
func TestFoldersThatAreTrusted(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(base, "tmp"), 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tmp", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"tmp/c", "link/d", "plain"} {
		if log := cacheTry(t, filepath.Join(base, dir)); log != "" {
			t.Errorf("%s: %s", dir, log)
		}
	}
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	cacheTry(t, dir)
	mountReadOnly(t, dir)
	if log := cacheTry(t, dir); strings.Contains(log, "compil") {
		t.Errorf("a sound entry needs no writing: %s", log)
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	empty(dir)
	mountReadOnly(t, dir)
	if log := cacheTry(t, dir); !strings.Contains(log, "read-only file system") {
		t.Errorf("log: %s", log)
	}
}

// mountReadOnly binds a folder over itself without write permission, which stops root, too.
func mountReadOnly(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts a folder read-only")
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("needs mount(2): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// Stores that share a folder, as processes do, disturb each other neither when it is empty nor when it is damaged.
func TestStoresThatShareACache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for round := range 3 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { cacheTry(t, dir) })
		}
		wg.Wait()
		if round == 1 {
			path := compiledFiles(t, dir)[0]
			if err := os.Truncate(path, 40); err != nil {
				t.Fatal(err)
			}
		}
	}
}
