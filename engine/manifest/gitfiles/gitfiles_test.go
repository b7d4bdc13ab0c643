package gitfiles_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/manifest/gitfiles"
)

// repo is a repository that real git makes.
type repo struct {
	t   *testing.T
	dir string
	n   int
}

func newRepo(t *testing.T, args ...string) *repo {
	t.Helper()
	r := &repo{t: t, dir: t.TempDir()}
	r.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	r.n++
	cmd := exec.Command("git", append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = r.dir
	when := fmt.Sprintf("2026-01-01T00:%02d:%02dZ", r.n/60%60, r.n%60)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_COMMITTER_DATE="+when, "GIT_AUTHOR_DATE="+when)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(name, text string) string {
	r.t.Helper()
	r.write(name, text)
	r.git("add", name)
	r.git("commit", "-qm", name)
	return r.git("rev-parse", "HEAD")
}

// open opens a folder of the repository.
func (r *repo) open(folder string) *gitfiles.Checkout {
	r.t.Helper()
	c, err := gitfiles.Open(filepath.Join(r.dir, folder))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}

// same says whether a file's bytes are as committed.
func same(t *testing.T, c *gitfiles.Checkout, name, text string) bool {
	t.Helper()
	id, err := c.Committed(name)
	if err != nil {
		t.Fatal(err)
	}
	return id == c.Blob([]byte(text))
}

func TestCommitAndFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		init []string
		make func(r *repo)
	}{
		{"loose", nil, func(*repo) {}},
		{"packed", nil, func(r *repo) { r.git("gc", "-q"); r.git("pack-refs", "--all") }},
		{"packed with long chains", nil, func(r *repo) { r.git("repack", "-adfq", "--depth=40", "--window=40") }},
		{"sha256", []string{"--object-format=sha256"}, func(r *repo) { r.git("gc", "-q") }},
		{"detached", nil, func(r *repo) { r.git("checkout", "-q", "--detach") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepo(t, c.init...)
			text := ""
			for i := range 8 {
				text += fmt.Sprintf("line %d of a file that grows\n", i)
				r.commit(fmt.Sprintf("catalog/hosts/h%d.yaml", i), text)
				r.commit("catalog/hosts/h.yaml", text)
			}
			c.make(r)
			head := r.git("rev-parse", "HEAD")
			co := r.open("catalog")
			if string(co.Head) != head {
				t.Errorf("head %s, want %s", co.Head, head)
			}
			if !same(t, co, "hosts/h.yaml", text) || !same(t, co, "hosts/h7.yaml", text) {
				t.Error("a committed file is not as committed")
			}
			if same(t, co, "hosts/h.yaml", text+"x") {
				t.Error("a changed file is as committed")
			}
			for _, name := range []string{"hosts/none.yaml", "none/h.yaml", "hosts", "hosts/h.yaml/x"} {
				if id, err := co.Committed(name); id != "" || err != nil {
					t.Errorf("%s: %q, %v; want none", name, id, err)
				}
			}
		})
	}
}

func TestBehind(t *testing.T) {
	up := newRepo(t)
	up.commit("a", "1")
	clone := &repo{t: t, dir: filepath.Join(t.TempDir(), "clone"), n: 100}
	up.git("clone", "-q", up.dir, clone.dir)
	want := func(n int) {
		t.Helper()
		got := clone.open("").Behind()
		if got == nil || *got != n {
			t.Errorf("behind %v, want %d", got, n)
		}
	}
	want(0)
	for i := range 5 {
		up.commit("a", fmt.Sprint(i+2))
	}
	want(0) // not fetched
	clone.git("fetch", "-q")
	want(5)
	clone.commit("b", "mine") // diverged
	want(5)
	clone.git("merge", "-q", "-m", "m", "origin/main~2")
	want(2)
	clone.git("gc", "-q")
	want(2)
	clone.git("merge", "-q", "-m", "m", "origin/main")
	want(0)
	clone.git("checkout", "-q", "--detach")
	if n := clone.open("").Behind(); n != nil {
		t.Errorf("detached: %d, want none", *n)
	}
}

func TestShallowClone(t *testing.T) {
	up := newRepo(t)
	for i := range 5 {
		up.commit("hosts/a.yaml", fmt.Sprint(i))
	}
	clone := &repo{t: t, dir: filepath.Join(t.TempDir(), "clone")}
	up.git("clone", "-q", "--depth=1", "file://"+up.dir, clone.dir)
	co := clone.open("")
	if !same(t, co, "hosts/a.yaml", "4") {
		t.Error("the file is not as committed")
	}
	if n := co.Behind(); n == nil || *n != 0 {
		t.Errorf("behind %v, want 0", n)
	}
}

func TestLinkedWorktree(t *testing.T) {
	r := newRepo(t)
	r.commit("hosts/a.yaml", "1")
	other := filepath.Join(t.TempDir(), "other")
	r.git("worktree", "add", "-q", "-b", "side", other)
	co, err := gitfiles.Open(other)
	if err != nil {
		t.Fatal(err)
	}
	defer co.Close()
	if !same(t, co, "hosts/a.yaml", "1") || string(co.Head) != r.git("rev-parse", "HEAD") {
		t.Error("a linked worktree is read wrongly")
	}
}

func TestNone(t *testing.T) {
	empty := newRepo(t)
	for _, dir := range []string{t.TempDir(), empty.dir, filepath.Join(empty.dir, "none")} {
		if c, err := gitfiles.Open(dir); err == nil {
			t.Errorf("%s: opened at %s", dir, c.Head)
		}
	}
	r := newRepo(t)
	r.commit("a", "1")
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/../../x", "refs/heads/main": "none"} {
		saved, err := os.ReadFile(filepath.Join(r.dir, ".git", name))
		if err != nil {
			t.Fatal(err)
		}
		r.write(".git/"+name, text)
		if c, err := gitfiles.Open(r.dir); err == nil {
			t.Errorf("%s %q: opened at %s", name, text, c.Head)
		}
		r.write(".git/"+name, string(saved))
	}
}
