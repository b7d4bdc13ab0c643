package layout

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// ranks say which keys come before which, by the key that tells the kind of file; keys of one rank stand as they were
// written, and keys of others last.
var ranks = []struct {
	key   string
	rank  map[string]int
	order string
}{
	{"role", map[string]int{"role": 0, "version": 1, "description": 2, "requires": 2, "mutually_exclusive": 2, "resources": 3}, "role, version, then the others, and resources at the end"},
	{"name", map[string]int{"name": 0, "roles": 1, "description": 1, "labels": 1, "activate": 1, "deactivate": 1}, "name, then the others, and keys of other tools (x-*) at the end"},
	{"", map[string]int{"roles": 0, "defaults": 1}, "roles, defaults, and keys of other tools (x-*) at the end"},
}

// order puts a file's keys into their order. A comment directly above a key moves with it; one above
// the first key stays at the top of the file.
func order(d *document) ([]Problem, []string) {
	names, at := d.keys(d.root)
	if len(names) < 2 {
		return nil, d.lines
	}
	kind := ranks[len(ranks)-1]
	for _, k := range ranks {
		if slices.Contains(names, k.key) {
			kind = k
			break
		}
	}
	place := func(i int) int {
		if p, known := kind.rank[names[i]]; known {
			return p
		}
		return len(kind.rank)
	}
	sorted := make([]int, len(names))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return place(a) - place(b) })
	var problems []Problem
	for i, last := 1, place(0); i < len(names); i++ {
		now := place(i)
		if now < last {
			j := 0
			for place(j) <= now {
				j++
			}
			problems = append(problems, Problem{at[i] + 1, 1, RuleOrder, fmt.Sprintf("%s comes after %s", names[i], names[j]),
				"the order is " + kind.order})
			break
		}
		last = now
	}
	if len(problems) == 0 {
		return nil, d.lines
	}
	begins := make([]int, len(at)+1) // of each key with the comments above it
	for i, l := range at {
		for i > 0 && l-1 > at[i-1] && comment(d.lines[l-1]) && !d.inside[l-1] && indentOf(d.lines[l-1]) == 0 {
			l--
		}
		begins[i] = l
	}
	begins[len(at)] = len(d.lines)
	fixed := slices.Clone(d.lines[:begins[0]])
	for _, i := range sorted {
		fixed = append(fixed, d.lines[begins[i]:begins[i+1]]...)
	}
	return problems, fixed
}

// typeFirst lets every resource begin with its type.
func typeFirst(d *document) ([]Problem, []string) {
	var list *yaml.Node
	for i := 0; i+1 < len(d.root.Content); i += 2 {
		if d.root.Content[i].Value == "resources" {
			list = d.root.Content[i+1]
		}
	}
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, d.lines
	}
	var problems []Problem
	fixed := slices.Clone(d.lines)
	for _, item := range list.Content {
		if item.Kind != yaml.MappingNode {
			continue
		}
		var typ *yaml.Node
		for i := 2; i+1 < len(item.Content); i += 2 {
			if item.Content[i].Value == "type" {
				typ = item.Content[i]
			}
		}
		if typ == nil {
			continue
		}
		problems = append(problems, Problem{typ.Line, typ.Column, RuleOrder, "the type is not the first field of its resource", "begin the resource with - type: ..."})
		if names, at := d.keys(item); len(names) > 0 && !flow(list) {
			moveType(d, fixed, at, slices.Index(names, "type"))
		}
	}
	return problems, fixed
}

// moveType moves a type that stands in one line of its own to the line with the dash. One with a comment above it is
// left to its author.
func moveType(d *document, fixed []string, at []int, index int) {
	first, from := at[0], at[index]
	next := from + 1
	for _, line := range at {
		if line > from {
			next = min(line, next)
			break
		}
	}
	head, dash := fixed[first], strings.Index(d.lines[first], "- ")
	if dash < 0 || strings.Trim(head[:dash], " ") != "" || next != from+1 || comment(d.lines[from-1]) {
		return
	}
	moved := head[:dash] + "- " + strings.TrimLeft(fixed[from], " ")
	rest := head[:dash] + "  " + head[dash+2:]
	copy(fixed[first+2:from+1], slices.Clone(fixed[first+1:from]))
	fixed[first], fixed[first+1] = moved, rest
}
