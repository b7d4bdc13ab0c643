package manifest

import (
	"fmt"
	"regexp"
	"slices"
)

// quarrel is R7 for lines: two resources, by their places in two lists, that would undo each other.
type quarrel struct {
	a, b int
	text string
}

// quarrels finds what in two lists of resources would undo each other in one file: a line and whatever owns the file, two
// lines that read the same, and a line that meets another one's match. The lists may be the same.
func quarrels(as, bs []declared) []quarrel {
	if !slices.ContainsFunc(as, isLine) && !slices.ContainsFunc(bs, isLine) {
		return nil
	}
	at := map[string][]int{}
	for i := range bs {
		if bs[i].path != "" {
			at[bs[i].path] = append(at[bs[i].path], i)
		}
	}
	var out []quarrel
	for i := range as {
		for _, j := range at[as[i].path] {
			if text := quarrelOf(&as[i], &bs[j]); as[i].path != "" && &as[i] != &bs[j] && text != "" {
				out = append(out, quarrel{i, j, text})
			}
		}
	}
	return out
}

func isLine(d declared) bool { return d.Type == "line" }

// quarrelOf says why two resources of one path would undo each other, empty when they would not. Two that own it whole are
// another finding.
func quarrelOf(a, b *declared) string {
	switch {
	case a.ID == b.ID || !isLine(*a) && !isLine(*b):
		return ""
	case !isLine(*a):
		return b.ID + " is a line of a file that " + a.ID + " owns whole"
	case !isLine(*b):
		return a.ID + " is a line of a file that " + b.ID + " owns whole"
	case !a.hasLine() || !b.hasLine():
		return ""
	case a.node.str("line") == b.node.str("line"):
		return a.ID + " and " + b.ID + " are the same line"
	case meetsLine(a, b):
		return "match of " + a.ID + " meets " + b.ID
	case meetsLine(b, a):
		return "match of " + b.ID + " meets " + a.ID
	}
	return ""
}

// hasLine says whether the line is there and is one.
func (d *declared) hasLine() bool { return d.node.get("line") != nil && d.right("line") }

func meetsLine(a, b *declared) bool {
	match := a.node.str("match")
	if match == "" {
		return false
	}
	re, err := regexp.Compile(match)
	return err == nil && re.MatchString(b.node.str("line"))
}

// lineLinks is R7 for lines across the roles that one host carries.
func lineLinks(uses []use, roles map[string]*role, r *report) {
	var carried []*role
	for _, u := range uses {
		if ro := roles[u.name]; ro != nil {
			carried = append(carried, ro)
		}
	}
	if !slices.ContainsFunc(carried, func(ro *role) bool { return slices.ContainsFunc(ro.resources, isLine) }) {
		return
	}
	for i, a := range carried {
		for _, b := range carried[i+1:] {
			for _, q := range quarrels(a.resources, b.resources) {
				at := slices.IndexFunc(uses, func(u use) bool { return u.name == b.name })
				r.at(uses[at].at, "R7", "", fmt.Sprintf("%s (%s:%d and %s:%d)", q.text, a.file, a.resources[q.a].node.line, b.file, b.resources[q.b].node.line),
					"declare them in one role, or narrow match")
			}
		}
	}
}
