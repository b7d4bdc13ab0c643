package main

import (
	"regexp/syntax"
	"strings"
)

// needs gives strings of which one is in every text that the expression matches, nil when there is no such list. With
// it, long texts are searched for a few plain strings before the expression is tried.
func needs(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	found := literals(re.Simplify())
	for _, s := range found {
		if len(s) < 3 {
			return nil
		}
	}
	return found
}

// literals gives the best list of needed strings for one node, nil for none.
func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		return exact(re)
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			l := literals(sub)
			if l == nil {
				return nil
			}
			all = append(all, l...)
		}
		return all
	case syntax.OpConcat:
		var best, run []string
		for _, sub := range re.Sub {
			e := exact(sub)
			if e == nil || len(run)*len(e) > 32 {
				best, run = longer(best, run), nil
				if e == nil {
					best = longer(best, literals(sub))
					continue
				}
			}
			run = cross(run, e)
		}
		return longer(best, run)
	}
	return nil
}

// exact gives every text that a node matches, when they are few.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}
		}
	case syntax.OpCharClass:
		var out []string
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				if len(out) == 8 {
					return nil
				}
				out = append(out, string(c))
			}
		}
		return out
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpAlternate:
		var out []string
		for _, sub := range re.Sub {
			e := exact(sub)
			if e == nil {
				return nil
			}
			out = append(out, e...)
		}
		return out
	case syntax.OpConcat:
		var out []string
		for _, sub := range re.Sub {
			e := exact(sub)
			if e == nil || len(out)*len(e) > 32 {
				return nil
			}
			out = cross(out, e)
		}
		return out
	case syntax.OpWordBoundary:
		return []string{""}
	}
	return nil
}

// cross joins every text of a with every text of b.
func cross(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// longer gives the list whose shortest text is longer.
func longer(a, b []string) []string {
	if shortest(b) > shortest(a) {
		return b
	}
	return a
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	n := len(list[0])
	for _, s := range list {
		n = min(n, len(s))
	}
	return n
}

// quoteAll writes a Go slice of strings.
func quoteAll(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}
