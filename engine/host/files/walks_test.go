package files_test

import (
	"testing"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/hosttest"
)

// counting counts how often a walk begins.
type counting struct {
	fsys.ReadFS
	walks int
}

func (c *counting) Root() (fsys.ReadDir, error) {
	c.walks++
	return c.ReadFS.Root()
}

func TestFilesOfOneDirectoryTakeOneWalk(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	for _, name := range []string{"/etc/d/a", "/etc/d/b", "/etc/e/a"} {
		fs.AddFile(name, name, 0o644)
	}
	c := &counting{ReadFS: fs}
	tree := files.Tree{FS: c, Walks: &files.Walks{}}
	look := func(p string, exists bool) {
		t.Helper()
		s, err := tree.Stat(p)
		if err != nil || s.Exists != exists {
			t.Errorf("%s: %+v, %v", p, s, err)
		}
		if _, _, err := tree.Digest(p); (err == nil) != exists {
			t.Errorf("%s: %v", p, err)
		}
	}
	for range 3 {
		look("/etc/d/a", true)
		look("/etc/d/b", true)
		look("/etc/e/a", true)
	}
	if c.walks != 2 {
		t.Errorf("%d walks for two directories", c.walks)
	}
	// What lies in a directory is looked at anew each time.
	fs.AddFile("/etc/d/a", "other", 0o600)
	if sha, size, err := tree.Digest("/etc/d/a"); err != nil || size != 5 || c.walks != 2 {
		t.Errorf("%s %d %v after %d walks", sha, size, err, c.walks)
	}
	// What takes the directory's place is seen once the walks are forgotten.
	fs.AddLink("/etc/d", "/etc/e", 0)
	tree.Walks.Forget()
	look("/etc/d/b", false)
	look("/etc/d/a", true)
}

// More directories than are kept open, and a question that is about another user's way.
func TestKeptDirectoriesAreBounded(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	c := &counting{ReadFS: fs}
	tree := files.Tree{FS: c, Walks: &files.Walks{}}
	const n = 40
	path := func(i int) string { return "/srv/" + string(rune('A'+i)) + "/x" }
	for i := range n {
		fs.AddFile(path(i), "x", 0o644)
	}
	for i := range n {
		if s, err := tree.Stat(path(i)); err != nil || !s.Exists {
			t.Fatalf("%+v, %v", s, err)
		}
	}
	if c.walks != n {
		t.Errorf("%d walks", c.walks)
	}
	if s, err := tree.Stat(path(n - 1)); err != nil || !s.Exists || c.walks != n {
		t.Errorf("the last directory was not kept: %+v, %v", s, err)
	}
	if s, err := tree.Stat(path(0)); err != nil || !s.Exists || c.walks != n+1 {
		t.Errorf("the first directory is still kept: %+v, %v", s, err)
	}
	// A way that is refused for a change is open for a question, and the other way round stays refused.
	fs.AddDir("/home/u", 0o755, 1000, 1000)
	fs.Add("/home/u/d", fsys.Info{Kind: fsys.KindDirectory, Mode: 0o755}, "")
	fs.AddFile("/home/u/d/x", "x", 0o644)
	for range 2 {
		if s, err := tree.StatAnywhere("/home/u/d/x"); err != nil || !s.Exists {
			t.Errorf("%+v, %v", s, err)
		}
		if s, err := tree.Stat("/home/u/d/x"); err == nil {
			t.Errorf("a directory of root's in one of a user's was walked through: %+v", s)
		}
	}
}
