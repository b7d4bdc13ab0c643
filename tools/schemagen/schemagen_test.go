package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

const root = "../.."

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	stale, err := run(root, true, func() (map[string][]byte, error) { return generate(root) })
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stale {
		t.Errorf("%s is out of date; run go run ./tools/schemagen", name)
	}
}

// A text that an expression matches holds one of the strings that are looked for first.
func TestNeeds(t *testing.T) {
	for expr, texts := range map[string][]string{
		`\bgh[pousr]_[A-Za-z0-9]{36,}`:                      {"x ghp_" + strings.Repeat("a", 36), "ghr_" + strings.Repeat("0", 40)},
		`-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----`: {"-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----"},
		`\b(AKIA|ASIA)[0-9A-Z]{16}\b`:                       {"AKIAIOSFODNN7EXAMPLE", "(ASIAIOSFODNN7EXAMPLE)"},
		`[a-z]+://[^@]*@`:                                   {"a://b@"},
	} {
		found := needs(expr)
		if found == nil {
			t.Errorf("%s: nothing is needed", expr)
		}
		for _, text := range texts {
			if !regexp.MustCompile(expr).MatchString(text) {
				t.Fatalf("%s does not match %q", expr, text)
			}
			if !contains(text, found) {
				t.Errorf("%s: %q has none of %q", expr, text, found)
			}
		}
	}
	for _, expr := range []string{`(?i)password`, `a?`, `[a-z]*`, `abc|d*`, `^ab$`, `(abc)?`} {
		if found := needs(expr); found != nil {
			t.Errorf("%s needs %q", expr, found)
		}
	}
}

