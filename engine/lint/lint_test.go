package lint_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine/lint"
	"gyrum.ai/engine/manifest"
)

// tree writes files into a folder.
func tree(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// judge gives a catalog's findings as file:line rule, sorted.
func judge(t testing.TB, dir, since string) []string {
	t.Helper()
	c, err := manifest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	found, err := lint.Catalog(c, lint.Options{Since: since})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		if f.Message == "" || f.Hint == "" && f.Severity == manifest.SeverityWarn || strings.ContainsAny(f.String(), "\n\x1b") {
			t.Errorf("a finding that does not say all: %q", f.String())
		}
		if !slices.ContainsFunc(lint.Rules(), func(r manifest.Rule) bool { return r.ID == f.Rule }) {
			t.Errorf("the rule %s is described nowhere", f.Rule)
		}
		out = append(out, f.Pos.String()+" "+f.Rule)
	}
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("findings\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// role gives a manifest with these resources, which begin in line 5.
func role(description, resources string) string {
	return "role: r\nversion: 1\ndescription: " + description + "\nresources:\n" + resources
}

// one gives the findings of a catalog whose host t carries a role with these resources.
func one(t *testing.T, description, resources string) []string {
	t.Helper()
	dir := tree(t, t.TempDir(), map[string]string{"hosts/t.yaml": "name: t\nroles: [r]\n", "host-roles/r.yaml": role(description, resources)})
	return judge(t, dir, "")
}

func TestCleanCatalog(t *testing.T) {
	want(t, one(t, "about r", "  - {type: package, name: curl}\n"))
}

func TestOrder(t *testing.T) {
	const unit = "  - {type: systemd_unit, name: dd.service, state: started, enabled: true}\n"
	const started = "host-roles/r.yaml:5:5 order"
	for name, c := range map[string]struct {
		resources string
		want      []string
	}{
		"a unit before its package":         {unit + "  - {type: package, name: dd}\n", []string{started}},
		"a unit before any package":         {unit + "  - {type: package, name: other}\n", []string{started}},
		"a unit between packages":           {"  - {type: package, name: dd}\n" + unit + "  - {type: package, name: other}\n", nil},
		"a unit after another package":      {"  - {type: package, name: other}\n" + unit + "  - {type: package, name: \"dd:amd64\"}\n", []string{"host-roles/r.yaml:6:5 order"}},
		"a stopped unit before a package":   {"  - {type: systemd_unit, name: dd.service, state: stopped}\n  - {type: package, name: dd}\n", nil},
		"a unit before its file":            {unit + "  - {type: file, path: /etc/systemd/system/dd.service, content: \"\"}\n", []string{started}},
		"a unit before its drop-in":         {unit + "  - {type: file, path: /etc/systemd/system/dd.service.d/x.conf, content: \"\"}\n", []string{started}},
		"an instance before its template":   {"  - {type: systemd_unit, name: d@1.service, state: started}\n  - {type: file, path: /etc/systemd/system/d@.service, content: \"\"}\n", []string{started}},
		"a unit before what restarts it":    {"  - {type: systemd_unit, name: dd.service, state: started, restart_on: [\"file:/etc/d\"]}\n  - {type: file, path: /etc/d, content: \"\"}\n", []string{started}},
		"a unit after what restarts it":     {"  - {type: file, path: /etc/d, content: \"\"}\n  - {type: systemd_unit, name: dd.service, state: started, restart_on: [\"file:/etc/d\"]}\n", nil},
		"a unit before its unit_file":       {"  - {type: systemd_unit, name: dd.service, enabled: true, unit_file: /srv/dd.service}\n  - {type: file, path: /srv/dd.service, content: \"\"}\n", []string{started}},
		"a unit before its environment":     {"  - {type: file, path: /etc/systemd/system/dd.service, content: \"[Service]\\nEnvironmentFile=-/etc/default/d\\n\"}\n" + unit + "  - {type: env, path: /etc/default/d, vars: {}}\n", []string{"host-roles/r.yaml:6:5 order"}},
		"a file before its directory":       {"  - {type: file, path: /srv/a/b, content: \"\"}\n  - {type: directory, path: /srv/a}\n", []string{started}},
		"a file beside a directory":         {"  - {type: file, path: /srv/ab, content: \"\"}\n  - {type: directory, path: /srv/a}\n", nil},
		"a directory before what is in it":  {"  - {type: directory, path: /srv/a, state: absent}\n  - {type: file, path: /srv/a/b, state: absent}\n", nil},
		"a command before where it is run":  {"  - {type: command, id: \"command:a\", run: make, creates: /a, cwd: /srv/a}\n  - {type: directory, path: /srv/a}\n", []string{started}},
		"a package that goes after a unit":  {unit + "  - {type: package, name: other, state: absent}\n", nil},
		"a unit whose role brings nothing":  {unit, nil},
		"a command that may bring the unit": {"  - {type: command, id: \"command:a\", run: make, creates: /a}\n" + unit + "  - {type: package, name: other}\n", nil},
	} {
		t.Run(name, func(t *testing.T) { want(t, one(t, "about r", c.resources), c.want...) })
	}
}

// A required role may bring the package.
func TestOrderAcrossRoles(t *testing.T) {
	files := map[string]string{
		"hosts/t.yaml":      "name: t\nroles: [b, r]\n",
		"host-roles/b.yaml": "role: b\nversion: 1\nresources:\n  - {type: package, name: base}\n",
		"host-roles/r.yaml": "role: r\nversion: 1\nrequires: [b]\nresources:\n  - {type: systemd_unit, name: dd.service, state: started}\n  - {type: package, name: other}\n",
	}
	want(t, judge(t, tree(t, t.TempDir(), files), ""))
	files["host-roles/r.yaml"] = strings.Replace(files["host-roles/r.yaml"], "[b]", "[]", 1)
	want(t, judge(t, tree(t, t.TempDir(), files), ""), "host-roles/r.yaml:5:5 order")
}

// What lint accepts as a reason is what a check shows: resource.Why is both.
func TestReason(t *testing.T) {
	const command = "  - {type: command, id: \"command:sync-keys\", run: sync, idempotent: false}\n"
	for description, wrong := range map[string]bool{
		"Keys of every fleet host":    true,
		"\"\"":                        true,
		"Keys; pulled at every apply": true,
		"Runs always, because the tool keeps no mark":            true,
		"The sync of keys is idempotent":                         true,
		"sync-keys":                                              true,
		"Keys. command_sync-keys is another name":                true,
		"\"Keys. command:sync-keys pulls what others pushed\"":   false,
		"The sync-keys command pulls what others pushed":         false,
		"|\n  Keys.\n\n  The sync-keys command pulls\n  anew\n":  false,
		">-\n  Keys. What\n  runs\n  is sync-keys,\n  always.\n": false,
	} {
		t.Run(description, func(t *testing.T) {
			dir := tree(t, t.TempDir(), map[string]string{"hosts/t.yaml": "name: t\nroles: [r]\n", "host-roles/r.yaml": role(description, command)})
			var reasons int
			for _, f := range judge(t, dir, "") {
				if strings.HasSuffix(f, " no-reason") {
					reasons++
				}
			}
			if reasons != 0 != wrong {
				t.Errorf("%d findings, wrong is %v", reasons, wrong)
			}
			c, err := manifest.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			plan, found := c.Host("t")
			if plan == nil {
				t.Fatal(found)
			}
			if why := plan.Resources[0].Why; why == "" || strings.HasPrefix(why, "no sentence") || strings.HasPrefix(why, "the role has no") {
				if !wrong {
					t.Errorf("reports show %q", why)
				}
			} else if wrong {
				t.Errorf("reports show %q, which lint does not accept", why)
			}
		})
	}
	want(t, one(t, "a", "  - {type: command, id: \"command:a\", run: a, creates: /a}\n"))
	want(t, one(t, "Keys", command), "host-roles/r.yaml:5:5 no-reason")
}

func TestSpelling(t *testing.T) {
	want(t, one(t, "a", "  - {type: command, id: \"command:Make_It\", run: a, creates: /a}\n"), "host-roles/r.yaml:5:5 spelling")
}

// Activating what is active and deactivating what is not are warnings, as are names written twice.
func TestRedundantRoles(t *testing.T) {
	dir := tree(t, t.TempDir(), map[string]string{
		"hosts/t.yaml":      "name: t\nroles: [r, r]\nactivate: [r]\ndeactivate: [s]\n",
		"host-roles/r.yaml": "role: r\nversion: 1\nresources: []\n",
		"host-roles/s.yaml": "role: s\nversion: 1\nresources: []\n",
	})
	want(t, judge(t, dir, ""), "hosts/t.yaml:2:12 wrong-value", "hosts/t.yaml:3:12 R13", "hosts/t.yaml:4:14 R13")
}

func TestFiles(t *testing.T) {
	dir := tree(t, t.TempDir(), map[string]string{
		"hosts/t.yaml":                     "name: t\nroles: [r]\n",
		"hosts/t.yaml~":                    "",
		"hosts/README.md":                  "",
		"hosts/.gitkeep":                   "",
		"hosts/web/u.yaml":                 "",
		"host-roles/r.yaml":                "role: r\nversion: 1\nresources:\n  - {type: file, path: /a, source: a}\n  - {type: file, path: /b, source: sub/b, mode: \"0755\"}\n  - {type: file, path: /c, source: link}\n",
		"host-roles/gone/files/a":          "",
		"host-roles/r/notes.txt":           "",
		"host-roles/r/files/a":             "a",
		"host-roles/r/files/sub/b":         "b",
		"host-roles/r/files/sub/by-a-link": "c",
		"host-roles/r/files/left-over":     "",
	})
	for name, to := range map[string]string{"link": "sub/by-a-link", "dangling": "nowhere", "out": "../../../hosts/t.yaml"} {
		if err := os.Symlink(to, filepath.Join(dir, "host-roles/r/files", name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"host-roles/r/files/a": 0o755, "host-roles/r/files/sub/b": 0o777, "hosts/t.yaml": 0o755, "host-roles/r.yaml": 0o666} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	always := []string{
		"host-roles/gone stray-file",
		"host-roles/r/files/dangling dangling-link",
		"host-roles/r/files/left-over unused-source",
		"host-roles/r/files/out dangling-link",
	}
	got := judge(t, dir, "")
	all := slices.Concat(always, []string{
		"host-roles/r.yaml file-mode",
		"host-roles/r.yaml:4:5 file-mode",
		"host-roles/r/files/sub/b file-mode",
		"host-roles/r/notes.txt stray-file",
		"hosts/t.yaml file-mode",
		"hosts/t.yaml~ stray-file",
		"hosts/web stray-file",
	})
	slices.Sort(all)
	sorted := slices.Sorted(slices.Values(got))
	want(t, sorted, all...)

	c, err := manifest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	changed, err := lint.Fix(c)
	if err != nil || !slices.Equal(changed, []string{"hosts/t.yaml", "host-roles/r.yaml", "host-roles/r/files/sub/b"}) {
		t.Fatalf("changed %v, %v", changed, err)
	}
	left := judge(t, dir, "")
	if n := len(all) - 3; len(left) != n {
		t.Errorf("left after the fix: %v", left)
	}
}

// A fix keeps the file's mode, writes nothing that is right already, and does not follow a link out.
func TestFixWrites(t *testing.T) {
	dir := tree(t, t.TempDir(), map[string]string{
		"hosts/t.yaml":      "# the host\nroles: ['r']\nname: t   \n",
		"host-roles/r.yaml": "role: r\nversion: 1\nresources: []\n",
		"outside":           "role: s   \nversion: 1\nresources: []\n",
	})
	if err := os.Chmod(filepath.Join(dir, "hosts/t.yaml"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside", filepath.Join(dir, "host-roles/s.yaml")); err != nil {
		t.Fatal(err)
	}
	c, err := manifest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	changed, err := lint.Fix(c)
	if err != nil || !slices.Equal(changed, []string{"hosts/t.yaml"}) {
		t.Fatalf("changed %v, %v", changed, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "hosts/t.yaml"))
	info, _ := os.Stat(filepath.Join(dir, "hosts/t.yaml"))
	if err != nil || string(raw) != "# the host\nname: t\nroles: [\"r\"]\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v", raw, info.Mode(), err)
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, "outside")); !strings.Contains(string(raw), "s   ") {
		t.Errorf("a file behind a link was changed: %q", raw)
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "hosts")); len(entries) != 1 {
		t.Errorf("something is left beside the file: %v", entries)
	}
}

// checkout is a catalog in git.
type checkout struct {
	t   *testing.T
	dir string // of the repository
	sub string // of the catalog in it
}

func (c *checkout) git(args ...string) {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	tree(c.t, filepath.Join(c.dir, c.sub), map[string]string{name: text})
}

func (c *checkout) judge(since string) []string {
	c.t.Helper()
	return judge(c.t, filepath.Join(c.dir, c.sub), since)
}

func TestVersion(t *testing.T) {
	for _, sub := range []string{"", "deploy/catalog"} {
		t.Run("in "+sub, func(t *testing.T) {
			c := &checkout{t: t, dir: t.TempDir(), sub: sub}
			manifest := func(version, mode string) string {
				return "role: r\nversion: " + version + "\nresources:\n  - {type: file, path: /a, source: a, mode: \"" + mode + "\"}\n"
			}
			c.write("hosts/t.yaml", "name: t\nroles: [r]\n")
			c.write("host-roles/r.yaml", manifest("1", "0644"))
			c.write("host-roles/r/files/a", "one\n")
			want(t, c.judge("")) // no repository
			c.git("init", "-q", "-b", "main")
			want(t, c.judge("")) // no commit
			c.git("add", "-A")
			c.git("commit", "-qm", "one")
			want(t, c.judge(""))

			c.write("host-roles/r.yaml", "# a comment\n"+manifest("1", "644"))
			want(t, c.judge("")) // another text, the same resources

			const changed = "host-roles/r.yaml:2:10 version"
			c.write("host-roles/r.yaml", manifest("1", "0600"))
			want(t, c.judge(""), changed)
			c.write("host-roles/r.yaml", manifest("2", "0600"))
			want(t, c.judge(""))
			c.write("host-roles/r.yaml", manifest("0x0", "0600"))
			want(t, c.judge(""), "host-roles/r.yaml:2:10 wrong-value")

			c.write("host-roles/r.yaml", manifest("1", "0644"))
			c.write("host-roles/r/files/a", "two\n")
			want(t, c.judge(""), changed) // its source

			c.git("checkout", "-qb", "topic")
			c.git("commit", "-qam", "two")
			want(t, c.judge(""), changed) // the commit itself
			c.git("commit", "-qm", "three", "--allow-empty")
			want(t, c.judge(""))
			want(t, c.judge("main"), changed) // the branch
			c.write("host-roles/r.yaml", manifest("2", "0644"))
			want(t, c.judge("main"))

			c.git("commit", "-qam", "four")
			c.write("host-roles/r.yaml", manifest("1", "0600"))
			want(t, c.judge(""), changed) // back
		})
	}
}

func TestUnknownRevision(t *testing.T) {
	dir := tree(t, t.TempDir(), map[string]string{"hosts/t.yaml": "name: t\nroles: []\n"})
	for _, git := range []bool{false, true} {
		if git {
			(&checkout{t: t, dir: dir}).git("init", "-q")
		}
		c, err := manifest.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, since := range []string{"nowhere", "--all", "HEAD"} {
			if _, err := lint.Catalog(c, lint.Options{Since: since}); !errors.Is(err, lint.ErrRevision) {
				t.Errorf("%s: %v", since, err)
			}
		}
		c.Close()
	}
}

// Whatever a manifest holds, nothing panics, every finding is one line with a rule that is described, and a fix leaves
// what validation says as it was.
func FuzzCatalog(f *testing.F) {
	for _, pattern := range []string{"../../cue/testdata/*/*.yaml", "../../host-roles/*.yaml", "../../examples/host-roles/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Setenv("PATH", "") // no git: nothing to compare with, and no process a run
	dir := tree(f, f.TempDir(), map[string]string{"hosts/t.yaml": "name: t\nroles: [t]\n"})
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree(t, dir, map[string]string{"host-roles/t.yaml": string(raw)})
		before := judge(t, dir, "")
		c, err := manifest.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		p, _ := c.Host("t")
		if _, err := lint.Fix(c); err != nil {
			t.Fatal(err)
		}
		after := judge(t, dir, "")
		if len(after) > len(before) {
			t.Fatalf("more findings after the fix: %v, %v", before, after)
		}
		again, err := manifest.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		q, _ := again.Host("t")
		if (p == nil) != (q == nil) || p != nil && p.Digest != q.Digest {
			t.Fatal("the fix changed what the host is to be")
		}
	})
}

// A role may list very many files; what is asked of their order takes work in proportion.
func TestManyFiles(t *testing.T) {
	took := func(n int) time.Duration {
		var b strings.Builder
		b.WriteString("role: r\nversion: 1\nresources:\n")
		for i := range n {
			fmt.Fprintf(&b, "  - {type: file, path: /a/%d, content: x}\n", i)
		}
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "host-roles"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "host-roles/r.yaml"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := manifest.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		start := time.Now()
		if found, err := lint.Catalog(c, lint.Options{}); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		return time.Since(start)
	}
	took(500)
	small, large := min(took(2500), took(2500), took(2500)), min(took(40000), took(40000), took(40000)) // the least, so that only work counts
	// 16 times the files; 256 times the work when it is the square
	if large > 60*small {
		t.Errorf("16 times the files took %v, %v before", large, small)
	}
}
