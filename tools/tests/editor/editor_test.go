package editor

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// serverVersion is the language server that the tests were written with; VS Code's YAML extension carries the same one.
const serverVersion = "1.19.2"

// requireEnv, set to 1, makes a machine without npm a failure instead of a notice.
const requireEnv = "GYRUM_REQUIRE_EDITOR"

// server is the command that runs the language server, nil where there is none; reason says why in one line.
var (
	server []string
	reason string
)

func TestMain(m *testing.M) {
	server, reason = find()
	if server == nil {
		if os.Getenv(requireEnv) == "1" {
			fmt.Fprintln(os.Stderr, "FAIL:", reason)
			os.Exit(1)
		}
		fmt.Println("left out: the tests of editors' help:", reason)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// find gives the server from the cache, which npm fills once.
func find() ([]string, string) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, "node is not installed; Debian has it in the packages nodejs and npm"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err.Error()
	}
	dir := filepath.Join(cache, "gyrum-tests", "yaml-language-server-"+serverVersion)
	program := filepath.Join(dir, "node_modules", "yaml-language-server", "bin", "yaml-language-server")
	if _, err := os.Stat(program); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err.Error()
		}
		out, err := exec.Command("npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "yaml-language-server@"+serverVersion).CombinedOutput()
		if err != nil {
			return nil, fmt.Sprintf("npm could not install the language server: %v: %.200s", err, out)
		}
	}
	return []string{node, program, "--stdio"}, ""
}

