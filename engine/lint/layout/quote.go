package layout

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// scalars gives every scalar below a node, keys included.
func scalars(n *yaml.Node, visit func(*yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		visit(n)
	}
	for _, c := range n.Content {
		scalars(c, visit)
	}
}

// replacement is a piece of one line to be written anew.
type replacement struct {
	line, from, to int // line from 1, bytes
	text           string
}

// replaced gives the lines with the pieces written anew.
func (d *document) replaced(rs []replacement) []string {
	slices.SortFunc(rs, func(a, b replacement) int { return cmp.Or(a.line-b.line, a.from-b.from) })
	fixed := slices.Clone(d.lines)
	for len(rs) > 0 {
		l, at, line := d.lines[rs[0].line-1], 0, rs[0].line
		var b strings.Builder
		for ; len(rs) > 0 && rs[0].line == line; rs = rs[1:] {
			b.WriteString(l[at:rs[0].from] + rs[0].text)
			at = rs[0].to
		}
		fixed[line-1] = b.String() + l[at:]
	}
	return fixed
}

// quotes turns single quotes into double ones where nothing has to be escaped.
func quotes(d *document) ([]Problem, []string) {
	var problems []Problem
	var rs []replacement
	scalars(d.root, func(n *yaml.Node) {
		if n.Style&yaml.SingleQuotedStyle == 0 || strings.ContainsAny(n.Value, `\"'`) {
			return
		}
		end, after := d.closing(n)
		if end != n.Line {
			return
		}
		from := d.offset(n)
		problems = append(problems, Problem{n.Line, n.Column, RuleQuotes, "a text in single quotes", "use double quotes"})
		rs = append(rs, replacement{n.Line, from, after, `"` + d.line(n.Line)[from+1:after-1] + `"`})
	})
	return problems, d.replaced(rs)
}

// disputed are strings of YAML 1.2 that YAML 1.1 (yaml.org/type) reads as booleans, numbers, dates or signs.
var disputed = regexp.MustCompile(`^(?i:y|n|yes|no|on|off)$` +
	`|^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$` + // base 60
	`|^[-+]?0[0-9_]+$` +
	`|^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$` +
	`|^(=|<<)$`)

// ambiguous puts disputed strings into quotes.
func ambiguous(d *document) ([]Problem, []string) {
	var problems []Problem
	var rs []replacement
	scalars(d.root, func(n *yaml.Node) {
		if n.Style&^yaml.TaggedStyle != 0 || n.Value == "" || !disputed.MatchString(n.Value) || !text(n) {
			return
		}
		from := d.offset(n)
		if !strings.HasPrefix(d.line(n.Line)[from:], n.Value) {
			return
		}
		problems = append(problems, Problem{n.Line, n.Column, RuleAmbiguous, "an unquoted word that some YAML readers take for a boolean, a number or a date", "put it in quotes"})
		rs = append(rs, replacement{n.Line, from, from + len(n.Value), `"` + n.Value + `"`})
	})
	return problems, d.replaced(rs)
}

// text says whether gyrum reads an unquoted scalar as a string.
func text(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!bool", "!!int", "!!null", "!!merge":
		return false
	case "!!float":
		return strings.HasPrefix(strings.TrimLeft(n.Value, "+-"), "0") && !strings.Contains(n.Value, ".")
	}
	return true
}
