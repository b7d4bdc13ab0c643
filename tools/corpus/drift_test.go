package corpus_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/load"
	cuejson "cuelang.org/go/encoding/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// definition gives a definition of the package in cue/.
func definition(t *testing.T, ctx *cue.Context, name string) cue.Value {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repository, "cue/*.cue"))
	if err != nil || len(files) == 0 {
		t.Fatal("no definitions", err)
	}
	v := ctx.BuildInstance(load.Instances(files, nil)[0]).LookupPath(cue.ParsePath(name))
	if err := v.Err(); err != nil {
		t.Fatal(err)
	}
	return v
}

// schema compiles one of schemas/, dates included.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	files, err := filepath.Glob(filepath.Join(repository, "schemas/*.json"))
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

// judge gives both verdicts on a document.
func judge(t *testing.T, ctx *cue.Context, def cue.Value, s *jsonschema.Schema, doc any) (byCUE, bySchema error) {
	t.Helper()
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	expr, err := cuejson.Extract("sample", raw)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return def.Unify(ctx.BuildExpr(expr)).Validate(cue.Concrete(true), cue.Final()), s.Validate(parsed)
}

// item is a drift item with everything that one may have.
func item() map[string]any {
	return map[string]any{
		"host": "t", "role": "r", "resource": map[string]any{"type": "file", "id": "file:/a"},
		"declared": map[string]any{"path": "/a"}, "observed": nil,
		"action_to_apply": map[string]any{"verb": "write", "params": map[string]any{"mode": "0644"}},
		"severity":        "drift", "idempotent": true, "discovered_at": "2026-01-31T10:20:30Z",
		"reason": map[string]any{"code": "content-differs", "text": "the content differs"},
		"note":   "a note", "pass": 1,
		"result": map[string]any{"status": "failed", "error": "no space", "duration_ms": 12, "output": map[string]any{"exit": 1}},
	}
}

// report is a drift report with everything that one may have.
func report(version string, items ...any) map[string]any {
	digest := "sha256:" + strings.Repeat("0a", 32)
	return map[string]any{
		"schema": "https://gyrum.ai/schemas/drift-report." + version + ".json", "run_id": "01KDVVVVVVVVVVVVVVVVVVVVVV", "follows": "01KDVVVVVVVVVVVVVVVVVVVVVW",
		"host": "t", "started_at": "2026-01-31T10:20:30Z", "finished_at": "2026-01-31T10:20:31.5Z", "dry_run": true,
		"catalog":   map[string]any{"digest": digest, "revision": "abc+dirty", "behind_upstream": 3},
		"plan_hash": digest, "plugins": []any{map[string]any{"type": "file", "digest": digest}}, "items": items,
		"stats": map[string]any{"by_severity": map[string]any{"drift": 1}, "by_verb": map[string]any{"write": 1}, "by_resource_type": map[string]any{"file": 1},
			"resources_checked": 4, "in_sync": 3},
		"interrupted": []any{map[string]any{"run_id": "01KDVVVVVVVVVVVVVVVVVVVVVV", "resource": "file:/b", "verb": "write"}},
	}
}

// gone takes a field away.
type gone struct{}

// set changes the value at a path of fields and, as numbers, of places in lists.
func set(doc any, path string, value any) {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		if list, ok := doc.([]any); ok {
			doc = list[int(k[0]-'0')]
			continue
		}
		doc = doc.(map[string]any)[k]
	}
	last := keys[len(keys)-1]
	if _, away := value.(gone); away {
		delete(doc.(map[string]any), last)
		return
	}
	doc.(map[string]any)[last] = value
}

// samples are values that a field of some kind may and may not have; which of them a field takes is for the two to
// agree about.
var samples = []any{
	gone{}, nil, "", "t", true, false, 0, 1, -1, 1.5, []any{}, []any{"a"}, map[string]any{}, map[string]any{"a": 1}, map[string]any{"a": "b"},
	"write", "noop", "obliterate", "drift", "warn", "error", "Error", "file", "line", "x_own", "x_", "cron", "applied", "skipped", "done",
	"2026-01-31T10:20:30Z", "2026-01-31T10:20:30.123Z", "2026-01-31T10:20:30+02:00", "2026-01-31 10:20:30", "2026-13-31T10:20:30Z", "2026-01-31",
	"01KDVVVVVVVVVVVVVVVVVVVVVV", "81KDVVVVVVVVVVVVVVVVVVVVVV", "01kdvvvvvvvvvvvvvvvvvvvvvv",
	"sha256:" + strings.Repeat("f", 64), "sha256:" + strings.Repeat("F", 64), "sha256:f", "content-differs", "Content Differs",
	"https://gyrum.ai/schemas/drift-report.v1.json", "https://gyrum.ai/schemas/drift-report.v2.json", "https://gyrum.ai/schemas/drift-report.v3.json",
}

// paths lists every field of a document and one more in each object.
func paths(doc any, prefix string) []string {
	var out []string
	switch doc := doc.(type) {
	case map[string]any:
		for _, k := range append(slices.Sorted(maps.Keys(doc)), "another") {
			out = append(append(out, prefix+k), paths(doc[k], prefix+k+".")...)
		}
	case []any:
		for i, v := range doc {
			out = append(out, paths(v, prefix+string(rune('0'+i))+".")...)
		}
	}
	return out
}

// The definition #DriftItem and the schema of the newest drift item accept the same, field by field, value by value.
func TestDriftItem(t *testing.T) {
	ctx := cuecontext.New()
	def, s := definition(t, ctx, "#DriftItem"), schema(t, "drift-item.v2.json")
	fields := []string{"host", "role", "resource", "declared", "observed", "action_to_apply", "severity", "idempotent", "discovered_at"}
	plain := func() map[string]any {
		doc := item()
		maps.DeleteFunc(doc, func(k string, _ any) bool { return !slices.Contains(fields, k) })
		return doc
	}
	agree(t, ctx, def, func(map[string]any) *jsonschema.Schema { return s }, plain)
}

// So do #DriftReport and the schemas of both versions, with what items carry beyond the drift item.
func TestDriftReport(t *testing.T) {
	ctx := cuecontext.New()
	def := definition(t, ctx, "#DriftReport")
	v1, v2 := schema(t, "drift-report.v1.json"), schema(t, "drift-report.v2.json")
	of := func(doc map[string]any) *jsonschema.Schema {
		if doc["schema"] == "https://gyrum.ai/schemas/drift-report.v1.json" {
			return v1
		}
		return v2
	}
	for _, version := range []string{"v1", "v2"} {
		agree(t, ctx, def, of, func() map[string]any { return report(version, item()) })
	}
}

// agree changes one field at a time and holds both verdicts against each other.
func agree(t *testing.T, ctx *cue.Context, def cue.Value, of func(map[string]any) *jsonschema.Schema, fresh func() map[string]any) {
	t.Helper()
	if c, s := judge(t, ctx, def, of(fresh()), fresh()); c != nil || s != nil {
		t.Fatalf("the sample is refused: %v, %v", c, s)
	}
	accepted, refused := 0, 0
	for _, path := range paths(fresh(), "") {
		for _, value := range samples {
			doc := fresh()
			set(doc, path, value)
			c, s := judge(t, ctx, def, of(doc), doc)
			if (c == nil) != (s == nil) {
				t.Errorf("%s = %#v: CUE says %v, the schema says %v", path, value, c, s)
			}
			if c == nil {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted < 100 || refused < 100 {
		t.Errorf("%d accepted and %d refused: too few to mean something", accepted, refused)
	}
}
