package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/hosttest"
)

// world is a file system to try things on: the kernel's below a temporary folder, or the model.
type world struct {
	name string
	files.WriteTree
	// me owns what a test makes where nobody else is asked for.
	me, group uint32
	add       func(p string, info fsys.Info, content string)
	content   func(p string) (string, bool)
	names     func(p string) []string
}

// worlds gives both. What needs owners other than the one who runs the tests is left to the model unless root runs them.
func worlds(t *testing.T, foreign bool) []*world {
	ws := []*world{modelWorld()}
	if !foreign || os.Geteuid() == 0 {
		ws = append(ws, kernelWorld(t))
	}
	return ws
}

func modelWorld() *world {
	fs := hosttest.NewFS(hosttest.NewPower())
	w := &world{name: "model", WriteTree: files.NewWriteTree(fs, 0), add: fs.Add, content: fs.Content}
	w.names = func(p string) []string { return list(fs, p) }
	return w
}

func kernelWorld(t *testing.T) *world {
	root := t.TempDir()
	fs := fsys.System(root)
	w := &world{name: "kernel", WriteTree: files.NewWriteTree(fs, uint32(os.Geteuid())), me: uint32(os.Geteuid()), group: uint32(os.Getegid())}
	w.add = func(p string, info fsys.Info, content string) { addReal(t, w, root+p, info, content) }
	w.content = func(p string) (string, bool) {
		raw, err := os.ReadFile(root + p)
		return string(raw), err == nil
	}
	w.names = func(p string) []string { return list(fs, p) }
	return w
}

func addReal(t *testing.T, w *world, p string, info fsys.Info, content string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Dir(p), 0o755))
	switch info.Kind {
	case fsys.KindFile:
		must(os.WriteFile(p, []byte(content), 0o600))
	case fsys.KindDirectory:
		must(os.Mkdir(p, 0o700))
	case fsys.KindSymlink:
		must(os.Symlink(content, p))
	case fsys.KindFIFO:
		must(unix.Mkfifo(p, 0o600))
	default:
		t.Fatalf("cannot make a %s", info.Kind)
	}
	if os.Geteuid() == 0 {
		must(os.Lchown(p, int(info.UID), int(info.GID)))
	}
	if info.Kind != fsys.KindSymlink {
		must(unix.Chmod(p, info.Mode))
	}
}

func list(fs fsys.ReadFS, p string) []string {
	dir, err := fs.Root()
	for _, name := range splitPath(p) {
		if err != nil {
			return nil
		}
		dir, err = dir.OpenDir(name)
	}
	if err != nil {
		return nil
	}
	names, _ := dir.Names()
	return names
}

func splitPath(p string) []string {
	var out []string
	for p != "/" && p != "" {
		out = append([]string{filepath.Base(p)}, out...)
		p = filepath.Dir(p)
	}
	return out
}

func (w *world) file(p, content string, mode uint32) {
	w.add(p, fsys.Info{Kind: fsys.KindFile, Mode: mode, UID: w.me, GID: w.group}, content)
}

func (w *world) dir(p string, mode uint32) {
	w.add(p, fsys.Info{Kind: fsys.KindDirectory, Mode: mode, UID: w.me, GID: w.group}, "")
}

func (w *world) link(p, target string) {
	w.add(p, fsys.Info{Kind: fsys.KindSymlink, UID: w.me, GID: w.group}, target)
}

// mine is the owner of the one who runs the tests.
func (w *world) mine(mode uint32) files.Owner {
	return files.Owner{Mode: mode, UID: w.me, GID: w.group}
}

// is looks whether a path has this kind, mode and content.
func (w *world) is(t *testing.T, p, kind string, mode uint32, content string) {
	t.Helper()
	s, err := w.Stat(p)
	if err != nil || !s.Exists || s.Kind != kind || kind != fsys.KindSymlink && s.Mode != mode {
		t.Errorf("%s: %s is %s %04o (exists %v), %v; want %s %04o", w.name, p, s.Kind, s.Mode, s.Exists, err, kind, mode)
	}
	if have, _ := w.content(p); kind == fsys.KindFile && have != content {
		t.Errorf("%s: %s holds %q, want %q", w.name, p, have, content)
	}
}
