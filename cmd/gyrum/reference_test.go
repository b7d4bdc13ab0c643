package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gyrum.ai/cmd/gyrum/internal/reference"
	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/lint"
	"gyrum.ai/engine/manifest"
)

var update = flag.Bool("update", false, "write the pages in docs/reference anew")

// The pages are made of what the program says of itself, so neither can say something else than the other.
func TestReferencePagesSayWhatTheProgramSays(t *testing.T) {
	pages := map[string]string{
		"commands.md":  commandsPage(),
		"manifests.md": manifestsPage(),
		"rules.md":     rulesPage(),
		"reasons.md":   reasonsPage(),
	}
	dir := filepath.Join("..", "..", "docs", "reference")
	for name, want := range pages {
		file := filepath.Join(dir, name)
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if have, err := os.ReadFile(file); err != nil || string(have) != want {
			t.Errorf("docs/reference/%s is not what the program says; go test ./cmd/gyrum -run Reference -update writes it (%v)", name, err)
		}
	}
}

const generated = "<!-- Written by go test ./cmd/gyrum -run Reference -update. Change the program, not this page. -->\n"

func testProgram() *program {
	return &program{in: os.Stdin, out: &output{f: os.Stdout}, err: os.Stderr, getenv: func(string) string { return "" }}
}

func commandsPage() string {
	var b strings.Builder
	b.WriteString(generated + "# Commands\n\nEvery command says the same with `--help`; `gyrum man DIR` writes man pages, `gyrum completion SHELL` what shells complete by.\n")
	root := newRootCmd(testProgram())
	root.InitDefaultCompletionCmd()
	for _, c := range reference.Commands(root) {
		if c.Name() != "completion" && (c.Parent() == nil || c.Parent().Name() != "completion") {
			b.WriteString("\n" + reference.Markdown(c, 2))
		}
	}
	return b.String()
}

// cell keeps a text within a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func manifestsPage() string {
	var b strings.Builder
	b.WriteString(generated + "# What manifests hold\n\n`gyrum explain TYPE` and `gyrum explain TYPE.FIELD` say the same. Fields without a mark may be left out.\n")
	section := func(r manifest.RecordDoc) {
		title := "type " + r.Name
		if r.File != "" {
			title = r.Name + ": `" + r.File + "`"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| field | | takes | |\n|---|---|---|---|\n", title, r.Doc)
		for i := range r.Fields {
			f := &r.Fields[i]
			takes := strings.Join(f.Kinds, " or ")
			if len(f.Values) > 1 {
				takes = strings.Join(f.Values, ", ")
			} else if f.Allowed != "" {
				takes = f.Allowed
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, cell(fieldNote(f)), cell(takes), cell(f.Doc))
		}
	}
	for _, r := range slices.Concat(manifest.DescribeFiles(), manifest.DescribeTypes()) {
		section(r)
	}
	return b.String()
}

func rulesPage() string {
	var b strings.Builder
	b.WriteString(generated + "# Rules\n\nWhat `gyrum validate` and `gyrum lint` name before a finding; `gyrum explain RULE` says the same.\n")
	for _, r := range lint.Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n**%s.** %s\n", r.ID, r.Title, r.Doc)
	}
	return b.String()
}

func reasonsPage() string {
	var b strings.Builder
	b.WriteString(generated + "# Words of reports\n\n`gyrum explain WORD` says the same, and `gyrum explain RUN#ITEM` which of them a recorded item has.\n")
	table := func(title, head string, words []drift.Word) {
		fmt.Fprintf(&b, "\n## %s\n\n| %s | | |\n|---|---|---|\n", title, head)
		for _, w := range words {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", w.Name, cell(w.Title), cell(w.Doc))
		}
	}
	table("Codes of reasons", "`reason.code`", drift.Reasons())
	table("Verbs of actions", "`action_to_apply.verb`", drift.VerbWords())
	table("Severities", "`severity`", drift.SeverityWords())
	table("What became of an item", "`result.status`", drift.StatusWords())
	return b.String()
}

func TestEveryTopicHasItsOwnNameAndWords(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range topics() {
		if seen[strings.ToLower(x.name)] {
			t.Errorf("two topics are named %s", x.name)
		}
		seen[strings.ToLower(x.name)] = true
		if strings.TrimSpace(x.doc) == "" {
			t.Errorf("%s %s has no words", x.kind, x.name)
		}
	}
	for i, v := range drift.Verbs() {
		if words := drift.VerbWords(); len(words) != len(drift.Verbs()) || words[i].Name != string(v) {
			t.Fatalf("the verbs that are explained are not those of the schema, in its order: %v", words)
		}
	}
}

// Every code that a plugin or the engine can give is explained: those that the plugins' cases expect, and those in the
// sources of both.
func TestEveryReasonIsExplained(t *testing.T) {
	known := map[string]bool{}
	for _, w := range drift.Reasons() {
		known[w.Name] = true
	}
	found := map[string]string{engine.ReasonPluginFailed: "engine", engine.ReasonOnePath: "engine"}
	cases, err := filepath.Glob("../../plugins/*/testdata/cases/*.txt")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases of plugins", err)
	}
	want := regexp.MustCompile(`(?m)^want: +[a-z]+ (?:drift|warn|error) ([a-z-]+)$`)
	for _, file := range cases {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range want.FindAllStringSubmatch(string(raw), -1) {
			found[m[1]] = file
		}
	}
	err = filepath.WalkDir("../../plugins", func(file string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") && !strings.Contains(file, "/apply") {
			for _, code := range reasonCodes(t, file) {
				found[code] = file
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 30 {
		t.Fatalf("only %d codes were found", len(found))
	}
	for code, where := range found {
		if !known[code] {
			t.Errorf("the code %s (%s) is not explained; add it to drift.Reasons", code, where)
		}
	}
}

// reasonCodes finds guest.Reason{Code: "…"} in a source file.
func reasonCodes(t *testing.T, file string) []string {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		name := ""
		switch typ := lit.Type.(type) {
		case *ast.SelectorExpr:
			name = typ.Sel.Name
		case *ast.Ident:
			name = typ.Name
		}
		if name != "Reason" {
			return true
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && fmt.Sprint(kv.Key) == "Code" {
				e = kv.Value
			} else if ok {
				continue
			}
			if s, ok := e.(*ast.BasicLit); ok && s.Kind == token.STRING {
				if code, err := strconv.Unquote(s.Value); err == nil {
					codes = append(codes, code)
				}
			}
			break
		}
		return true
	})
	return codes
}

// What man(1) makes of the pages: no complaint, and the words that belong there.
func TestManPagesAreReadWithoutComplaint(t *testing.T) {
	root := newRootCmd(testProgram())
	root.InitDefaultCompletionCmd()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff is not installed: the pages are checked for their parts only")
	}
	for _, c := range reference.Commands(root) {
		page := reference.Man(c, "1")
		for _, part := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n"} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: no %q", c.CommandPath(), part)
			}
		}
		if groff == "" {
			continue
		}
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-K", "utf8")
		cmd.Stdin = strings.NewReader(page)
		var complaints strings.Builder
		cmd.Stderr = &complaints
		if out, err := cmd.Output(); err != nil || complaints.Len() > 0 || len(out) == 0 {
			t.Errorf("%s: %v: %s", c.CommandPath(), err, complaints.String())
		}
	}
}
