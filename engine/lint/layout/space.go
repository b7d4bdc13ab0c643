package layout

import (
	"bytes"
	"slices"
	"strings"
)

// maxBlank is how many empty lines may stand in a row.
const maxBlank = 2

// endings turns every line break into a line feed.
func endings(raw []byte) ([]byte, []Problem) {
	at := bytes.IndexByte(raw, '\r')
	if at < 0 {
		return raw, nil
	}
	line := 1 + bytes.Count(raw[:at], []byte("\n"))
	lf := bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	return lf, []Problem{{line, 1, RuleEndings, "the line ends in a carriage return", "save the file with line feeds alone"}}
}

// blanks takes away blank space at the ends of lines and of the file.
func blanks(d *document) (problems []Problem, fixed []string) {
	run := 0 // empty lines in a row
	for i, l := range d.lines {
		if d.inside[i] {
			fixed, run = append(fixed, l), 0
			continue
		}
		trimmed := strings.TrimRight(l, " \t")
		if trimmed != l {
			problems = append(problems, Problem{i + 1, len(trimmed) + 1, RuleBlank, "blank space at the end of the line", "delete it"})
		}
		if trimmed != "" {
			fixed, run = append(fixed, trimmed), 0
			continue
		}
		if run++; run <= maxBlank && len(fixed) > 0 {
			fixed = append(fixed, "")
		}
		switch {
		case i == 0:
			problems = append(problems, Problem{1, 1, RuleBlank, "the file begins with an empty line", "delete it"})
		case run == maxBlank+1 && len(fixed) > 0 && slices.ContainsFunc(d.lines[i:], func(l string) bool { return !blank(l) }):
			problems = append(problems, Problem{i + 1, 1, RuleBlank, "more than two empty lines in a row", "keep one"})
		}
	}
	end := len(fixed)
	for end > 0 && fixed[end-1] == "" && !d.inside[len(d.lines)-1] {
		end--
	}
	last := len(d.lines)
	if end < len(fixed) {
		problems = append(problems, Problem{last, 1, RuleBlank, "the file ends with empty lines", "delete them"})
	}
	if !d.ended {
		problems = append(problems, Problem{last, len(d.lines[last-1]) + 1, RuleBlank, "the last line does not end in a line feed", "end it"})
	}
	return problems, fixed[:end]
}
