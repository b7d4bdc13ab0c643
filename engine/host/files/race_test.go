package files_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/files"
)

// swap exchanges two names for as long as the test runs, as fast as it can, and counts how often.
func swap(t *testing.T, a, b string) *atomic.Int64 {
	t.Helper()
	var n atomic.Int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
				n.Add(1)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
	return &n
}

// changes tries every effect on a path again and again; what they give does not matter here.
func changes(w files.WriteTree, p string, rounds int) {
	o := files.Owner{Mode: 0o6755, UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	for range rounds {
		_ = w.Chmod(p, 0o6755, fsys.KindFile)
		_ = w.Chown(p, o, fsys.KindFile)
		_ = w.Replace(p, []byte("ours"), o)
		_ = w.Remove(p)
		_ = w.MakeDirectory(p, o)
		_ = w.Chmod(p, 0o755, fsys.KindDirectory)
		_ = w.RemoveDirectory(p)
		_, _ = w.Read(p, 100)
	}
}

const victimText = "untouched"

func victim(t *testing.T, p string) func() {
	t.Helper()
	if err := os.WriteFile(p, []byte(victimText), 0o640); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		info, err := os.Lstat(p)
		raw, rerr := os.ReadFile(p)
		if err != nil || rerr != nil || info.Mode().String() != "-rw-r-----" || string(raw) != victimText {
			t.Errorf("%s is %v with %q: %v %v", p, info.Mode(), raw, err, rerr)
		}
	}
}

// What stands at the path is exchanged for a symlink all the time: what it leads to is never reached.
func TestASymlinkSwappedInForTheFile(t *testing.T) {
	dir := t.TempDir()
	intact := victim(t, filepath.Join(dir, "victim"))
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, other := filepath.Join(dir, "d", "f"), filepath.Join(dir, "d", "g")
	for name, make := range map[string]func() error{
		p:     func() error { return os.WriteFile(p, nil, 0o600) },
		other: func() error { return os.Symlink("../victim", other) },
	} {
		if err := make(); err != nil {
			t.Fatal(name, err)
		}
	}
	n := swap(t, p, other)
	w := files.NewWriteTree(fsys.System("/"), uint32(os.Getuid()))
	for round := 0; round < 400 || n.Load() == 0; round++ {
		_ = w.Chmod(p, 0o6755, fsys.KindFile)
		_ = w.Chown(p, files.Owner{Mode: 0o6755, UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}, fsys.KindFile)
		if raw, err := w.Read(p, 100); err == nil && string(raw) == victimText {
			t.Fatal("it was read through the symlink")
		}
		if round%4 == 0 { // it takes the symlink's place, so that one is put there again
			_ = w.Replace(p, []byte("ours"), files.Owner{Mode: 0o600, UID: uint32(os.Getuid()), GID: uint32(os.Getgid())})
			_ = os.Remove(other)
			_ = os.Symlink("../victim", other)
		}
		_ = w.Remove(p)
		_ = os.WriteFile(p+".new", nil, 0o600)
		_ = os.Rename(p+".new", p)
	}
	intact()
	t.Logf("swapped %d times", n.Load())
}

// A directory on the way is exchanged for a symlink to one that holds a file of the same name. Its owner is the only one
// who could do that, so the rule of the walk is what refuses; run as root, the directory belongs to somebody else.
func TestASymlinkSwappedInForADirectoryOnTheWay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes directories of another user")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	system := filepath.Join(dir, "system")
	for _, d := range []string{home, system, filepath.Join(home, "d")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	intact := victim(t, filepath.Join(system, "f"))
	if err := os.Symlink(system, filepath.Join(home, "l")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{home, filepath.Join(home, "d"), filepath.Join(home, "l")} {
		if err := os.Lchown(p, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	n := swap(t, filepath.Join(home, "d"), filepath.Join(home, "l"))
	w := files.NewWriteTree(fsys.System("/"), 0)
	for n.Load() == 0 {
	}
	changes(w, filepath.Join(home, "d", "f"), 600)
	intact()
	if list, err := os.ReadDir(system); err != nil || len(list) != 1 {
		t.Errorf("something came into the other directory: %v %v", list, err)
	}
	t.Logf("swapped %d times", n.Load())
}
