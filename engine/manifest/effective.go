package manifest

import (
	"container/heap"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gyrum.ai/engine/resource"
)

// RoleUse is a role as one host carries it.
type RoleUse struct {
	Name        string
	Description string
	Version     int64
	Requires    []string
	// From says where the host has it from: base, defaults, roles or activate.
	From string
	// Unordered says that the role has no place in the order, for it requires itself, or waits for one that does (R6).
	Unordered bool
}

// use is a role of a host's effective list and the node that names it.
type use struct {
	name, from string
	file       string
	at         *node
}

// effective gives a host's roles: the base role, the catalog's defaults, the host's own, those activated, less those
// deactivated; a duplicate keeps its first place. r takes findings of R1 and R13 in the host's record.
func (c *Catalog) effective(h *host, rec *catalogRecord, r *report) []use {
	var uses []use
	at := map[string]int{}
	add := func(name, from, file string, n *node) {
		if _, twice := at[name]; twice {
			if from == "activate" {
				r.warn(n, "R13", "activate", name+" is active already", "delete it from activate")
			}
			return
		}
		at[name] = len(uses)
		uses = append(uses, use{name: name, from: from, file: file, at: n})
	}
	if has(c.roles, BaseRole) {
		add(BaseRole, "base", h.file, h.nameAt)
	}
	for _, n := range rec.defaults {
		if has(c.roles, n.text) { // an unknown default is a finding of catalog.yaml
			add(n.text, "defaults", h.file, h.nameAt)
		}
	}
	for i, n := range h.roles {
		if c.known(r, n, "R1", fmt.Sprintf("roles[%d]", i)) {
			add(n.text, "roles", h.file, n)
		}
	}
	for i, n := range h.activate {
		at := fmt.Sprintf("activate[%d]", i)
		switch {
		case n.text == BaseRole:
			r.at(n, "R13", at, "the base role "+BaseRole+" is always active", "delete it from activate")
		case c.known(r, n, "R13", at):
			add(n.text, "activate", h.file, n)
		}
	}
	for i, n := range h.deactivate {
		at := fmt.Sprintf("deactivate[%d]", i)
		switch {
		case n.text == BaseRole:
			r.at(n, "R13", at, "the base role "+BaseRole+" cannot be deactivated", "delete it from deactivate")
		case !c.known(r, n, "R13", at):
		case !slices.ContainsFunc(uses, func(u use) bool { return u.name == n.text }):
			r.warn(n, "R13", at, n.text+" is not active", "delete it from deactivate")
		default:
			uses = slices.DeleteFunc(uses, func(u use) bool { return u.name == n.text })
		}
	}
	return uses
}

// known says whether a role of this name has a manifest, and reports one that might have one and has not.
func (c *Catalog) known(r *report, n *node, rule, at string) bool {
	if has(c.roles, n.text) {
		return true
	}
	if !definitions.Role.field("role").Alts[0].accepts(n.text) {
		return false // what is no name of a role has its own finding
	}
	hint := didYouMean(n.text, c.roles)
	if hint == "" {
		hint = "write " + rolesDir + "/" + clip(n.text) + extension + ", or take the name out"
	}
	r.at(n, rule, at, "there is no role "+clip(n.text), hint)
	return false
}

// warn adds a finding that does not make the catalog unusable.
func (r *report) warn(n *node, rule, at, message, hint string) {
	r.severity = SeverityWarn
	r.at(n, rule, at, message, hint)
	r.severity = ""
}

// order sorts roles: the base role first, then by requires, ties in the effective list's order. A cycle is R6; the
// roles in it, and those that wait for them, are left out.
func (c *Catalog) order(uses []use, roles map[string]*role, r *report) []use {
	at := make(map[string]int, len(uses))
	for i, u := range uses {
		at[u.name] = i
	}
	waits := make([]int, len(uses)) // how many roles each still waits for
	frees := make([][]int, len(uses))
	ready := &indexes{}
	for i, u := range uses {
		if ro := roles[u.name]; ro != nil && u.name != BaseRole {
			for _, n := range ro.requires {
				if q, carried := at[n.text]; carried && !slices.Contains(frees[q], i) {
					frees[q] = append(frees[q], i)
					waits[i]++
				}
			}
		}
		if waits[i] == 0 {
			heap.Push(ready, i)
		}
	}
	out := make([]use, 0, len(uses))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		out = append(out, uses[i])
		for _, j := range frees[i] {
			if waits[j]--; waits[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
	if len(out) < len(uses) {
		var left []use
		for i, u := range uses {
			if waits[i] > 0 {
				left = append(left, u)
			}
		}
		c.cycles(left, roles, r)
	}
	return out
}

// indexes is a heap that gives the smallest first.
type indexes []int

func (h indexes) Len() int           { return len(h) }
func (h indexes) Less(i, j int) bool { return h[i] < h[j] }
func (h indexes) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexes) Push(v any)        { *h = append(*h, v.(int)) }
func (h *indexes) Pop() any {
	old := *h
	v := old[len(old)-1]
	*h = old[:len(old)-1]
	return v
}

// cycles reports R6, each cycle once: the shortest that every role is in, from the roles that wait for another one.
func (c *Catalog) cycles(left []use, roles map[string]*role, r *report) {
	waiting := map[string]bool{}
	for _, u := range left {
		waiting[u.name] = true
	}
	// Who is required by none of them only waits for a cycle.
	needed := map[string]int{}
	for name := range waiting {
		for _, n := range roles[name].requires {
			needed[n.text]++
		}
	}
	var idle []string
	for name := range waiting {
		if needed[name] == 0 {
			idle = append(idle, name)
		}
	}
	for ; len(idle) > 0; idle = idle[1:] {
		delete(waiting, idle[0])
		for _, n := range roles[idle[0]].requires {
			if needed[n.text]--; needed[n.text] == 0 && waiting[n.text] {
				idle = append(idle, n.text)
			}
		}
	}
	said := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		if said[name] {
			continue
		}
		path, edge := shortest(name, waiting, roles)
		if path == nil {
			continue
		}
		for _, in := range path {
			said[in] = true
		}
		last := path[len(path)-1]
		r.findings = append(r.findings, Finding{Pos: resource.Position{File: roles[last].file, Line: edge.line, Column: edge.column}, Rule: "R6",
			Severity: SeverityError, Message: "the roles require each other: " + strings.Join(append(path, name), " -> "), Hint: "take one of them out of requires", Path: "requires"})
	}
}

// shortest gives the shortest way by requires from a role back to it, without the role at the end, and the name that
// closes it; nil where there is none.
func shortest(name string, among map[string]bool, roles map[string]*role) (path []string, edge *node) {
	from := map[string]string{}
	for todo := []string{name}; len(todo) > 0; todo = todo[1:] {
		for _, n := range roles[todo[0]].requires {
			if n.text == name {
				for at := todo[0]; at != name; at = from[at] {
					path = append(path, at)
				}
				path = append(path, name)
				slices.Reverse(path)
				return path, n
			}
			if _, seen := from[n.text]; among[n.text] && !seen {
				from[n.text] = todo[0]
				todo = append(todo, n.text)
			}
		}
	}
	return nil, nil
}
