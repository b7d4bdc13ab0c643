package engine

import (
	"errors"
	"fmt"
	"slices"

	"gyrum.ai/engine/resource"
)

// ErrSelection is wrapped by the error for a selection whose term names nothing on the host.
var ErrSelection = errors.New("selection")

// pick gives the resources that the selection keeps, in order.
func (s Selection) pick(t Target) ([]resource.Resource, error) {
	for flag, terms := range map[string][]string{"--only": s.Only, "--skip": s.Skip} {
		for _, term := range terms {
			known := slices.ContainsFunc(t.Resources, func(r resource.Resource) bool { return matches(term, r) }) ||
				slices.ContainsFunc(t.Roles, func(r Role) bool { return r.Name == term })
			if !known {
				return nil, fmt.Errorf("%w: %s %s is no role, resource type or resource id of host %s", ErrSelection, flag, term, t.Host)
			}
		}
	}
	var kept []resource.Resource
	for _, r := range t.Resources {
		in := func(terms []string) bool {
			return slices.ContainsFunc(terms, func(term string) bool { return matches(term, r) })
		}
		if (len(s.Only) == 0 || in(s.Only)) && !in(s.Skip) {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// canonical gives both lists sorted and without doubles, as they enter the plan hash.
func (s Selection) canonical() map[string]any {
	tidy := func(terms []string) []any {
		terms = slices.Compact(slices.Sorted(slices.Values(terms)))
		out := make([]any, len(terms))
		for i, t := range terms {
			out[i] = t
		}
		return out
	}
	return map[string]any{"only": tidy(s.Only), "skip": tidy(s.Skip)}
}

func matches(term string, r resource.Resource) bool {
	return term == r.Role || term == r.Type || term == r.ID
}
