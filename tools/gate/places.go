package gate

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// place is a file that names every type in a form of its own, beside those that the gate reads whole.
type place struct {
	file string
	// form is a regular expression in which TYPE stands for the name.
	form string
	// who writes it.
	hint string
}

const (
	schemagen = "go run ./tools/schemagen writes it"
	reference = "go test ./cmd/gyrum -run Reference -update writes it"
	verdicts  = "go test ./tools/corpus -update writes it"
)

// places are in the order in which they are brought up to date.
var places = []place{
	{"schemas/role-manifest.v1.json", `"const": "TYPE"`, schemagen},
	{"cue/judged.cue", `(?m)^\tTYPE: \{`, schemagen},
	{"engine/manifest/table_gen.go", `\{Name: "TYPE", Doc: .*Fields: `, schemagen},
	{"docs/types/README.md", `(?m)^\| \[TYPE\]\(TYPE\.md\) \| `, "add a line for it to the table"},
	{"docs/reference/manifests.md", `(?m)^## type TYPE$`, reference},
	{"cue/testdata/bad/type-unknown.want", `\bTYPE\b`, verdicts},
	{"tools/mutants/main.go", `(?m)^\t"TYPE": `, "add the files that decide, and run go run ./tools/mutants TYPE"},
}

// places judges whether every place names a type.
func (g *gate) places(typ string) {
	in := func(s string) string { return strings.ReplaceAll(s, "TYPE", typ) }
	for _, p := range places {
		raw, err := os.ReadFile(filepath.Join(g.root, p.file))
		if err != nil || !regexp.MustCompile(in(p.form)).Match(raw) {
			g.say(p.file, RuleType, in(p.hint), "it does not name the type %s", typ)
		}
	}
	if g.plugins[typ] == nil {
		return
	}
	folder := "plugins/" + typ + "/testdata/cases"
	cases, _ := filepath.Glob(filepath.Join(g.root, folder, "*.txt"))
	for _, file := range cases {
		if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), `"type":"`+typ+`"`) {
			return
		}
	}
	g.say(folder, RuleType, "docs/plugin-guide.md shows the form; they are the specification of the type", "there are no cases of the type %s", typ)
}

// copies judges whether programs embed the newest schema of drift items as it stands.
func (g *gate) copies() error {
	schema, err := os.ReadFile(filepath.Join(g.root, g.file))
	if err != nil {
		return err
	}
	if embedded, err := os.ReadFile(filepath.Join(g.root, "cue/embedded", g.file)); err != nil || !bytes.Equal(schema, embedded) {
		g.say("cue/embedded/"+g.file, RuleType, schemagen, "it is not what %s says", g.file)
	}
	return nil
}
