package hosttest_test

import (
	"errors"
	"testing"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/hosttest"
)

// write makes or replaces a file in the root as far as it is told to sync.
func write(t *testing.T, fs *hosttest.FS, syncFile, syncDir bool) {
	t.Helper()
	root, err := fs.WritableRoot()
	if err != nil {
		t.Fatal(err)
	}
	f, err := root.Create("new", 0o600)
	if err == nil {
		_, err = f.Write([]byte("new"))
	}
	if err == nil && syncFile {
		err = f.Sync()
	}
	if err == nil {
		err = root.Rename("new", "f")
	}
	if err == nil && syncDir {
		err = root.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The mistakes that a real disk punishes, the model punishes too.
func TestCrash(t *testing.T) {
	only := func(call string) func(int, hosttest.Change) bool {
		return func(_ int, c hosttest.Change) bool { return c.Call == call }
	}
	for _, c := range []struct {
		name              string
		syncFile, syncDir bool
		lose              func(int, hosttest.Change) bool
		want              string
	}{
		{"nothing synced, all lost", false, false, nil, "old"},
		{"nothing synced, the content lost", false, false, only("write"), ""},
		{"file synced, the rename lost", true, false, only("rename"), "old"},
		{"file synced, nothing lost", true, false, func(int, hosttest.Change) bool { return false }, "new"},
		{"directory synced without the file", false, true, nil, ""},
		{"both synced", true, true, nil, "new"},
	} {
		fs := hosttest.NewFS(hosttest.NewPower())
		fs.AddFile("/f", "old", 0o644)
		write(t, fs, c.syncFile, c.syncDir)
		if got, _ := fs.Content("/f"); got != "new" {
			t.Errorf("%s: before the crash it reads %q", c.name, got)
		}
		fs.Crash(c.lose)
		if got, ok := fs.Content("/f"); got != c.want || !ok {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if len(fs.Pending()) != 0 {
			t.Errorf("%s: something is still pending", c.name)
		}
	}
}

func TestPowerCut(t *testing.T) {
	power := hosttest.NewPower()
	fs := hosttest.NewFS(power)
	root, err := fs.WritableRoot()
	if err != nil {
		t.Fatal(err)
	}
	power.Cut(2)
	for i, name := range []string{"a", "b", "c", "d"} {
		if err := root.Mkdir(name, 0o755); (err == nil) != (i < 2) {
			t.Errorf("effect %d: %v", i, err)
		}
	}
	if _, err := root.Lstat("a"); !errors.Is(err, hosttest.ErrCut) {
		t.Errorf("a question after the cut: %v", err)
	}
	fs.Crash(func(int, hosttest.Change) bool { return false })
	root, err = fs.WritableRoot()
	if err != nil {
		t.Fatal(err)
	}
	if names, _ := root.Names(); len(names) != 2 || power.Count() != 2 {
		t.Errorf("%q after %d effects", names, power.Count())
	}
	var _ fsys.FS = fs
}
