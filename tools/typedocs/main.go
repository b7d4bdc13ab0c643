// Command typedocs writes the tables in docs/types: the fields of each resource type, from its definition, and what check
// decides in which state of the host, from the type's golden cases. A row that no case shows cannot stand there, and no
// case is left out. The text around the tables is written by hand. With -check it writes nothing and fails, naming the
// pages, when one is not what it would write.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/plugins/corpus"
)

const (
	begin = "<!-- The tables are written by go run ./tools/typedocs; change the definition or the cases. -->\n"
	end   = "<!-- end of the tables -->\n"
)

func main() {
	check := flag.Bool("check", false, "compare only, and fail where a page is out of date")
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	stale, err := run(*root, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "typedocs:", err)
		os.Exit(1)
	}
	for _, name := range stale {
		fmt.Fprintf(os.Stderr, "%s is not what the definition and the cases say; run go run ./tools/typedocs\n", name)
	}
	if len(stale) > 0 {
		os.Exit(1)
	}
}

// run writes the pages, or with check only names those that are out of date.
func run(root string, check bool) (stale []string, err error) {
	for _, doc := range manifest.DescribeTypes() {
		name := filepath.Join("docs", "types", doc.Name+".md")
		raw, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing: write what the type is for, an example, the observed record and what it never does, with these two lines where the tables belong:\n%s%s", name, begin, end)
		}
		if err != nil {
			return nil, err
		}
		tables, err := tablesOf(root, doc)
		if err != nil {
			return nil, err
		}
		page, err := place(string(raw), tables)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case page == string(raw):
		case check:
			stale = append(stale, name)
		default:
			if err := os.WriteFile(filepath.Join(root, name), []byte(page), 0o644); err != nil {
				return nil, err
			}
		}
	}
	return stale, nil
}

// place puts the tables between the two marks.
func place(page, tables string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("the two lines between which the tables belong are missing:\n%s%s", begin, end)
	}
	return before + begin + tables + end + after, nil
}

// tablesOf writes both tables of a type.
func tablesOf(root string, doc manifest.RecordDoc) (string, error) {
	cases, err := corpus.Load(os.DirFS(filepath.Join(root, "plugins", doc.Name, "testdata", "cases")))
	if err != nil {
		return "", err
	}
	if len(cases) == 0 {
		return "", fmt.Errorf("plugins/%s/testdata/cases has no case", doc.Name)
	}
	var b strings.Builder
	b.WriteString("\n## Fields\n\n| field | | default | |\n|---|---|---|---|\n")
	for _, f := range doc.Fields {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, cell(kinds(f)), fallback(f), cell(f.Doc))
	}
	b.WriteString("\n## What check decides\n\nEvery row is a case of `plugins/" + doc.Name + "/testdata/cases`, which the tests play.\n")
	file := ""
	for _, c := range cases {
		if c.File != file {
			file = c.File
			fmt.Fprintf(&b, "\n### %s\n\n| on the host | action | reason | blocked, or what it needs |\n|---|---|---|---|\n", strings.TrimSuffix(file, ".txt"))
		}
		action, reason := outcome(c.Expect["want"])
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(c.Name), action, reason, cell(hindrance(c)))
	}
	b.WriteString("\n")
	states, err := os.ReadFile(filepath.Join(root, "plugins", doc.Name, "testdata", "states.txt"))
	if err == nil {
		fmt.Fprintf(&b, "### every state\n\n```text\n%s```\n\n", states)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return b.String(), nil
}

// outcome reads what a case wants: verb, severity and reason code, or in sync, or unobservable.
func outcome(want string) (action, reason string) {
	words := strings.Fields(want)
	switch {
	case want == "in sync":
		return "none, in sync", ""
	case want == "unobservable":
		return "none, `error`", "`unobservable`"
	case len(words) != 3:
		return cell(want), ""
	}
	action = "`" + words[0] + "`"
	if words[1] != "drift" {
		action += ", `" + words[1] + "`"
	}
	return action, "`" + words[2] + "`"
}

func hindrance(c corpus.Case) string {
	var parts []string
	if text := c.Expect["blocked"]; text != "" {
		parts = append(parts, "blocked: "+text)
	}
	if text := c.Expect["needs"]; text != "" {
		parts = append(parts, "needs "+text)
	}
	if text := c.Expect["fails"]; text != "" {
		parts = append(parts, "the action fails: "+text)
	}
	return strings.Join(parts, "; ")
}

// kinds says what a field takes.
func kinds(f manifest.FieldDoc) string {
	said := strings.Join(f.Kinds, " or ")
	switch {
	case len(f.Values) > 0:
		said = strings.Join(f.Values, ", ")
	case f.Allowed != "":
		said = f.Allowed
	}
	if f.Required {
		said += "; required"
	}
	return said
}

func fallback(f manifest.FieldDoc) string {
	if f.Default == nil {
		return ""
	}
	return fmt.Sprintf("`%v`", f.Default)
}

// cell fits a text into a table.
func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s) }