// repository is the root of this repository.
func repository(t *testing.T) string {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// start starts a server on an empty folder, with gyrum's schemas as the settings of a catalog name them.
func start(t *testing.T) *Server {
	schemas := filepath.Join(repository(t), "schemas")
	s, err := Start(t.TempDir(), map[string]string{
		"file://" + filepath.Join(schemas, "role-manifest.v1.json"): "host-roles/*.yaml",
		"file://" + filepath.Join(schemas, "host.v1.json"):          "hosts/*.yaml",
	}, server...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

const head = "role: app\nversion: 1\nresources:\n"

// place finds the cursor, which a text shows as ^, and takes it out.
func place(t *testing.T, text string) (rest string, line, character int) {
	before, after, ok := strings.Cut(text, "^")
	if !ok {
		t.Fatal("no cursor in", text)
	}
	return before + after, strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n') - 1
}

func TestCompletionOffersWhatMayBeWritten(t *testing.T) {
	s := start(t)
	for i, c := range []struct {
		name, text string
		// want are labels with their inserted text and the beginning of their words, "" for any; never are labels.
		want  [][3]string
		never []string
	}{
		{
			name: "resource types", text: head + "  - type: ^\n",
			want: [][3]string{
				{"package", "package", "A Debian package"}, {"file", "file", "A regular file"}, {"directory", "directory", ""},
				{"systemd_unit", "systemd_unit", "A systemd unit"}, {"env", "env", ""}, {"command", "command", ""},
			},
		},
		{
			name: "the fields of a file", text: head + "  - type: file\n    ^\n",
			want: [][3]string{
				{"path", "path: ", "Where the file is to be"}, {"content", "content: ", "What it is to hold"}, {"source", "source: ", ""},
				{"mode", `mode: ${1:"0644"}`, "Permission bits"}, {"owner", "owner: ${1:root}", ""}, {"state", "state: ", "Whether the file"},
			},
			never: []string{"name", "vars", "enabled", "restart_on", "run", "version", "package"},
		},
		{
			name: "the fields of a unit that is begun", text: head + "  - type: systemd_unit\n    name: a.service\n    ^\n",
			want:  [][3]string{{"enabled", "", "Whether the unit is to be started at boot"}, {"restart_on", "", "Ids of resources"}},
			never: []string{"path", "mode", "content", "name"},
		},
		{
			name: "the words of a state", text: head + "  - type: systemd_unit\n    name: a.service\n    state: ^\n",
			want: [][3]string{{"started", "", ""}, {"stopped", "", ""}}, never: []string{"present", "absent"},
		},
		{
			name: "whole resources in a new place", text: head + "  - ^\n",
			want: [][3]string{{"file", "type: file\n  path: ", "A regular file"}, {"systemd_unit", "type: systemd_unit\n  name: ", ""}},
		},
		{
			name: "a new role", text: "^",
			want: [][3]string{{"role", "role: ", "The role's name"}, {"version", "version: ${1:1}", ""}, {"requires", "", "Roles that must be on the same host"}},
		},
		{
			name: "a reference to a secret", text: head + "  - type: file\n    path: /a\n    content:\n      ^\n",
			want: [][3]string{{"secret_ref", "", "provider:name"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := fmt.Sprintf("host-roles/complete-%d.yaml", i)
			text, line, character := place(t, c.text)
			if _, err := s.Open(file, text); err != nil {
				t.Fatal(err)
			}
			items, err := s.Complete(file, line, character)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(items, func(it Item) bool {
					return it.Label == w[0] && (w[1] == "" || it.InsertText == w[1]) && strings.HasPrefix(string(it.Documentation), w[2])
				}) {
					t.Errorf("%q is not offered; offered is\n%s", w, listed(items))
				}
			}
			for _, never := range c.never {
				if slices.ContainsFunc(items, func(it Item) bool { return it.Label == never }) {
					t.Errorf("%s is offered", never)
				}
			}
		})
	}
}

func listed(items []Item) string {
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "  %s %q %q\n", it.Label, it.InsertText, it.Documentation)
	}
	return b.String()
}

func TestHostsComplete(t *testing.T) {
	s := start(t)
	text, line, character := place(t, "name: a\nroles: []\n^\n")
	if found, err := s.Open("hosts/a.yaml", text); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	items, err := s.Complete("hosts/a.yaml", line, character)
	if err != nil || !slices.ContainsFunc(items, func(it Item) bool { return it.Label == "deactivate" }) {
		t.Errorf("deactivate is not offered: %v\n%s", err, listed(items))
	}
}

func TestHoverSaysWhatAFieldIs(t *testing.T) {
	s := start(t)
	text, line, character := place(t, head+"  - type: systemd_unit\n    name: a.service\n    state: started\n    restart^_on: []\n")
	if _, err := s.Open("host-roles/hover.yaml", text); err != nil {
		t.Fatal(err)
	}
	if words, err := s.Hover("host-roles/hover.yaml", line, character); err != nil || !strings.Contains(words, "whose change restarts the unit") {
		t.Errorf("hover says %q, %v", words, err)
	}
}

func TestMistakesAreFlaggedWhereTheyAre(t *testing.T) {
	s := start(t)
	for i, c := range []struct {
		name, text string
		want       []string // line: expression
	}{
		{"an unknown field", head + "  - type: file\n    path: /a\n    content: x\n    moed: \"0644\"\n", []string{"7: Property moed is not allowed"}},
		{"a field of another type", head + "  - type: directory\n    path: /a\n    content: x\n", []string{"6: Property content is not allowed"}},
		{"a word that is none", head + "  - type: file\n    path: /a\n    content: x\n    state: Present\n", []string{`7: Value is not accepted. Valid values: "present", "absent"`}},
		{"a type that is none", head + "  - type: pakage\n    name: a\n", []string{`4: Value is not accepted. Valid values: "package", "file"`}},
		{"a mode without quotes", head + "  - type: file\n    path: /a\n    content: x\n    mode: 0644\n", []string{`7: write a quoted octal string such as "0644"`}},
		{"a number in place of text", head + "  - type: env\n    path: /a\n    vars:\n      PORT: 8080\n", []string{"7: write a string in quotes"}},
		{"a word in place of a number", "role: app\nversion: one\nresources: []\n", []string{`2: Incorrect type. Expected "integer"`}},
		{"a word in place of a boolean", head + "  - type: systemd_unit\n    name: a.service\n    enabled: yes please\n", []string{"6: write true or false, without quotes"}},
		{"a path that is not absolute", head + "  - type: file\n    path: a\n    content: x\n", []string{"5: write an absolute path"}},
		{"a type that is missing", head + "  - name: a\n", []string{`4: Missing property "type"`}},
		{"no content", head + "  - type: file\n    path: /a\n", []string{`4: Missing property "content"`}},
		{"content and source", head + "  - type: file\n    path: /a\n    content: x\n    source: a\n", []string{"7: content and source together; keep one"}},
		{"a version of what is absent", head + "  - type: package\n    name: curl\n    version: \"1.2\"\n    state: absent\n", []string{"7: a version together with state: absent"}},
		{"a reference misspelt", head + "  - type: file\n    path: /a\n    content: {secretref: \"file:/x\"}\n", []string{`6: Missing property "secret_ref"`, "6: Property secretref is not allowed"}},
		{"a resource that is no mapping", head + "  - curl\n", []string{"4: write a resource: a mapping with type"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := s.Open(fmt.Sprintf("host-roles/mistake-%d.yaml", i), c.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%d: %s", d.Range.Start.Line+1, d.Message))
			}
			for _, w := range c.want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) }) {
					t.Errorf("%q is not said; said is %q", w, got)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("%d complaints, want %d: %q", len(got), len(c.want), got)
			}
		})
	}
}

