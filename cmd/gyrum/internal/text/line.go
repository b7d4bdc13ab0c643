package text

import (
	"strings"
	"unicode/utf8"

	"gyrum.ai/cmd/gyrum/internal/textdiff"
	"gyrum.ai/engine/drift"
)

// resultWidth holds the words and the usual times of a result.
const resultWidth = 7

// indent is where the words under an item begin.
const indent = 6

// columns are the widths that align the lines of a report.
type columns struct{ typ, name int }

// Names longer than this push their own line out instead of everybody's.
const widestName = 44

func layout(items []drift.Item) columns {
	var c columns
	for _, it := range items {
		c.typ = max(c.typ, utf8.RuneCountInString(it.Resource.Type))
		if n := utf8.RuneCountInString(name(it.Resource)); n <= widestName {
			c.name = max(c.name, n)
		}
	}
	return c
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// item writes one line: glyph, type, name and parts; wrapped parts continue under the first one. result, such as the
// time that an action took, stands in a column of its own before the parts.
func (s Style) item(page *strings.Builder, g glyph, ref drift.ResourceRef, c columns, result string, parts []part) {
	b := new(strings.Builder)
	defer func() { page.WriteString(b.String()) }()
	head := "  " + s.glyph(g) + " " + s.paint(dim, pad(Clean(ref.Type), c.typ)) + "  "
	at := 4 + max(c.typ, utf8.RuneCountInString(ref.Type)) + 2
	label := name(ref)
	if len(parts) == 0 && result == "" {
		b.WriteString(head + label + "\n")
		return
	}
	b.WriteString(head + pad(label, c.name) + "   ")
	at += max(c.name, utf8.RuneCountInString(label)) + 3
	if result != "" {
		result = strings.Repeat(" ", max(0, resultWidth-utf8.RuneCountInString(result))) + result
		b.WriteString(s.paint(dim, result))
		at += utf8.RuneCountInString(result)
	}
	if len(parts) == 0 {
		b.WriteString("\n")
		return
	}
	if result != "" {
		b.WriteString("   ")
		at += 3
	}
	start := at
	if s.Width > 0 && start > s.Width*2/3 {
		start = indent + 2
	}
	cells := make([]cell, 0, len(parts)+1)
	for i, p := range parts {
		x := s.cell(p)
		if i < len(parts)-1 {
			x.shown, x.width = x.shown+",", x.width+1
		}
		cells = append(cells, x)
	}
	for i, x := range cells {
		switch {
		case i == 0 && (s.Width == 0 || at+x.width <= s.Width || start == at):
		case i > 0 && (s.Width == 0 || at+1+x.width <= s.Width):
			b.WriteString(" ")
			at++
		default:
			line := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(line + "\n" + strings.Repeat(" ", start))
			at = start
		}
		b.WriteString(x.shown)
		at += x.width
	}
	b.WriteString("\n")
}

// cell is text with the columns that it takes.
type cell struct {
	shown string
	width int
}

func (s Style) cell(p part) cell {
	var shown []string
	width := 0
	add := func(t tint, text string) {
		if text != "" {
			width += utf8.RuneCountInString(text) + min(1, len(shown))
			shown = append(shown, s.paint(t, text))
		}
	}
	add("", p.label)
	if p.from != "" {
		add(dim, p.from)
		add(dim, s.arrow())
	}
	add("", p.to)
	return cell{strings.Join(shown, " "), width}
}

// words writes a paragraph under an item, its lead coloured; line breaks in the text are kept.
func (s Style) words(b *strings.Builder, t tint, lead, text string) {
	pre := strings.Repeat(" ", indent)
	width := 0
	if s.Width > 0 {
		width = max(20, s.Width-indent)
	}
	if lead != "" {
		lead += ": "
	}
	for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i == 0 {
			l = lead + l
		}
		for j, w := range wrap(Clean(l), width) {
			if i == 0 && j == 0 && strings.HasPrefix(w, lead) {
				w = s.paint(t, lead) + w[len(lead):]
			}
			b.WriteString(pre + w + "\n")
		}
	}
}

// why writes what stands under a planned item: why it is there, why it will not be done, what to know besides.
func (s Style) why(b *strings.Builder, it drift.Item, always bool) {
	p := toRecord(it.Action.Params)
	told := always || it.Severity != drift.SeverityDrift || it.Action.Verb == drift.Noop || p.is("restart") || reloads(it) ||
		it.Reason.Code == "package-may-start"
	if it.Blocked != "" {
		told = always // the reason for the change is no news where the change will not be made
	}
	if told && it.Reason.Text != "" && it.Reason.Text != it.Blocked {
		s.words(b, dim, "", it.Reason.Text)
	}
	if it.Blocked != "" {
		s.words(b, red, "blocked", it.Blocked)
	}
	if it.Note != "" {
		s.words(b, dim, "note", it.Note)
	}
}

// diff writes a text difference under an item.
func (s Style) diff(b *strings.Builder, lines []textdiff.Line) {
	pre := strings.Repeat(" ", indent)
	for _, l := range lines {
		shown := Clean(strings.ReplaceAll(l.Text, "\t", "    "))
		switch l.Kind {
		case '+':
			shown = s.paint(green, "+"+shown)
		case '-':
			shown = s.paint(red, "-"+shown)
		case '@':
			shown = s.paint(blue, shown)
		case '\\':
			shown = s.paint(dim, `\ `+shown)
		default:
			shown = " " + shown
		}
		b.WriteString(pre + shown + "\n")
	}
}
