// Package owntype brings a resource type of a catalog's own through its whole life: built with the SDK, exported,
// reviewed, locked, signed, checked and applied, and refused wherever one of that is missing.
package owntype

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gyrum.ai/engine/conformance"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
)

const root = "../../.."

// built holds the program, the exporter and the modules of x_note, made once.
var built struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

func build(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "gyrum-owntype-"); built.err != nil {
			return
		}
		for name, pkg := range map[string]string{"gyrum": "./cmd/gyrum", "schemagen": "./tools/schemagen"} {
			if built.err = run(root, nil, "go", "build", "-o", filepath.Join(built.dir, name), pkg); built.err != nil {
				return
			}
		}
		built.err = buildGuest(filepath.Join(built.dir, "guest"))
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// buildGuest builds the modules outside of the repository, as a catalog's author does.
func buildGuest(dir string) error {
	sdk, err := filepath.Abs(filepath.Join(root, "plugins"))
	if err != nil {
		return err
	}
	files := map[string]string{
		"go.mod": "module example.org/note\n\ngo 1.26.0\n\nrequire gyrum.ai/plugins v0.0.0\n\nreplace gyrum.ai/plugins => " + sdk + "\n",
	}
	for _, name := range []string{"note.go", "observe/main.go", "apply/main.go"} {
		raw, err := os.ReadFile(filepath.Join("testdata/guest", name+".txt"))
		if err != nil {
			return err
		}
		files[name] = string(raw)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, phase := range []string{"observe", "apply"} {
		env := append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		if err := run(dir, env, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", phase+".wasm", "./"+phase); err != nil {
			return err
		}
	}
	return nil
}

func run(dir string, env []string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// catalog is a copy of testdata/catalog with its modules, for one test.
type catalog struct {
	t     *testing.T
	dir   string
	notes string
	state string
}

func newCatalog(t *testing.T) *catalog {
	t.Helper()
	bin := build(t)
	c := &catalog{t: t, dir: t.TempDir(), notes: filepath.Join(t.TempDir(), "notes"), state: filepath.Join(t.TempDir(), "state")}
	for _, d := range []string{c.notes, c.state} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(c.dir, os.DirFS("testdata/catalog")); err != nil {
		t.Fatal(err)
	}
	c.edit("host-roles/notes.yaml", "NOTES", c.notes, "UID", fmt.Sprint(os.Getuid()), "GID", fmt.Sprint(os.Getgid()))
	for _, phase := range []string{"observe", "apply"} {
		raw, err := os.ReadFile(filepath.Join(bin, "guest", phase+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		c.write("plugins/x_note/"+phase+".wasm", string(raw))
	}
	return c
}

func (c *catalog) read(name string) string {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(raw)
}

func (c *catalog) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// edit replaces texts in a file, each by the one behind it.
func (c *catalog) edit(name string, oldnew ...string) {
	c.t.Helper()
	c.write(name, strings.NewReplacer(oldnew...).Replace(c.read(name)))
}

func (c *catalog) export() {
	c.t.Helper()
	if err := run(root, nil, filepath.Join(build(c.t), "schemagen"), "-catalog", c.dir); err != nil {
		c.t.Fatal(err)
	}
}

// gyrum runs the program on the catalog and wants an exit code; what it printed comes back.
func (c *catalog) gyrum(want int, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(build(c.t), "gyrum"), append(args, "--catalog", c.dir, "--state-dir", c.state, "--cache-dir", filepath.Join(build(c.t), "cache"))...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != want {
		c.t.Fatalf("gyrum %s: exit code %d, want %d (%v)\n%s%s", strings.Join(args, " "), got, want, err, out.String(), errs.String())
	}
	return out.String() + errs.String()
}

func (c *catalog) holds(text string, parts ...string) {
	c.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			c.t.Errorf("it lacks %q:\n%s", p, text)
		}
	}
}

// ready gives a catalog whose type is exported and locked.
func ready(t *testing.T) *catalog {
	c := newCatalog(t)
	c.export()
	c.holds(c.gyrum(0, "lock"), "x_note: new, observe file_digest file_stat, apply file_remove file_replace")
	return c
}

func TestFromSourceToAnAppliedHost(t *testing.T) {
	c := newCatalog(t)
	c.holds(c.gyrum(1, "check", "--host", "web-1"), "the catalog's own type x_note cannot be used", "plugin.json")
	c.export()
	c.holds(c.gyrum(1, "check", "--host", "web-1"), "gyrum.lock", "run gyrum lock")
	c.holds(c.gyrum(0, "plugin", "inspect", "x_note"), "file_replace", "bound to the declared path")
	c.gyrum(0, "lock")
	c.gyrum(0, "lock", "--check")
	c.gyrum(0, "validate")
	for _, tool := range []string{"validate", "lint"} {
		if err := run(root, nil, "go", "run", "./tools/"+tool, "-q", c.dir); err != nil {
			t.Error(err)
		}
	}
	c.holds(c.gyrum(2, "check", "--host", "web-1"), "x_note", "create")

	var report struct {
		Schema string
		Items  []json.RawMessage
	}
	if err := json.Unmarshal([]byte(c.gyrum(2, "check", "--host", "web-1", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(report.Schema, "/drift-report.v2.json") || len(report.Items) != 2 {
		t.Fatalf("%s with %d items", report.Schema, len(report.Items))
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "schemas/drift-item.v2.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range report.Items {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err == nil {
			err = schema.Validate(v)
		}
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}

	c.gyrum(0, "apply", "--host", "web-1", "--auto-confirm")
	if raw, err := os.ReadFile(filepath.Join(c.notes, "a")); err != nil || string(raw) != "hello\n" {
		t.Errorf("%q %v", raw, err)
	}
	c.gyrum(0, "check", "--host", "web-1")
	if err := os.WriteFile(filepath.Join(c.notes, "gone"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	c.holds(c.gyrum(2, "check", "--host", "web-1"), "remove")
	c.gyrum(0, "apply", "--host", "web-1", "--auto-confirm")
	if _, err := os.Lstat(filepath.Join(c.notes, "gone")); err == nil {
		t.Error("it is there still")
	}
}

// Plain cue needs nothing of gyrum's: the definitions, vendored, take the type in.
func TestPlainCueTakesTheType(t *testing.T) {
	c := newCatalog(t)
	if err := os.CopyFS(filepath.Join(c.dir, "cue.mod/pkg/gyrum.ai/cue"), definitions(t)); err != nil {
		t.Fatal(err)
	}
	c.write("cue.mod/module.cue", "module: \"example.org/catalog\"\nlanguage: version: \"v0.14.0\"\n")
	raw, err := os.ReadFile(filepath.Join(root, "catalog.cue"))
	if err != nil {
		t.Fatal(err)
	}
	c.write("catalog.cue", string(raw))
	c.write("catalog.yaml", "roles: [notes]\n")
	vet := func() error {
		return run(c.dir, append(os.Environ(), "GOWORK=off"), filepath.Join(cueProgram(t)), "vet", "-c", ".")
	}
	if err := vet(); err == nil || !strings.Contains(err.Error(), "a resource type: package") {
		t.Errorf("before the export: %v", err)
	}
	c.export()
	if err := vet(); err != nil {
		t.Error(err)
	}
	c.edit("host-roles/notes.yaml", "content: \"hello\\n\"", "contents: x")
	if err := vet(); err == nil || !strings.Contains(err.Error(), "contents") {
		t.Errorf("a wrong field: %v", err)
	}
	c.gyrum(0, "lock")
	c.holds(c.gyrum(1, "validate"), "the field contents does not exist", "did you mean content?")
}

func definitions(t *testing.T) fs.FS {
	files := fstest.MapFS{}
	names, err := filepath.Glob(filepath.Join(root, "cue/*.cue"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, n := range names {
		raw, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(n)] = &fstest.MapFile{Data: raw, Mode: 0o644}
	}
	return files
}

// cueProgram builds the cue command that tools requires.
func cueProgram(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(build(t), "cue")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	if err := run(root+"/tools", nil, "go", "build", "-o", bin, "cuelang.org/go/cmd/cue"); err != nil {
		t.Fatal(err)
	}
	return bin
}

// Each of these is noticed before anything of the type is used; gyrum's own types go on.
func TestWhatIsNotUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *catalog)
		want   []string
	}{
		"another observer": {func(c *catalog) {
			c.write("plugins/x_note/observe.wasm", c.read("plugins/x_note/observe.wasm")+"\x00\x01\x00")
			c.export()
		}, []string{"gyrum.lock", "observe module sha256:", "run gyrum lock --add"}},
		"one capability more": {func(c *catalog) {
			c.edit("plugins/x_note/plugin.cue", "file_stat: scope", "account: scope: [\"owner\"]\n\t\tfile_stat: scope")
			c.export()
		}, []string{"observe wants the capability account, bound to owner"}},
		"a wider scope": {func(c *catalog) {
			c.edit("plugins/x_note/plugin.cue", `file_stat: scope: ["path"]`, `file_stat: scope: ["path", "owner"]`)
			c.export()
		}, []string{"file_stat bound to the field owner as well"}},
		"a record that is no longer accepted": {func(c *catalog) {
			c.edit("docs/adr/0001-note.md", "Accepted", "Draft")
		}, []string{"docs/adr/0001-note.md", "not accepted"}},
		"a record of something else": {func(c *catalog) {
			c.edit("docs/adr/0001-note.md", "x_note", "x_memo")
		}, []string{"does not name the type x_note"}},
		"no record": {func(c *catalog) { os.Remove(filepath.Join(c.dir, "docs/adr/0001-note.md")) }, []string{"cannot be read"}},
		"a definition that was not exported": {func(c *catalog) {
			c.edit("plugins/x_note/type.cue", "What it says.", "What it says, in a line.")
		}, []string{"type.cue", "changed since it was exported"}},
		"no lock": {func(c *catalog) { os.Remove(filepath.Join(c.dir, "gyrum.lock")) }, []string{"run gyrum lock"}},
	} {
		t.Run(name, func(t *testing.T) {
			cat := ready(t)
			c.change(cat)
			cat.holds(cat.gyrum(1, "check", "--host", "web-1"), c.want...)
			cat.holds(cat.gyrum(1, "validate"), c.want...)
			if list, err := os.ReadDir(cat.notes); err != nil || len(list) > 0 {
				t.Errorf("something was made: %v %v", list, err)
			}
			cat.edit("host-roles/notes.yaml", "type: x_note", "type: file")
			cat.gyrum(2, "check", "--host", "web-1")
		})
	}
}

// Bytes that are not those of the digest are refused before anything is looked at, whatever the manifest and the lock say,
// and whatever is in the cache.
func TestAModuleThatIsNotItsDigest(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		tail string
		want string
	}{
		"a custom section":            {"observe.wasm", "\x00\x01\x00", "its digest is sha256:"},
		"a byte more":                 {"observe.wasm", "x", "its digest is sha256:"},
		"the module that only writes": {"apply.wasm", "\x00\x01\x00", "its digest is sha256:"},
		"no module":                   {"apply.wasm", "", "it cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			cat := ready(t)
			cat.gyrum(2, "check", "--host", "web-1") // the cache is warm
			file := "plugins/x_note/" + c.file
			if c.tail == "" {
				os.Remove(filepath.Join(cat.dir, file))
			} else {
				cat.write(file, cat.read(file)+c.tail)
			}
			for _, args := range []string{"check --host web-1", "check --host web-1 --no-cache", "apply --host web-1 --auto-confirm", "validate", "lock --check", "lock", "plugin verify x_note"} {
				cat.holds(cat.gyrum(1, strings.Fields(args)...), file, c.want)
			}
			if list, err := os.ReadDir(cat.notes); err != nil || len(list) > 0 {
				t.Errorf("something was made: %v %v", list, err)
			}
			cat.edit("host-roles/notes.yaml", "type: x_note", "type: file")
			cat.gyrum(2, "check", "--host", "web-1")
			cat.holds(cat.gyrum(1, "validate"), file, c.want)
		})
	}
}

// The lock and the manifest are read to the last key, whether a host uses the type or not.
func TestWhatIsWrittenBesides(t *testing.T) {
	c := ready(t)
	c.gyrum(0, "validate")
	manifest, lock := c.read("plugins/x_note/plugin.json"), c.read("gyrum.lock")
	for _, text := range []string{
		strings.Replace(manifest, "{", `{"more": {},`, 1),
		strings.Replace(manifest, "{", `{"more": 1,`, 1),
		strings.Replace(manifest, `"abi"`, `"Version": 1, "abi"`, 1),
		strings.Replace(manifest, `"abi"`, `"abi": 1, "abi"`, 1),
		manifest + "]",
	} {
		c.write("plugins/x_note/plugin.json", text)
		c.holds(c.gyrum(1, "validate"), "plugins/x_note/plugin.json")
	}
	c.write("plugins/x_note/plugin.json", manifest)
	var all struct {
		Plugins map[string]struct{ Accept []struct{ Observe string } }
	}
	if err := json.Unmarshal([]byte(lock), &all); err != nil {
		t.Fatal(err)
	}
	for _, unused := range []string{"env", "line"} {
		c.write("gyrum.lock", strings.Replace(lock, all.Plugins[unused].Accept[0].Observe, "sha256:"+strings.Repeat("1", 64), 1))
		c.holds(c.gyrum(1, "validate"), "gyrum.lock", "type "+unused)
		c.gyrum(2, "check", "--host", "web-1")
	}
}

func TestGyrumsOwnTypesAreNotShadowed(t *testing.T) {
	c := ready(t)
	if err := os.CopyFS(filepath.Join(c.dir, "plugins/file"), os.DirFS(filepath.Join(c.dir, "plugins/x_note"))); err != nil {
		t.Fatal(err)
	}
	c.edit("plugins/file/plugin.json", `"type": "x_note"`, `"type": "file"`)
	c.holds(c.gyrum(1, "validate"), "plugins/file", "begins with x_")
	c.holds(c.gyrum(2, "check", "--host", "web-1", "-o", "json"), `"file:`+c.notes+`/plain"`)
	if own, program := c.gyrum(0, "plugin", "inspect", "file", "-o", "json"), c.gyrum(0, "plugin", "list", "-v"); !strings.Contains(own, "file_owner") || !strings.Contains(program, "x_note") {
		t.Errorf("%s\n%s", own, program)
	}
}

func TestSignedModules(t *testing.T) {
	c := ready(t)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	b64 := base64.StdEncoding.EncodeToString
	public := b64(append([]byte("Ed12345678"), key.Public().(ed25519.PublicKey)...))
	c.gyrum(0, "lock", "--key", public)
	c.holds(c.gyrum(1, "check", "--host", "web-1"), "must be signed")
	sign := func(file string) {
		module := []byte(c.read(file))
		sig := ed25519.Sign(key, module)
		comment := "for the test"
		global := ed25519.Sign(key, append(bytes.Clone(sig), comment...))
		c.write(file+".minisig", "untrusted comment: x\n"+b64(append([]byte("Ed12345678"), sig...))+"\ntrusted comment: "+comment+"\n"+b64(global)+"\n")
	}
	sign("plugins/x_note/observe.wasm")
	c.holds(c.gyrum(1, "plugin", "verify"), "apply.wasm.minisig", "must be signed")
	sign("plugins/x_note/apply.wasm")
	c.holds(c.gyrum(0, "plugin", "verify"), "x_note", "for the test")
	c.gyrum(2, "check", "--host", "web-1")
	c.edit("plugins/x_note/apply.wasm.minisig", "for the test", "for the rest")
	c.holds(c.gyrum(1, "check", "--host", "web-1"), "trusted comment was changed")
}

// noteHost has every second note.
type noteHost struct{}

func (noteHost) Ask(_ context.Context, capability string, request []byte) ([]byte, error) {
	there := bytes.Contains(request, []byte("/even"))
	switch {
	case !there:
		return []byte(`{"exists":false}`), nil
	case capability == "file_digest":
		return []byte(`{"sha256":"` + strings.Repeat("0", 64) + `","size":1}`), nil
	}
	return []byte(`{"exists":true,"gid":0,"group":"root","kind":"file","mode":"0644","nlink":1,"owner":"root","size":1,"uid":0}`), nil
}

func TestConformance(t *testing.T) {
	c := newCatalog(t)
	c.export()
	files := fstest.MapFS{}
	for from, to := range map[string]string{"plugin.json": "x_note.json", "observe.wasm": "x_note.observe.wasm", "apply.wasm": "x_note.apply.wasm"} {
		files[to] = &fstest.MapFile{Data: []byte(c.read("plugins/x_note/" + from))}
	}
	var rs []resource.Resource
	for i := range 8 {
		path := fmt.Sprintf("/srv/%s%d", []string{"even", "odd"}[i%2], i)
		view := fmt.Sprintf(`{"content":{"sha256":%q,"size":1},"group":"root","id":"x_note:%s","mode":"0644","owner":"root","path":%q,"state":%q,"type":"x_note"}`,
			strings.Repeat(fmt.Sprint(i/4), 64), path, path, []string{"present", "absent"}[i/2%2])
		rs = append(rs, resource.Resource{Role: "r", Type: "x_note", ID: "x_note:" + path, View: []byte(view), Declared: []byte(view)})
	}
	conformance.Run(t, conformance.Subject{Modules: files, Type: "x_note", Resources: rs, Host: func() host.Asker { return noteHost{} }, Cache: filepath.Join(t.TempDir(), "cache")})
}

// The lines of docs/lock.md try a type of the catalog's own with its golden cases.
func TestGoldenCases(t *testing.T) {
	c := newCatalog(t)
	c.export()
	record := `{"content":{"sha256":"aa","size":1},"group":"root","id":"x_note:/srv/a","mode":"0644","owner":"root","path":"/srv/a","state":"%s","type":"x_note"}`
	write := "want:      write drift missing\nparams:    {\"mode\":\"0644\",\"owner\":\"root\",\"group\":\"root\"}\n"
	c.write("plugins/x_note/testdata/cases/present.txt", "declared:  "+fmt.Sprintf(record, "present")+`
file_stat: {"exists":true,"kind":"file"}

case: as declared
file_digest: {"sha256":"aa","size":1}
want:      in sync

case: nothing there
file_stat: {"exists":false}
`+write+`does:      file_replace {"group":"root","id":"x_note:/srv/a","mode":"0644","owner":"root","path":"/srv/a"}
`)
	c.write("plugins/x_note/testdata/cases/absent.txt", "declared:  "+fmt.Sprintf(record, "absent")+`
file_stat: {"exists":true,"kind":"file"}
file_digest: {"sha256":"aa","size":1}

case: there
want:      remove drift present
params:    {}
does:      file_remove {"path":"/srv/a"}
`)
	_, page, _ := strings.Cut(c.page("docs/lock.md"), "       t=x_note\n")
	lines, _, ok := strings.Cut(page, "\n\n")
	if !ok || !strings.Contains(lines, "gyrum plugin test") {
		t.Fatalf("docs/lock.md: %q", lines)
	}
	try := func() error {
		return run(c.dir, append(os.Environ(), "PATH="+build(t)+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+filepath.Join(build(t), "cache")), "sh", "-ec", "t=x_note\nrm -rf build\n"+lines)
	}
	if err := try(); err != nil {
		t.Error(err)
	}
	c.edit("plugins/x_note/testdata/cases/absent.txt", "remove drift present", "remove drift missing")
	if err := try(); err == nil || !strings.Contains(err.Error(), "absent.txt:5: there: ") {
		t.Errorf("a case that does not hold: %v", err)
	}
}

// page reads a page of the repository.
func (c *catalog) page(name string) string {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(raw)
}
