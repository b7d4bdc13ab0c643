package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/manifest"
)

// TestThisRepository judges the repository itself.
func TestThisRepository(t *testing.T) {
	found, _, err := Check("../..")
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
	for _, pattern := range []string{"plugins/*/plugin.cue", "plugins/*/*/main.go", "plugins/*/testdata/cases/*.txt", "plugins/dist/SHA256SUMS",
		"engine/manifest/table_gen.go", "docs/reference/manifests.md", "tools/mutants/main.go"} {
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
	found, _, err := Check(r.root)
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
		"nothing is missing":               {func(*repo) {}, ""},
		"no plugin":                        {func(r *repo) { r.remove("plugins/user") }, "has no plugin"},
		"no definition":                    {func(r *repo) { r.edit("cue/types.cue", "\tuser: {", "\tuzer: {") }, "#types does not define the type user"},
		"not in the list of types":         {func(r *repo) { r.edit("cue/role.cue", ` | "user"`, "") }, "#Type does not name the type user"},
		"not in the schema":                {func(r *repo) { r.edit("schemas/drift-item.v2.json", `"user"`, `"uzer"`) }, "does not name the type user"},
		"in the schema that is out":        {func(r *repo) { r.edit("schemas/drift-item.v1.json", `"command"`, `"command", "user"`) }, "exactly the first six types"},
		"no page":                          {func(r *repo) { r.remove("docs/types/user.md") }, "the type user has no page"},
		"a page of no type":                {func(r *repo) { r.write("docs/types/cron.md", "") }, "named elsewhere and has no plugin"},
		"no record":                        {func(r *repo) { r.remove("docs/adr/0018-user.md") }, "0018-user does not exist"},
		"a record that is a draft":         {func(r *repo) { r.edit("docs/adr/0018-user.md", "Status: Accepted", "Status: Draft") }, "rests on a record that is draft"},
		"not in the manifests' schema":     {func(r *repo) { r.edit("schemas/role-manifest.v1.json", `"const": "user"`, `"const": "uzer"`) }, "schemas/role-manifest.v1.json: closed-types: it does not name the type user"},
		"not in the judging definitions":   {func(r *repo) { r.edit("cue/judged.cue", "\tuser: {", "\tuzer: {") }, "cue/judged.cue: closed-types: it does not name the type user"},
		"not in the program's table":       {func(r *repo) { r.edit("engine/manifest/table_gen.go", `{Name: "user", Doc`, `{Name: "uzer", Doc`) }, "table_gen.go: closed-types: it does not name the type user"},
		"not in the list of pages":         {func(r *repo) { r.edit("docs/types/README.md", "[user](", "[uzer](") }, "docs/types/README.md: closed-types: it does not name the type user"},
		"not in the reference":             {func(r *repo) { r.edit("docs/reference/manifests.md", "## type user", "## type uzer") }, "docs/reference/manifests.md: closed-types: it does not name the type user"},
		"not in the verdicts":              {func(r *repo) { r.edit("cue/testdata/bad/type-unknown.want", "user", "uzer") }, "type-unknown.want: closed-types: it does not name the type user"},
		"no mutants":                       {func(r *repo) { r.remove("tools/mutants/main.go") }, "tools/mutants/main.go: closed-types: it does not name the type user"},
		"no cases":                         {func(r *repo) { r.remove("plugins/user/testdata") }, "no cases of the type user"},
		"another schema embedded":          {func(r *repo) { r.edit("cue/embedded/schemas/drift-item.v2.json", `"user"`, `"uzer"`) }, "cue/embedded/schemas/drift-item.v2.json: closed-types: it is not what"},
		"called a draft and is not":        {func(r *repo) { r.edit("docs/adr/README.md", "| type user |", "| type user (draft) |") }, "the list calls 0018-user a draft"},
		"called a draft first, and is not": {func(r *repo) { r.edit("docs/adr/README.md", "| type user |", "| Draft: type user |") }, "the list calls 0018-user a draft"},
		"a record of another type":         {func(r *repo) { r.edit("plugins/user/plugin.cue", "0018-user", "0010-package") }, "does not name the type"},
		"no module":                        {func(r *repo) { r.edit("plugins/dist/SHA256SUMS", "user.apply", "uzer.apply") }, "no digest of the apply module of user"},
		"a verb that there is not":         {func(r *repo) { r.edit("plugins/user/plugin.cue", `"write", "remove"`, `"write", "obliterate"`) }, "no verb"},
		"a capability that there is not":   {func(r *repo) { r.edit("plugins/user/plugin.cue", "user_remove", "user_obliterate") }, "does not exist"},
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
