package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Row is one line of a table: a name, what belongs to it in a few words, and a text that may wrap.
type Row struct{ Name, Note, Text string }

// Page is an explanation: a heading, paragraphs, and tables.
type Page struct {
	Title  string
	Words  []string
	Tables []Table
}

// Table is a list with a heading, which may be empty.
type Table struct {
	Title string
	Rows  []Row
}

// Explain renders an explanation.
func (s Style) Explain(p Page) string {
	var b strings.Builder
	b.WriteString(s.paint(bold, Clean(p.Title)) + "\n")
	for _, w := range p.Words {
		for _, l := range wrap(Clean(w), s.readable()-2) {
			b.WriteString("  " + l + "\n")
		}
	}
	for _, t := range p.Tables {
		if len(t.Rows) > 0 {
			if t.Title != "" {
				b.WriteString("\n" + s.paint(bold, Clean(t.Title)) + "\n")
			}
			s.rows(&b, t.Rows)
		}
	}
	return b.String()
}

// readable is the width of prose: the terminal's, but no more than eyes follow.
func (s Style) readable() int {
	if s.Width == 0 || s.Width > 100 {
		return 100
	}
	return max(40, s.Width)
}

// rows aligns names and notes; the texts stand beside them where there is room, else beneath.
func (s Style) rows(b *strings.Builder, rows []Row) {
	name, note, longest := 0, 0, 0
	for _, r := range rows {
		longest = max(longest, utf8.RuneCountInString(Clean(r.Text)))
		name, note = max(name, utf8.RuneCountInString(Clean(r.Name))), max(note, utf8.RuneCountInString(Clean(r.Note)))
	}
	at := 2 + name + 2
	if note > 0 {
		at += note + 2
	}
	beneath := at > s.readable()/2 && at+longest > s.readable()
	for _, r := range rows {
		line := "  " + pad(Clean(r.Name), name)
		if note > 0 {
			line += "  " + s.paint(dim, pad(Clean(r.Note), note))
		}
		text := Clean(strings.Join(strings.Fields(r.Text), " "))
		if text == "" {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			continue
		}
		start := at
		if beneath {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			start, line = 6, strings.Repeat(" ", 6)
		} else {
			line += "  "
		}
		for i, l := range wrap(text, max(20, s.readable()-start)) {
			if i > 0 {
				line = strings.Repeat(" ", start)
			}
			fmt.Fprintf(b, "%s%s\n", line, l)
		}
	}
}
