package fsys_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/fsys"
)

func open(t *testing.T) (fsys.Dir, string) {
	t.Helper()
	root := t.TempDir()
	dir, err := fsys.System(root).WritableRoot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir, root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Nothing leads out of the directory: a name is one element, and the last step is never followed.
func TestNamesAndLinks(t *testing.T) {
	dir, root := open(t)
	must(t, os.WriteFile(filepath.Join(root, "f"), []byte("x"), 0o600))
	must(t, os.Symlink("f", filepath.Join(root, "l")))
	must(t, os.Symlink("/", filepath.Join(root, "up")))
	for _, name := range []string{"", ".", "..", "a/b", "/f", "../x", "f\x00"} {
		_, stat := dir.Lstat(name)
		_, read := dir.Open(name)
		_, sub := dir.OpenDir(name)
		_, made := dir.Create(name, 0o600)
		_, pin := dir.Pin(name)
		for _, err := range []error{stat, read, sub, made, pin, dir.Mkdir(name, 0o700), dir.Unlink(name), dir.Rmdir(name), dir.Rename("f", name), dir.Rename(name, "f")} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%q: got %v", name, err)
			}
		}
	}
	_, read := dir.Open("l")
	_, added := dir.OpenAppend("l", 0o600)
	_, sub := dir.OpenDir("up")
	_, pin := dir.Pin("l")
	for i, err := range []error{read, added, sub, pin} {
		if err == nil {
			t.Errorf("call %d followed a link", i)
		}
	}
	if target, err := dir.Readlink("l"); err != nil || target != "f" {
		t.Errorf("got %q, %v", target, err)
	}
	if _, err := dir.Lstat(strings.Repeat("n", 256)); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("got %v", err)
	}
}

// Opening what is no regular file neither waits nor wakes anything.
func TestOpenTakesRegularFilesOnly(t *testing.T) {
	dir, root := open(t)
	must(t, unix.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	must(t, os.Mkdir(filepath.Join(root, "d"), 0o700))
	l, err := net.Listen("unix", filepath.Join(root, "s"))
	must(t, err)
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for name, kind := range map[string]string{"fifo": fsys.KindFIFO, "d": fsys.KindDirectory, "s": fsys.KindSocket} {
			if info, err := dir.Lstat(name); err != nil || info.Kind != kind {
				t.Errorf("%s: got %+v, %v", name, info, err)
			}
			if _, err := dir.Open(name); err == nil {
				t.Errorf("%s was opened", name)
			}
			if _, err := dir.OpenAppend(name, 0o600); err == nil {
				t.Errorf("%s was opened for appending", name)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hangs")
	}
}

func TestWritingAFile(t *testing.T) {
	dir, root := open(t)
	f, err := dir.Create("f", 0o640)
	must(t, err)
	_, err = f.Write([]byte("one\n"))
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
	if _, err := dir.Create("f", 0o600); !errors.Is(err, fsys.ErrExist) {
		t.Errorf("got %v", err)
	}
	f, err = dir.OpenAppend("f", 0o600)
	must(t, err)
	_, err = f.Write([]byte("two\n"))
	must(t, err)
	must(t, f.Close())
	must(t, dir.Rename("f", "g"))
	must(t, dir.Sync())
	info, err := dir.Lstat("g")
	if raw, _ := os.ReadFile(filepath.Join(root, "g")); err != nil || string(raw) != "one\ntwo\n" || info.Mode != 0o640 || info.Size != 8 || info.Nlink != 1 {
		t.Errorf("%q, %+v, %v", raw, info, err)
	}
	r, err := dir.Open("g")
	must(t, err)
	if raw, err := io.ReadAll(r); err != nil || string(raw) != "one\ntwo\n" {
		t.Errorf("%q, %v", raw, err)
	}
	must(t, r.Close())
}

func TestLists(t *testing.T) {
	dir, _ := open(t)
	if empty, err := dir.Empty(); err != nil || !empty {
		t.Errorf("got %v, %v", empty, err)
	}
	for _, name := range []string{"b", "a", ".h"} {
		must(t, dir.Mkdir(name, 0o700))
	}
	for range 2 {
		if names, err := dir.Names(); err != nil || !slices.Equal(names, []string{".h", "a", "b"}) {
			t.Errorf("got %q, %v", names, err)
		}
	}
	if empty, err := dir.Empty(); err != nil || empty {
		t.Errorf("got %v, %v", empty, err)
	}
	if err := dir.Unlink("a"); err == nil {
		t.Error("a directory was unlinked")
	}
	must(t, dir.Rmdir("a"))
}

// A node stays what it was when another inode takes its name.
func TestPinHoldsOn(t *testing.T) {
	dir, root := open(t)
	must(t, os.WriteFile(filepath.Join(root, "f"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(root, "g"), nil, 0o600))
	node, err := dir.Pin("f")
	must(t, err)
	defer node.Close()
	before, err := node.Stat()
	must(t, err)
	must(t, dir.Rename("g", "f"))
	must(t, node.Chmod(0o644))
	after, err := node.Stat()
	if err != nil || !after.Same(before) || after.Mode != 0o644 || after.Nlink != 0 {
		t.Errorf("got %+v, %v", after, err)
	}
	if info, _ := dir.Lstat("f"); info.Mode != 0o600 || info.Same(before) {
		t.Errorf("the other file has mode %04o", info.Mode)
	}
}

func TestReadOnlyPassesOn(t *testing.T) {
	_, root := open(t)
	must(t, os.MkdirAll(filepath.Join(root, "d"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "d", "f"), []byte("x"), 0o600))
	dir, err := fsys.ReadOnly(fsys.System(root)).Root()
	must(t, err)
	sub, err := dir.OpenDir("d")
	must(t, err)
	f, err := sub.Open("f")
	must(t, err)
	if raw, err := io.ReadAll(f); err != nil || string(raw) != "x" {
		t.Errorf("%q, %v", raw, err)
	}
	if _, ok := f.(io.Writer); ok {
		t.Error("a file opened for reading can be written to")
	}
	if _, err := dir.OpenDir("none"); !errors.Is(err, fsys.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
