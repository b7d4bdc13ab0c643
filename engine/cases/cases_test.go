package cases

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/outcome"
)

func write(t *testing.T, catalog, name, text string) {
	t.Helper()
	p := filepath.Join(catalog, Dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var found = outcome.Outcome{Items: []outcome.Line{
	{ID: "package:a", Role: "host", Verb: drift.Install, Severity: drift.SeverityDrift, Reason: "missing", Params: json.RawMessage(`{"to":"1"}`)},
	{ID: `file:/etc/"x"`, Verb: drift.Write, Severity: drift.SeverityError, Blocked: true, Reason: "missing"},
}}

func TestWhatIsWrittenIsExpected(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, Dir, "a.yaml")
	if err := Add(file, "web-1", "a.jsonl", found); err != nil {
		t.Fatal(err)
	}
	if err := Add(file, "", "a.jsonl", found); err == nil {
		t.Error("a case was overwritten")
	}
	c, err := Read(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	if c.Host != "web-1" || c.TapePath() != filepath.Join(Dir, "a.jsonl") {
		t.Errorf("%+v", c)
	}
	if d := c.Judge(found); len(d) > 0 {
		t.Errorf("%+v", d)
	}
	if d := c.Judge(outcome.Outcome{}); len(d) != 2 || d[0] != (Difference{Want: "install package:a missing"}) {
		t.Errorf("%+v", d)
	}
	// An update keeps what stands before the expectation.
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a.yaml", "# Why this case is there.\n"+string(raw))
	if err := c.Update(outcome.Outcome{}); err != nil {
		t.Fatal(err)
	}
	raw, err = os.ReadFile(file)
	want := "# Why this case is there.\ntape: \"a.jsonl\"\nhost: \"web-1\"\nexpect: [] # in sync\n"
	if err != nil || string(raw) != want {
		t.Errorf("%s", raw)
	}
	if err := c.Update(found); err != nil {
		t.Fatal(err)
	}
	again, err := Read(dir, "a")
	if err != nil || len(again.Judge(found)) > 0 {
		t.Errorf("%v %+v", err, again)
	}
	write(t, dir, "a.yaml", "expect: []\ntape: x\n")
	if err := c.Update(found); err == nil {
		t.Error("what stands behind expect was lost")
	}
}

func TestJudging(t *testing.T) {
	line := outcome.Line{ID: "file:/a", Verb: drift.Write, Severity: drift.SeverityDrift, Reason: "missing", Params: json.RawMessage(`{"mode":"0644"}`)}
	ok := Expected{ID: "file:/a", Verb: drift.Write, Severity: drift.SeverityDrift}
	for name, c := range map[string]struct {
		change func(*Expected)
		fits   bool
	}{
		"as little as that": {func(*Expected) {}, true},
		"the reason":        {func(e *Expected) { e.Reason = "missing" }, true},
		"the parameters":    {func(e *Expected) { e.Params = json.RawMessage(`{ "mode": "0644" }`) }, true},
		"another reason":    {func(e *Expected) { e.Reason = "mode-differs" }, false},
		"other parameters":  {func(e *Expected) { e.Params = json.RawMessage(`{}`) }, false},
		"another verb":      {func(e *Expected) { e.Verb = drift.Chmod }, false},
		"a warning":         {func(e *Expected) { e.Severity = drift.SeverityWarn }, false},
		"blocked":           {func(e *Expected) { e.Blocked = true }, false},
		"another resource":  {func(e *Expected) { e.ID = "file:/b" }, false},
	} {
		e := ok
		c.change(&e)
		if got := (&Case{Expect: []Expected{e}}).Judge(outcome.Outcome{Items: []outcome.Line{line}}); (len(got) == 0) != c.fits {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCasesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	for text, says := range map[string]string{
		"host: x\n":              "names no tape",
		"tape: x\nexpects: []\n": `unknown field "expects"`,
		"tape: x\nexpect:\n  - {verb: writes, id: a}\n":               "expect[0]",
		"tape: x\nexpect:\n  - {verb: write}\n":                       "expect[0]",
		"tape: x\ntape: y\n":                                          "R12",
		"tape: &a x\n":                                                "anchor",
		"tape: x\nexpect:\n  - {verb: write, id: a, severity: bad}\n": "severity is",
	} {
		write(t, dir, "c.yaml", text)
		if c, err := Read(dir, "c"); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "c.yaml") {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	if names, err := Names(filepath.Join(dir, "nowhere")); err != nil || names != nil {
		t.Errorf("%v %v", names, err)
	}
	write(t, dir, "b.yaml", "")
	write(t, dir, "b.jsonl", "")
	if names, err := Names(dir); err != nil || !reflect.DeepEqual(names, []string{"b", "c"}) {
		t.Errorf("%v %v", names, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("tape: a\nhost: b\nonly: [file]\nexpect:\n  - {verb: write, id: \"file:/a\", severity: warn, params: {a: 1}}\n"))
	f.Add([]byte("tape: a\nexpect: []\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &Case{File: "x.yaml"}
		if c.parse(raw) != nil {
			return
		}
		if c.Tape == "" {
			t.Error("a case without a tape passed")
		}
		for i := range c.Judge(outcome.Outcome{}) {
			if c.Expect[i].Severity == "" || c.Expect[i].ID == "" {
				t.Errorf("%+v passed", c.Expect[i])
			}
		}
	})
}
