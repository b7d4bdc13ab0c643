package gate

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs git and gives what it prints.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.root, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r *repo) commit(message string) {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
}

// small is a repository with a commit, whose branch is main.
func small(t *testing.T) *repo {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git:", err)
	}
	r := &repo{t, t.TempDir()}
	r.write("docs/adr/README.md", "# Records\n")
	r.record("0001-old", "Accepted", "A boundary", "It is there.")
	r.git("init", "-q", "-b", "main")
	r.commit("begin")
	return r
}

func (r *repo) record(stem, status, title, decision string) {
	r.write("docs/adr/"+stem+".md", fmt.Sprintf("# %s: %s\n\nStatus: %s · Date: 2026-12-01 · Supersedes: none\n\n## Context\nSo.\n\n## Decision\n%s\n", stem[:4], title, status, decision))
}

// cron writes the record of a type, and the type.
func (r *repo) cron(status string) {
	r.record("0002-cron", status, "Type cron: a line", "Type `cron` declares `x`.")
}
func (r *repo) typ(decision string) {
	r.write("plugins/cron/plugin.cue", "plugin: {type: \"cron\", decision: \""+decision+"\"}\n")
}

// past judges the history alone.
func (r *repo) past() (found string, notes []string) {
	r.t.Helper()
	g := &gate{root: r.root}
	for _, do := range []func() error{g.readPlugins, g.readRecords, g.history} {
		if err := do(); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, f := range g.findings {
		found += f.String() + "\n"
	}
	return found, g.notes
}

// TestTheRecordComesFirst brings a type in by many ways.
func TestTheRecordComesFirst(t *testing.T) {
	const stem = "0002-cron"
	both := func(r *repo) { r.cron("Accepted"); r.typ(stem) }
	for name, c := range map[string]struct {
		do   func(*repo)
		fine bool
	}{
		"in one commit":                         {func(r *repo) { both(r); r.commit("both") }, false},
		"the record first":                      {func(r *repo) { r.cron("Accepted"); r.commit("record"); r.typ(stem); r.commit("type") }, true},
		"a draft first, accepted with the type": {func(r *repo) { r.cron("Draft"); r.commit("draft"); both(r); r.commit("both") }, false},
		"the type first":                        {func(r *repo) { r.typ(stem); r.commit("type"); r.cron("Accepted"); r.commit("record") }, false},
		"not committed yet, the record is":      {func(r *repo) { r.cron("Accepted"); r.commit("record"); r.typ(stem) }, true},
		"neither is committed yet":              {both, false},
		"both are in the first commit there is": {func(r *repo) {
			both(r)
			r.git("checkout", "-q", "--orphan", "new")
			r.commit("first")
		}, true},
		"in a merge only": {func(r *repo) {
			r.git("checkout", "-q", "-b", "side")
			r.commit("nothing")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--no-ff", "--no-commit", "side")
			both(r)
			r.commit("merge")
		}, false},
		"in a merge that is not committed yet": {func(r *repo) {
			r.git("checkout", "-q", "-b", "side")
			both(r)
			r.commit("both")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--no-ff", "--no-commit", "side")
		}, false},
		"in a root that is merged": {func(r *repo) {
			r.git("checkout", "-q", "--orphan", "side")
			both(r)
			r.commit("another root")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--allow-unrelated-histories", "side")
		}, false},
		"a branch with one commit of both is merged": {func(r *repo) {
			r.git("checkout", "-q", "-b", "side")
			both(r)
			r.commit("both")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--no-ff", "side")
		}, false},
		"both, taken out and put in again": {func(r *repo) {
			both(r)
			r.commit("both")
			r.remove("plugins/cron")
			r.commit("out")
			r.typ(stem)
			r.commit("in")
		}, false},
		"a branch with the record and then the type is merged": {func(r *repo) {
			r.git("checkout", "-q", "-b", "side")
			r.cron("Accepted")
			r.commit("record")
			r.typ(stem)
			r.commit("type")
			r.git("checkout", "-q", "main")
			r.git("merge", "-q", "--no-ff", "side")
		}, true},
		"a branch of the type, begun before the record was accepted and merged after it": {func(r *repo) {
			r.git("checkout", "-q", "-b", "side")
			r.typ(stem)
			r.commit("type")
			r.git("checkout", "-q", "main")
			r.cron("Accepted")
			r.commit("record")
			r.git("merge", "-q", "--no-ff", "side")
		}, true},
		"an old record that comes to mention the type": {func(r *repo) {
			r.typ("0001-old")
			r.edit("docs/adr/0001-old.md", "It is there.", "It is there, and type `cron` too.")
			r.commit("both")
		}, false},
		"an old record that is made that of the type": {func(r *repo) {
			r.typ("0001-old")
			r.record("0001-old", "Accepted", "Type cron: a line", "Type `cron` declares `x`.")
			r.commit("both")
		}, false},
		"the record of another type is made that of the type": {func(r *repo) {
			r.record(stem, "Accepted", "Type at: once", "Type `at` declares `x`.")
			r.commit("record")
			both(r)
			r.commit("both")
		}, false},
		"another record takes the place of the first": {func(r *repo) {
			r.cron("Accepted")
			r.commit("record")
			r.typ(stem)
			r.commit("type")
			r.record("0003-cron-anew", "Accepted", "Type cron: another line", "Type `cron` declares `y`.")
			r.edit("docs/adr/0002-cron.md", "Status: Accepted", "Status: Superseded by 0003")
			r.typ("0003-cron-anew")
			r.commit("anew")
		}, true},
		"the record gets another name": {func(r *repo) {
			r.cron("Accepted")
			r.commit("record")
			r.typ(stem)
			r.commit("type")
			r.git("mv", "docs/adr/0002-cron.md", "docs/adr/0002-type-cron.md")
			r.typ("0002-type-cron")
			r.commit("renamed")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := small(t)
			c.do(r)
			found, notes := r.past()
			if fine := !strings.Contains(found, "came in before a record"); fine != c.fine {
				t.Errorf("fine: %v\n%s\n%s", fine, found, r.git("log", "--graph", "--oneline"))
			}
			if len(notes) > 0 {
				t.Errorf("notes: %q", notes)
			}
		})
	}
}

// A record decides a type by a form of its own; that it mentions the type is not enough.
func TestARecordDecidesByItsForm(t *testing.T) {
	for text, want := range map[string]bool{
		"# 0002: Type cron: a line\n\n## Decision\nType `cron` declares `x`.\n":           true,
		"# 0002: Type cron: a line\n\n## Decision\n\nType `cron` declares `x`.\n":         true,
		"# 0002: No cron\n\n## Decision\nThere is to be no type `cron`, ever.\n":          false,
		"# 0002: Type cron: not wanted\n\n## Decision\nThere is to be no type `cron`.\n":  false,
		"# 0002: Type crontab: a file\n\n## Decision\nType `cron` declares `x`.\n":        false,
		"# 0002: Type cron: a line\n\n## Context\nType `cron` declares `x`, some say.\n":  false,
		"# 0002: A note on Type cron: a line\n\n## Decision\nType `cron` declares `x`.\n": false,
	} {
		if got := parse(text).names("cron"); got != want {
			t.Errorf("%v of %q", got, text)
		}
	}
}

// Where the history is not there, or not all of it, the gate says so and judges the rest.
func TestWhatTheHistoryDoesNotTellIsNamed(t *testing.T) {
	one := func(t *testing.T, r *repo, want string, refused bool) {
		t.Helper()
		found, notes := r.past()
		if len(notes) != 1 || !strings.Contains(notes[0], want) || strings.Contains(notes[0], "\n") {
			t.Errorf("notes %q, want one with %q", notes, want)
		}
		if got := strings.Contains(found, "came in before a record"); got != refused {
			t.Errorf("refused: %v\n%s", got, found)
		}
	}
	cheat := func(t *testing.T) *repo {
		r := small(t)
		r.cron("Accepted")
		r.typ("0002-cron")
		r.commit("both")
		return r
	}
	shallow := func(t *testing.T, depth int) *repo {
		r := cheat(t)
		r.commit("later")
		c := &repo{t, filepath.Join(t.TempDir(), "clone")}
		r.git("clone", "-q", fmt.Sprintf("--depth=%d", depth), "file://"+r.root, c.root)
		return c
	}
	t.Run("a clone of one commit", func(t *testing.T) { one(t, shallow(t, 1), "the clone is shallow", false) })
	t.Run("a clone that begins with the type", func(t *testing.T) { one(t, shallow(t, 2), "the clone is shallow", false) })
	t.Run("what a shallow clone adds is judged", func(t *testing.T) {
		r := shallow(t, 1)
		r.record("0003-at", "Accepted", "Type at: once", "Type `at` declares `x`.")
		r.write("plugins/at/plugin.cue", "plugin: {type: \"at\", decision: \"0003-at\"}\n")
		r.commit("both")
		one(t, r, "the clone is shallow", true)
	})
	t.Run("no repository", func(t *testing.T) {
		r := cheat(t)
		r.remove(".git")
		one(t, r, "git does not read this folder", false)
	})
	t.Run("a copy within another repository", func(t *testing.T) {
		r := cheat(t)
		inner := &repo{t, filepath.Join(r.root, "copy")}
		for _, dir := range []string{"docs", "plugins"} {
			if err := os.CopyFS(filepath.Join(inner.root, dir), os.DirFS(filepath.Join(r.root, dir))); err != nil {
				t.Fatal(err)
			}
		}
		one(t, inner, "within the checkout of another repository", false)
	})
	t.Run("no commit", func(t *testing.T) {
		r := cheat(t)
		r.git("checkout", "-q", "--orphan", "new")
		one(t, r, "no commit yet", false)
	})
	t.Run("the repository of somebody else", func(t *testing.T) {
		r := cheat(t)
		t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1") // git's own switch for tests
		one(t, r, "dubious ownership", false)
	})
	t.Run("no git", func(t *testing.T) {
		r := cheat(t)
		t.Setenv("PATH", t.TempDir())
		one(t, r, "git is not installed", false)
	})
}