// What is right has no complaint: the good manifests of the definitions, and the shipped roles and hosts.
func TestWhatIsRightHasNoComplaint(t *testing.T) {
	s := start(t)
	root := repository(t)
	for _, set := range []struct{ dir, as string }{{"cue/testdata/good", "host-roles"}, {"host-roles", "host-roles"}, {"hosts", "hosts"}} {
		files, err := filepath.Glob(filepath.Join(root, set.dir, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", set.dir, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Open(set.as+"/"+filepath.Base(file), string(raw))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found {
				t.Errorf("%s/%s:%d: %s", set.dir, filepath.Base(file), d.Range.Start.Line+1, d.Message)
			}
		}
	}
}

// A catalog's own types are known to that catalog alone: an editor lets them be.
func TestOwnTypesAreLetBe(t *testing.T) {
	s := start(t)
	if found, err := s.Open("host-roles/own.yaml", head+"  - type: x_note\n    anything: 1\n"); err != nil || len(found) > 0 {
		t.Errorf("complaints about a type of the catalog's own: %v %v", found, err)
	}
}

// A new catalog helps editors by itself: its files name the schemas that lie in it, and so do its settings.
func TestANewCatalogHelpsEditors(t *testing.T) {
	gyrum := filepath.Join(repository(t), "bin", "gyrum")
	dir := filepath.Join(t.TempDir(), "catalog")
	if out, err := exec.Command(gyrum, "init", dir, "--host", "web-1").CombinedOutput(); err != nil {
		t.Fatalf("gyrum init: %v: %s (make build makes the program)", err, out)
	}
	s, err := Start(dir, nil, server...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	raw, err := os.ReadFile(filepath.Join(dir, "host-roles", "hello.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.Open("host-roles/hello.yaml", string(raw)); err != nil || len(found) > 0 {
		t.Errorf("complaints about the example: %v %v", found, err)
	}
	broken := regexp.MustCompile(`(?m)^    path:`).ReplaceAllString(string(raw), "    pth:")
	if found, err := s.Open("host-roles/broken.yaml", broken); err != nil || len(found) != 2 {
		t.Errorf("a misspelt field is not seen by the schema that the file names: %v %v", found, err)
	}

	settings, err := os.ReadFile(filepath.Join(dir, ".vscode", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Schemas map[string][]string `json:"yaml.schemas"`
	}
	if err := json.Unmarshal(settings, &v); err != nil || len(v.Schemas) != 2 {
		t.Fatalf("settings: %v %v", v, err)
	}
	for schema := range v.Schemas {
		if _, err := os.Stat(filepath.Join(dir, schema)); err != nil {
			t.Errorf("the settings name a schema that is not there: %v", err)
		}
	}
}
