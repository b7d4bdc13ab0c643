package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/manifest"
)

// TestThisRepository judges the repository itself.
func TestThisRepository(t *testing.T) {
	found, err := Check("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f.String())
	}
}

// repo is a copy of what the gate looks at.
type repo struct {
	t    *testing.T
	root string
}

func copied(t *testing.T) *repo {
	r := &repo{t, t.TempDir()}
	for _, dir := range []string{"cue", "schemas", "docs/adr", "docs/types"} {
		if err := os.CopyFS(filepath.Join(r.root, dir), os.DirFS(filepath.Join("../..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"plugins/*/plugin.cue", "plugins/*/*/main.go", "plugins/dist/SHA256SUMS"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			r.write(strings.TrimPrefix(filepath.ToSlash(f), "../../"), string(raw))
		}
	}
	return r
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	p := filepath.Join(r.root, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) edit(name, from, to string) {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		r.t.Fatal(err)
	}
	if !strings.Contains(string(raw), from) {
		r.t.Fatalf("%s does not hold %q", name, from)
	}
	r.write(name, strings.ReplaceAll(string(raw), from, to))
}

func (r *repo) remove(name string) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.root, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) check() []manifest.Finding {
	r.t.Helper()
	found, err := Check(r.root)
	if err != nil {
		r.t.Fatal(err)
	}
	return found
}

// TestEveryPlaceMustAgree takes a type out of one place after the other.
func TestEveryPlaceMustAgree(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*repo)
		want   string
	}{
		"nothing is missing":             {func(*repo) {}, ""},
		"no plugin":                      {func(r *repo) { r.remove("plugins/user") }, "has no plugin"},
		"no definition":                  {func(r *repo) { r.edit("cue/types.cue", "\tuser: {", "\tuzer: {") }, "#types does not define the type user"},
		"not in the list of types":       {func(r *repo) { r.edit("cue/role.cue", ` | "user"`, "") }, "#Type does not name the type user"},
		"not in the schema":              {func(r *repo) { r.edit("schemas/drift-item.v2.json", `"user"`, `"uzer"`) }, "does not name the type user"},
		"in the schema that is out":      {func(r *repo) { r.edit("schemas/drift-item.v1.json", `"command"`, `"command", "user"`) }, "exactly the first six types"},
		"no page":                        {func(r *repo) { r.remove("docs/types/user.md") }, "the type user has no page"},
		"a page of no type":              {func(r *repo) { r.write("docs/types/cron.md", "") }, "named elsewhere and has no plugin"},
		"no record":                      {func(r *repo) { r.remove("docs/adr/0018-user.md") }, "0018-user does not exist"},
		"a record that is a draft":       {func(r *repo) { r.edit("docs/adr/0018-user.md", "Status: Accepted", "Status: Draft") }, "rests on a record that is draft"},
		"a record of another type":       {func(r *repo) { r.edit("plugins/user/plugin.cue", "0018-user", "0010-package") }, "does not name the type"},
		"no module":                      {func(r *repo) { r.edit("plugins/dist/SHA256SUMS", "user.apply", "uzer.apply") }, "no digest of the apply module of user"},
		"a verb that there is not":       {func(r *repo) { r.edit("plugins/user/plugin.cue", `"write", "remove"`, `"write", "obliterate"`) }, "no verb"},
		"a capability that there is not": {func(r *repo) { r.edit("plugins/user/plugin.cue", "user_remove", "user_obliterate") }, "does not exist"},
		"observe that writes": {func(r *repo) {
			r.edit("plugins/user/plugin.cue", "observe: {", "observe: {\n\t\tuser_add: scope: [\"name\"]")
		}, "grants the writing capability user_add"},
		"a folder of another name":   {func(r *repo) { r.edit("plugins/user/plugin.cue", `"user"`, `"uzer"`) }, "the folder says"},
		"a record without a status":  {func(r *repo) { r.edit("docs/adr/0005-journal.md", "Status: Accepted", "Status: Agreed") }, "no status line"},
		"a record that nobody lists": {func(r *repo) { r.edit("docs/adr/README.md", "0005-journal.md", "") }, "does not name 0005-journal"},
		"two records of one number": {func(r *repo) {
			r.write("docs/adr/0005-other.md", "# 0005: Other\n\nStatus: Draft · Date: 2026-11-29 · Supersedes: none\n")
		}, "has the number 0005 already"},
	} {
		t.Run(name, func(t *testing.T) {
			r := copied(t)
			c.change(r)
			var all []string
			for _, f := range r.check() {
				all = append(all, f.String())
			}
			if got := strings.Join(all, "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestTheRecordComesFirst commits a type together with its record, and after it.
func TestTheRecordComesFirst(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git:", err)
	}
	const record = "docs/adr/0018-user.md"
	for name, c := range map[string]struct {
		commits [][2]string // what is done, and the message
		want    bool
	}{
		"in one commit":                         {[][2]string{{"both", "record and type"}}, false},
		"the record first":                      {[][2]string{{"record", "record"}, {"type", "type"}}, true},
		"a draft first, accepted with the type": {[][2]string{{"draft", "draft"}, {"both", "accepted with the type"}}, false},
		"the type first":                        {[][2]string{{"type", "type"}, {"record", "record"}}, false},
		"not committed yet, the record is":      {[][2]string{{"record", "record"}, {"type", ""}}, true},
		"neither is committed yet":              {[][2]string{{"both", ""}}, false},
		"both are in the first commit there is": {[][2]string{{"both", "first"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := copied(t)
			text, err := os.ReadFile(filepath.Join(r.root, record))
			if err != nil {
				t.Fatal(err)
			}
			kept := t.TempDir()
			if err := os.Rename(filepath.Join(r.root, "plugins/user"), filepath.Join(kept, "user")); err != nil {
				t.Fatal(err)
			}
			// The other types are old.
			for typ := range map[string]bool{"symlink": true, "group": true, "line": true} {
				r.remove("plugins/" + typ)
			}
			r.remove(record)
			r.git("init", "-q")
			if c.commits[0][1] != "first" {
				r.commit("before")
			}
			for _, step := range c.commits {
				if step[0] == "draft" {
					r.write(record, strings.ReplaceAll(string(text), "Status: Accepted", "Status: Draft"))
				}
				if step[0] == "record" || step[0] == "both" {
					r.write(record, string(text))
				}
				if step[0] == "type" || step[0] == "both" {
					if err := os.CopyFS(filepath.Join(r.root, "plugins/user"), os.DirFS(filepath.Join(kept, "user"))); err != nil {
						t.Fatal(err)
					}
				}
				if step[1] != "" {
					r.commit(step[1])
				}
			}
			refused := false
			for _, f := range r.check() {
				refused = refused || strings.Contains(f.Message, "accepted in the very commit that adds the type")
			}
			if refused == c.want {
				t.Errorf("refused: %v", refused)
			}
		})
	}
}

func (r *repo) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.root, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (r *repo) commit(message string) {
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
}