func contains(text string, list []string) bool {
	for _, s := range list {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// compile gives a schema of the repository, with the others that it refers to.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	files, err := filepath.Glob(filepath.Join(root, "schemas/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("https://gyrum.ai/schemas/"+filepath.Base(f), doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("https://gyrum.ai/schemas/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// decode reads YAML as an editor does.
func decode(t *testing.T, file string) (any, error) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	asJSON, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
}

// An editor accepts every good manifest, and flags the mistakes within one file that it can see: names that mean a
// secret, ids, expressions, what YAML resolves before it, and links are left to cue vet and gyrum validate.
func TestRoleSchema(t *testing.T) {
	s := compile(t, "role-manifest.v1.json")
	good, err := filepath.Glob(filepath.Join(root, "cue/testdata/good/*.yaml"))
	if err != nil || len(good) == 0 {
		t.Fatal("no good manifests", err)
	}
	for _, f := range good {
		v, err := decode(t, f)
		if err == nil {
			err = s.Validate(v)
		}
		if err != nil && filepath.Base(f) != "file.yaml" { // it has a date, which yaml.v3 decodes as one
			t.Errorf("%s: %v", filepath.Base(f), err)
		}
	}
	bad, err := filepath.Glob(filepath.Join(root, "cue/testdata/bad/*.yaml"))
	if err != nil || len(bad) == 0 {
		t.Fatal("no bad manifests", err)
	}
	unseen := regexp.MustCompile(`^(R\d+-|syntax-|.*-id[-.]|.*-no-expression|unit-template-started|unit-enabled-yes|command-timeout-zero|env-name-)`)
	for _, f := range bad {
		name := filepath.Base(f)
		v, err := decode(t, f)
		if err == nil && s.Validate(v) == nil && !unseen.MatchString(name) {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestHostSchema(t *testing.T) {
	s := compile(t, "host.v1.json")
	for in, ok := range map[string]bool{
		`{"name": "t", "roles": ["a"]}`: true, `{"name": "t", "roles": [], "x-any": {"b": 1}, "labels": {"a": "b"}}`: true,
		`{"name": "t"}`: false, `{"name": "T", "roles": []}`: false, `{"name": "t", "roles": "a"}`: false, `{"name": "t", "roles": [], "rolls": []}`: false,
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// The drift item is the requirement's: these properties, required in this way, with these enums, and open.
func TestDriftItemSchema(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "schemas/drift-item.v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Schema     string                     `json:"$schema"`
		ID         string                     `json:"$id"`
		Required   []string                   `json:"required"`
		Properties map[string]json.RawMessage `json:"properties"`
		Additional *bool                      `json:"additionalProperties"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	if s.Schema != "http://json-schema.org/draft-07/schema#" || s.ID != "https://gyrum.ai/schemas/drift-item.v1.json" || s.Additional != nil {
		t.Errorf("%+v", s)
	}
	if got := strings.Join(s.Required, " "); got != "host role resource declared observed action_to_apply severity" {
		t.Errorf("required: %s", got)
	}
	if len(s.Properties) != 9 {
		t.Errorf("%d properties, want 9", len(s.Properties))
	}
}

func TestDriftReportSchema(t *testing.T) {
	s := compile(t, "drift-report.v1.json")
	report := func(change func(r, item map[string]any)) error {
		item := map[string]any{
			"host": "t", "role": "r", "resource": map[string]any{"type": "file", "id": "file:/a"}, "declared": map[string]any{}, "observed": nil,
			"action_to_apply": map[string]any{"verb": "write", "params": map[string]any{}}, "severity": "drift", "idempotent": true,
			"discovered_at": "2026-01-01T00:00:00Z", "reason": map[string]any{"code": "missing", "text": "x"}, "result": map[string]any{"status": "applied", "duration_ms": 1},
		}
		r := map[string]any{
			"schema": "https://gyrum.ai/schemas/drift-report.v1.json", "run_id": "01KDVVVVVVVVVVVVVVVVVVVVVV", "host": "t",
			"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:00Z", "dry_run": true,
			"catalog": map[string]any{"digest": "sha256:" + strings.Repeat("0", 64)}, "plugins": []any{}, "items": []any{item},
			"stats": map[string]any{"by_severity": map[string]any{"drift": 1}, "by_verb": map[string]any{}, "by_resource_type": map[string]any{}, "resources_checked": 1, "in_sync": 0},
		}
		change(r, item)
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
	if err := report(func(_, _ map[string]any) {}); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(r, item map[string]any){
		"an unknown verb":        func(_, i map[string]any) { i["action_to_apply"] = map[string]any{"verb": "reload"} },
		"an item without role":   func(_, i map[string]any) { delete(i, "role") },
		"an unknown status":      func(_, i map[string]any) { i["result"] = map[string]any{"status": "ok"} },
		"a hash of another kind": func(r, _ map[string]any) { r["plan_hash"] = "md5:0" },
		"no stats":               func(r, _ map[string]any) { delete(r, "stats") },
	} {
		if report(change) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// What a catalog's own type says nothing of is told in words all the same, and by one message for each mistake.
func TestJudgedWithoutHints(t *testing.T) {
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	files["x_note.cue"] = []byte(`package gyrum

#types: {
	x_note: {
		type!: "x_note"
		id?:   "x_note:\(path)"
		path!: #Path
		size?: int & >=0
		loud:  *false | bool
		kind?: "a" | "b"
		tags?: [...=~"^[a-z]+$"]
		meta?: {[string]: string}
	}
}
`)
	r, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.judged()
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(raw), "#right: {")
	_, right, ok2 := strings.Cut(table, "\tx_note: {")
	if !ok || !ok2 {
		t.Fatalf("no table of what is right:\n%s", raw)
	}
	for _, field := range []string{"type", "id", "path", "size", "loud", "kind", "tags", "meta"} {
		if !regexp.MustCompile(`(?m)^\t\t` + field + `: +"[^"]`).MatchString(right) {
			t.Errorf("nothing is said of %s:\n%s", field, right)
		}
	}
	if !strings.Contains(string(raw), `x.id != "x_note:\(x.path)"`) {
		t.Error("an id that is not made of the path is not told")
	}
}

// A form that the generator does not know stops it, and nothing is left out.
func TestJudgedRefuses(t *testing.T) {
	for name, field := range map[string]string{
		"three kinds":            `kind?: =~"^a" | int & >=0 | bool | error("x")`,
		"a rule that is no rule": `for k in ["a"] {"\(k)": true}`,
	} {
		files, err := sources()
		if err != nil {
			t.Fatal(err)
		}
		files["x_note.cue"] = []byte("package gyrum\n\n#types: {\n\tx_note: {\n\t\ttype!: \"x_note\"\n\t\tid?: \"x_note:\\(path)\"\n\t\tpath!: #Path\n\t\t" + field + "\n\t}\n}\n")
		r, err := read(files)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := r.judged(); err == nil {
			t.Errorf("%s is taken:\n%s", name, raw)
		}
	}
}

// An editor shows what a field is for; it does for every one of every type.
func TestEveryFieldIsDescribed(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "schemas/role-manifest.v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(raw, &schema); err != nil || len(schema.Definitions) < 10 {
		t.Fatal(err, len(schema.Definitions))
	}
	for typ, def := range schema.Definitions {
		for field, f := range def.Properties {
			if f.Description == "" {
				t.Errorf("%s.%s has no description", typ, field)
			}
		}
	}
}
