package manifest_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine/host/envfile"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// The worked example alone in a catalog: a host, a role, nothing else.
func TestWorkedExample(t *testing.T) {
	prober, err := os.ReadFile("../../host-roles/gyrum-prober.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, catalog(t, map[string]string{"hosts/t.yaml": "name: t\nroles: [gyrum-prober]\n", "host-roles/gyrum-prober.yaml": string(prober)}))
	want := []struct{ id, declared, view string }{
		{"package:gyrum-prober", `{"id":"package:gyrum-prober","name":"gyrum-prober","state":"present","type":"package","version":"present"}`, ""},
		{"directory:/etc/gyrum", `{"group":"root","id":"directory:/etc/gyrum","mode":"0755","owner":"root","path":"/etc/gyrum","state":"present","type":"directory"}`, ""},
		{"file:/etc/gyrum/prober.yaml",
			`{"content":"heartbeat_interval_seconds: 60\nwarp_endpoint: https://warp.gyrum.ai/api/v1/heartbeat\nhost_name_source: /etc/hostname\n","group":"gyrum","id":"file:/etc/gyrum/prober.yaml","mode":"0640","owner":"root","path":"/etc/gyrum/prober.yaml","state":"present","type":"file"}`,
			`{"content":{"sha256":"adb52ef2b9359acc8e5cead133915dc6eb1c5f3623cac34ee1d2dba869fa226f","size":117},"group":"gyrum","id":"file:/etc/gyrum/prober.yaml","mode":"0640","owner":"root","path":"/etc/gyrum/prober.yaml","state":"present","type":"file"}`},
		{"systemd_unit:gyrum-prober.service", `{"enabled":true,"id":"systemd_unit:gyrum-prober.service","name":"gyrum-prober.service","state":"started","type":"systemd_unit","unit_file":"/lib/systemd/system/gyrum-prober.service"}`, ""},
	}
	if len(p.Resources) != len(want) {
		t.Fatalf("%d resources, want %d", len(p.Resources), len(want))
	}
	for i, w := range want {
		r := p.Resources[i]
		if w.view == "" {
			w.view = w.declared
		}
		if r.ID != w.id || string(r.Declared) != w.declared || string(r.View) != w.view || r.Role != "gyrum-prober" {
			t.Errorf("resource %d:\n%s %s\n%s\nwant\n%s\n%s", i, r.Role, r.Declared, r.View, w.declared, w.view)
		}
	}
	if got := p.Resources[2].Pos.String(); got != "host-roles/gyrum-prober.yaml:25:5" {
		t.Errorf("position %s", got)
	}
	if p.Revision != "" || p.BehindUpstream != nil {
		t.Errorf("a revision outside git: %s", p.Revision)
	}
}

func TestDefaultsAndForms(t *testing.T) {
	for _, c := range []struct{ name, in, id, declared, view string }{
		{"three digits", `{type: file, path: /a, content: "", mode: "644"}`, "file:/a",
			`{"content":"","group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"present","type":"file"}`,
			`{"content":{"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","size":0},"group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"present","type":"file"}`},
		{"five digits", `{type: directory, path: /a, mode: "02775"}`, "directory:/a",
			`{"group":"root","id":"directory:/a","mode":"2775","owner":"root","path":"/a","state":"present","type":"directory"}`, ""},
		{"a path is cleaned", `{type: directory, path: //a/./b///}`, "directory:/a/b",
			`{"group":"root","id":"directory:/a/b","mode":"0755","owner":"root","path":"/a/b","state":"present","type":"directory"}`, ""},
		{"an absent file has no content", `{type: file, path: /a, state: absent}`, "file:/a",
			`{"group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"absent","type":"file"}`, ""},
		{"the string no", `{type: file, path: /a, content: no}`, "file:/a",
			`{"content":"no","group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"present","type":"file"}`,
			`{"content":{"sha256":"9390298f3fb0c5b160498935d79cb139aef28e1c47358b4bbba61862b9c26e59","size":2},"group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"present","type":"file"}`},
		{"a secret content", `{type: file, path: /a, content: {secret_ref: "file:/s"}}`, "file:/a",
			`{"content":{"secret_ref":"file:/s"},"group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"present","type":"file"}`, ""},
		{"variables are sorted", `{type: env, path: /a, vars: {Z: "1", A: "é\n", M_TOKEN: {secret_ref: "exec:x"}}}`, "env:/a",
			`{"group":"root","id":"env:/a","mode":"0640","owner":"root","path":"/a","state":"present","type":"env","vars":{"A":"é\n","M_TOKEN":{"secret_ref":"exec:x"},"Z":"1"}}`, ""},
		{"a command as a list", `{type: command, id: "command:c", run: [a, "b c"], creates: /x/}`, "command:c",
			`{"creates":"/x/","id":"command:c","idempotent":true,"run":["a","b c"],"timeout":"10m","type":"command"}`, ""},
		{"a command that is not idempotent", `{type: command, id: "command:c", run: a, idempotent: FALSE}`, "command:c",
			`{"id":"command:c","idempotent":false,"run":"a","timeout":"10m","type":"command"}`, ""},
		{"references are cleaned", `{type: systemd_unit, name: a.timer, enabled: True, restart_on: ["package:p", "systemd"]}`, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := one(t, "  - "+c.in+"\n")
			if c.id == "" {
				if p, _ := open(t, dir).Host("t"); p != nil {
					t.Error("accepted")
				}
				return
			}
			r := plan(t, dir).Resources[0]
			if c.view == "" {
				c.view = c.declared
			}
			if r.ID != c.id || string(r.Declared) != c.declared || string(r.View) != c.view {
				t.Errorf("got\n%s\n%s\n%s\nwant\n%s\n%s\n%s", r.ID, r.Declared, r.View, c.id, c.declared, c.view)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	p := plan(t, one(t, `
  - {type: file, path: /a, content: {secret_ref: "credential:tls"}}
  - {type: env, path: /b, vars: {A: "1", B_TOKEN: {secret_ref: "age:secrets/b.age"}}}
`))
	for i, want := range []map[string]resource.SecretRef{
		{"content": {Provider: "credential", Name: "tls"}},
		{"vars.B_TOKEN": {Provider: "age", Name: "secrets/b.age"}},
	} {
		if r := p.Resources[i]; !maps.Equal(r.Secrets, want) || r.Content != nil {
			t.Errorf("%s: secrets %v, content %v; want %v", r.ID, r.Secrets, r.Content, want)
		}
	}
}

// What a variable may hold is what the writer of environment files takes, no more and no less.
func TestVariablesHoldWhatSystemdReads(t *testing.T) {
	var b strings.Builder
	var want []string
	for _, r := range "\x00\x01\x08\t\n\r\x1b\x7f\u0085\u2028\ue000\ufdcf\ufdd0\ufdef\ufdf0\ufeff\ufffd\ufffe\uffff😀\U0001fffd\U0001fffe\U0001ffff\U00020000\U000ffffe\U0010fffd\U0010fffe\U0010ffff" {
		fmt.Fprintf(&b, "  - {type: env, path: /etc/%x, vars: {A: \"a\\U%08X\"}}\n", r, r)
		if !envfile.ValidText(string(r)) {
			want = append(want, fmt.Sprintf("env:/etc/%x:", r))
		}
	}
	_, fs := open(t, one(t, b.String())).Host("t")
	var got []string
	for _, f := range fs {
		got = append(got, regexp.MustCompile("env:/etc/[0-9a-f]+:").FindString(f.String()))
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused %q, want %q", got, want)
	}
}

func TestLargeContentIsShownByDigest(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", manifest.MaxInline/16)
	p := plan(t, one(t, fmt.Sprintf("  - {type: file, path: /a, content: %q}\n  - {type: file, path: /b, content: %q}\n", text, text+"x")))
	if !strings.Contains(string(p.Resources[0].Declared), text) {
		t.Error("a content of 64 KiB is not shown")
	}
	r := p.Resources[1]
	if strings.Contains(string(r.Declared), text) || !strings.Contains(string(r.Declared), `"size":65537`) {
		t.Error("a content over 64 KiB is shown")
	}
	if raw, err := r.Content.Open(); err != nil || string(raw) != text+"x" {
		t.Errorf("the content cannot be opened: %v", err)
	}
}

func TestOrderOfRoles(t *testing.T) {
	role := func(name, requires string) string {
		return "role: " + name + "\nversion: 1\nrequires: [" + requires + "]\nresources: []\n"
	}
	for _, c := range []struct{ name, host, catalog, want string }{
		{"requires before, ties as listed", "roles: [z, a, b, m]", "", "host base, a roles, b roles, z roles, m roles"},
		{"defaults first", "roles: [a]", "defaults: [m, a]", "host base, m defaults, a defaults"},
		{"duplicates keep the first place", "roles: [m, a, m]\nactivate: [a]", "", "host base, m roles, a roles"},
		{"activate", "roles: [a]\nactivate: [m]", "", "host base, a roles, m activate"},
		{"deactivate a default", "roles: [a]\ndeactivate: [m]", "defaults: [m]", "host base, a roles"},
		{"deactivate wins over activate", "roles: [a]\nactivate: [m]\ndeactivate: [m]", "", "host base, a roles"},
		{"what is not active", "roles: [a]\ndeactivate: [m]", "", "host base, a roles"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := catalog(t, map[string]string{
				"catalog.yaml": "roles: [a, b, m, z, host]\n" + c.catalog + "\n", "hosts/t.yaml": "name: t\n" + c.host + "\n",
				"host-roles/a.yaml": role("a", ""), "host-roles/b.yaml": role("b", ""), "host-roles/m.yaml": role("m", ""),
				"host-roles/z.yaml": role("z", "b"), "host-roles/host.yaml": role("host", ""),
			})
			var got []string
			for _, u := range plan(t, dir).Roles {
				got = append(got, u.Name+" "+u.From)
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("got %s, want %s", strings.Join(got, ", "), c.want)
			}
		})
	}
}

// The digest changes with what the host becomes, and with nothing else.
func TestDigest(t *testing.T) {
	base := map[string]string{
		"catalog.yaml":            "roles: [r, other]\n",
		"hosts/t.yaml":            "name: t\nroles: [r]\n",
		"hosts/u.yaml":            "name: u\nroles: [other]\n",
		"host-roles/r.yaml":       "role: r\nversion: 1\ndescription: d\nresources:\n  - {type: file, path: /a, content: a}\n  - {type: file, path: /b, source: b}\n",
		"host-roles/r/files/b":    "b",
		"host-roles/other.yaml":   "role: other\nversion: 1\nresources: []\n",
		"host-roles/r/files/free": "x",
	}
	digest := func(name, text string) string {
		files := maps.Clone(base)
		if name != "" {
			files[name] = text
		}
		return plan(t, catalog(t, files)).Digest
	}
	want := digest("", "")
	for _, c := range []struct{ name, text string }{
		{"hosts/t.yaml", "# a comment\nname: t\ndescription: new\nroles:\n- r\nlabels: {a: b}\nx-any: 1\n"},
		{"hosts/u.yaml", "name: u\nroles: []\n"},
		{"host-roles/other.yaml", "role: other\nversion: 2\nresources:\n  - {type: package, name: curl}\n"},
		{"host-roles/r/files/free", "y"},
		{"host-roles/r.yaml", "role: r\nversion: 1\ndescription: other words\nresources:\n- type: file\n  path: //a\n  content: 'a'\n  mode: \"644\"\n- {type: file, path: /b, source: b, owner: root}\n"},
	} {
		if got := digest(c.name, c.text); got != want {
			t.Errorf("%s changed the digest with\n%s", c.name, c.text)
		}
	}
	for _, c := range []struct{ name, text string }{
		{"host-roles/r/files/b", "c"},
		{"host-roles/r.yaml", strings.Replace(base["host-roles/r.yaml"], "content: a", "content: b", 1)},
		{"host-roles/r.yaml", strings.Replace(base["host-roles/r.yaml"], "version: 1", "version: 2", 1)},
		{"hosts/t.yaml", "name: t\nroles: [other, r]\n"},
	} {
		if got := digest(c.name, c.text); got == want {
			t.Errorf("%s did not change the digest with\n%s", c.name, c.text)
		}
	}
}

// A broken file of another host or role stops no host, and validate finds it.
func TestOnlyWhatTheHostUses(t *testing.T) {
	files := map[string]string{
		"catalog.yaml": "roles: [r, broken, gone]\n", "hosts/t.yaml": "name: t\nroles: [r]\n", "hosts/u.yaml": "name: [\n", "hosts/w.yaml": "name: w\nroles: [broken, r]\n",
		"host-roles/r.yaml": "role: r\nversion: 1\nresources: []\n", "host-roles/broken.yaml": "role: broken\nversion: 1\nrequires: [none]\nresources: [{}]\n",
	}
	dir := catalog(t, files)
	plan(t, dir)
	c := open(t, dir)
	for _, name := range []string{"u", "w", "none", "../t", ""} {
		if p, fs := c.Host(name); p != nil || !manifest.HasErrors(fs) {
			t.Errorf("host %q is accepted", name)
		}
	}
	got := strings.Join(lines(c.Validate()), "\n")
	for _, want := range []string{"catalog.yaml:1:20: R2", "host-roles/broken.yaml:3:12: R4", "host-roles/broken.yaml:4:13: missing-field", "hosts/u.yaml:"} {
		if !strings.Contains(got, want) {
			t.Errorf("validate does not say %s:\n%s", want, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := manifest.Open(dir); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestReservedFolders(t *testing.T) {
	dir := one(t, "  - {type: directory, path: /srv/state/x}\n  - {type: directory, path: /srv/statement}\n  - {type: directory, path: /srv}\n")
	plan(t, dir)
	c := open(t, dir)
	c.Reserve("/srv/state", "")
	p, fs := c.Host("t")
	if p != nil || len(fs) != 1 || fs[0].Rule != "R7" {
		t.Errorf("got %v", lines(fs))
	}
}

func TestWarnings(t *testing.T) {
	dir := catalog(t, map[string]string{
		"hosts/t.yaml":      "name: t\nroles: [r, r]\nactivate: [r]\ndeactivate: [s]\n",
		"host-roles/r.yaml": "role: r\nversion: 1\nresources: []\n", "host-roles/s.yaml": "role: s\nversion: 1\nresources: []\n",
	})
	plan(t, dir)
	c := open(t, dir)
	if fs := c.Validate(); len(fs) > 0 {
		t.Errorf("validate: %v", lines(fs))
	}
	var rules []string
	for _, f := range c.Warnings() {
		rules = append(rules, f.Rule)
	}
	if !slices.Equal(rules, []string{"wrong-value", "R13", "R13"}) {
		t.Errorf("warnings %v", lines(c.Warnings()))
	}
}

// A folder that is named as a manifest is one that cannot be read, not none.
func TestNames(t *testing.T) {
	c := open(t, catalog(t, map[string]string{"hosts/b.yaml": "", "hosts/a.yaml": "", "hosts/.x.yaml": "", "hosts/d.yaml/x": "", "host-roles/r.yaml": "", "host-roles/r/files/x": ""}))
	if got := c.HostNames(); !slices.Equal(got, []string{"a", "b", "d"}) {
		t.Errorf("hosts %v", got)
	}
	if got := c.RoleNames(); !slices.Equal(got, []string{"r"}) {
		t.Errorf("roles %v", got)
	}
}
