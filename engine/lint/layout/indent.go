package layout

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// deeper is how much deeper a level is.
const deeper = 2

// indenter finds where the lines of a document should begin.
type indenter struct {
	*document
	problems []Problem
	want     map[int]int // line, from 0 -> indentation
	gaps     map[int][]gap
}

// gap is needless blank space after a dash, from a byte up to another.
type gap struct {
	from, to int
	// follows is how far what continues the item moves; it hangs on the item and not on the dash.
	follows int
}

// indentation puts every collection two spaces deeper than the key or dash that it belongs to.
func indentation(d *document) ([]Problem, []string) {
	in := &indenter{document: d, want: map[int]int{}, gaps: map[int][]gap{}}
	in.collection(d.root, 0, 0)
	return in.problems, in.shifted()
}

// collection places a mapping or list in block style. want is where it should begin and have where it would, if only
// what is above it were moved.
func (in *indenter) collection(n *yaml.Node, want, have int) {
	column := n.Column - 1
	if column != have {
		in.problems = append(in.problems, Problem{n.Line, n.Column, RuleIndentation,
			fmt.Sprintf("indented by %s here", spaces(column)), fmt.Sprintf("indent by %d: two a level, also for lists", want)})
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			in.place(n.Content[i].Line-1, want)
			in.value(n.Content[i+1], want, column)
		}
		return
	}
	for _, item := range n.Content {
		line := in.dash(item, column)
		in.place(line, want)
		have := column
		if in.gap(item, line, column, want) {
			have = item.Column - 1 - deeper // said already
		}
		in.value(item, want, have)
	}
}

// gap notes an item that stands in the line of its dash and more than one space behind it.
func (in *indenter) gap(item *yaml.Node, line, dash, want int) bool {
	at := item.Column - 1
	if item.Line-1 != line || at <= dash+deeper || at >= len(in.lines[line]) || in.lines[line][dash] != '-' || strings.Trim(in.lines[line][dash+1:at], " ") != "" {
		return false
	}
	follows := want - dash
	if (item.Kind == yaml.MappingNode || item.Kind == yaml.SequenceNode) && !flow(item) {
		follows = want + deeper - at
	}
	in.gaps[line] = append(in.gaps[line], gap{dash + deeper, at, follows})
	in.problems = append(in.problems, Problem{item.Line, dash + 2, RuleIndentation,
		fmt.Sprintf("%s after the dash", spaces(at-dash-1)), "write one space after a dash, and what belongs to the item below its first letter"})
	return true
}

// value places what belongs to a key or a dash that begins at want and now begins at have.
func (in *indenter) value(n *yaml.Node, want, have int) {
	if (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && !flow(n) {
		in.collection(n, want+deeper, have+deeper)
	}
}

// dash gives the line of an item's dash, from 0: the item's own, or one above it.
func (in *indenter) dash(item *yaml.Node, column int) int {
	for i := item.Line - 1; i >= 0 && i < len(in.lines); i-- {
		l := in.lines[i]
		if len(l) > column && l[column] == '-' && strings.Trim(l[:column], " -") == "" {
			return i
		}
		if !blank(l) && !comment(l) && i < item.Line-1 {
			break
		}
	}
	return item.Line - 1
}

// place says where a line should begin; the outermost of what begins on a line decides.
func (in *indenter) place(line, want int) {
	if _, placed := in.want[line]; !placed {
		in.want[line] = want
	}
}

// shifted gives the lines moved: a line that nothing begins on moves with the one that it continues, a comment with the
// line below it when it stands at the same depth.
func (in *indenter) shifted() []string {
	out := slices.Clone(in.lines)
	below := in.below()
	by := 0
	for i, l := range in.lines {
		if want, placed := in.want[i]; placed && !in.inside[i] {
			by = want - indentOf(l)
		}
		move := by
		if !in.inside[i] && comment(l) {
			if b := below[i]; b >= 0 && indentOf(in.lines[b]) == indentOf(l) {
				move = in.want[b] - indentOf(l)
			}
		}
		gaps := in.gaps[i]
		for _, g := range slices.Backward(gaps) {
			l = l[:g.from] + l[g.to:]
			out[i] = l
		}
		if len(gaps) > 0 {
			by = gaps[len(gaps)-1].follows
		}
		switch {
		case blank(l) && !in.inside[i], l == "":
		case move > 0:
			out[i] = strings.Repeat(" ", move) + l
		case move < 0:
			out[i] = l[min(-move, indentOf(l)):]
		}
	}
	return out
}

// below gives for every line the next one that is neither blank nor a comment, when something begins on it; else -1.
func (in *indenter) below() []int {
	out, next := make([]int, len(in.lines)), -1
	for i, l := range slices.Backward(in.lines) {
		out[i] = next
		if blank(l) || comment(l) {
			continue
		}
		next = -1
		if _, placed := in.want[i]; placed {
			next = i
		}
	}
	return out
}

func spaces(n int) string {
	if n == 1 {
		return "1 space"
	}
	return fmt.Sprintf("%d spaces", n)
}
