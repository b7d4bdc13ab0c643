package gate

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// record is a decision record.
type record struct {
	title, status, text string
}

var (
	statuses   = []string{"Draft", "Proposed", "Accepted", "Rejected", "Superseded"}
	statusLine = regexp.MustCompile(`(?m)^Status: ([A-Z][a-z]+)( by ([0-9]{4}))? · Date: [0-9]{4}-[0-9]{2}-[0-9]{2} · Supersedes: (none|[0-9]{4})$`)
	stemForm   = regexp.MustCompile(`^[0-9]{4}-[a-z0-9-]+$`)
)

// names says whether a record decides a type, by the form that it has to have: the title is NNNN: Type name: …, and the
// decision begins with Type `name` declares. That a text mentions a type decides nothing.
func (r *record) names(typ string) bool {
	_, title, _ := strings.Cut(r.title, ": ")
	_, decision, _ := strings.Cut(r.text, "\n## Decision\n")
	return strings.HasPrefix(title, "Type "+typ+": ") && strings.HasPrefix(strings.TrimLeft(decision, "\n"), "Type `"+typ+"` declares ")
}

func (g *gate) readRecords() error {
	g.adr = map[string]*record{}
	index, err := os.ReadFile(filepath.Join(g.root, "docs/adr/README.md"))
	if err != nil {
		return err
	}
	g.index = string(index)
	files, err := filepath.Glob(filepath.Join(g.root, "docs/adr/[0-9]*.md"))
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		g.adr[strings.TrimSuffix(filepath.Base(file), ".md")] = parse(string(raw))
	}
	return nil
}

// parse reads the title and the status; a record whose status line is not as it should be has none.
func parse(text string) *record {
	r := &record{text: text}
	title, _, _ := strings.Cut(text, "\n")
	r.title = strings.TrimPrefix(title, "# ")
	if m := statusLine.FindStringSubmatch(text); m != nil && slices.Contains(statuses, m[1]) && (m[1] == "Superseded") == (m[3] != "") {
		r.status = m[1]
	}
	return r
}

// records judges every record by itself, and the list of them.
func (g *gate) records() {
	numbers := map[string]string{}
	stems := make([]string, 0, len(g.adr))
	for stem := range g.adr {
		stems = append(stems, stem)
	}
	slices.Sort(stems)
	for _, stem := range stems {
		file, r := "docs/adr/"+stem+".md", g.adr[stem]
		if !stemForm.MatchString(stem) {
			g.say(file, RuleRecord, "name it NNNN-a-few-words.md", "the name is not that of a record")
			continue
		}
		number := stem[:4]
		if number == "0000" {
			continue // the template
		}
		if other := numbers[number]; other != "" {
			g.say(file, RuleRecord, "take the next free number", "%s has the number %s already", other, number)
		}
		numbers[number] = stem
		if !strings.HasPrefix(r.title, number+": ") {
			g.say(file, RuleRecord, "begin with # "+number+": Title", "the title does not begin with the record's number")
		}
		if r.status == "" {
			g.say(file, RuleRecord, "write Status: "+strings.Join(statuses, "|")+" · Date: YYYY-MM-DD · Supersedes: none", "there is no status line as it should be")
		}
		if !strings.Contains(g.index, "]("+stem+".md)") {
			g.say("docs/adr/README.md", RuleRecord, "add a line for it", "the list of records does not name %s", stem)
		}
		for line := range strings.Lines(g.index) {
			if r.status == "Accepted" && strings.Contains(line, "]("+stem+".md)") && strings.Contains(strings.ToLower(line), "draft") {
				g.say("docs/adr/README.md", RuleRecord, "take the word draft out", "the list calls %s a draft, and it is accepted", stem)
			}
		}
	}
}
