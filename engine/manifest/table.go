package manifest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// value is what one field, element or label may be: one of the alternatives.
type value struct {
	Alts []*alt
	// Hint says what is right, as the definitions do; it begins with a rule ("R11: ") where one is broken.
	Hint string
	// Default stands where the field is left out; nil, a string or a bool.
	Default any
}

// words says whether only some words are allowed.
func (v *value) words() bool {
	return !slices.ContainsFunc(v.Alts, func(a *alt) bool { return len(a.Enum) == 0 })
}

// alt is one form of a value: a kind and what holds for it.
type alt struct {
	Kind kind // string, bool, int, list, struct, any
	// Enum lists the strings allowed; Match and Reject are expressions that a string meets and does not meet.
	Enum     []string
	Match    []*pattern
	Reject   []*pattern
	NonEmpty bool
	// Min and Max bound an int; a Max of 0 is none.
	Min, Max int64
	MinItems int
	Items    *value
	// Def names the definition that the form was written as.
	Def    string
	Fields []fieldValue
	Labels []label
	// Open is set for a struct that may hold anything.
	Open bool
	// ID is the field that an id is made of, as <type>:<field>, or two of them with # between.
	ID string
	// last is the latest string that was accepted: owners and modes are the same a thousand times.
	last atomic.Pointer[string]
	// sorted is Fields by name, made when it is first asked for.
	sorted     []*fieldValue
	sortedOnce sync.Once
}

// byName gives the fields in the order of canonical JSON.
func (a *alt) byName() []*fieldValue {
	a.sortedOnce.Do(func() {
		for i := range a.Fields {
			a.sorted = append(a.sorted, &a.Fields[i])
		}
		slices.SortFunc(a.sorted, func(x, y *fieldValue) int { return strings.Compare(x.Name, y.Name) })
	})
	return a.sorted
}

// fieldValue is a named field of a struct.
type fieldValue struct {
	Name     string
	Required bool
	Doc      string
	value
}

// label is what holds for fields whose names meet it.
type label struct {
	Match  []*pattern
	Reject []*pattern
	value
}

// table is everything that files are judged by. tools/schemagen writes it from the definitions in cue/.
type table struct {
	Role, Host, Catalog, Resource *alt
	RoleDoc, HostDoc, CatalogDoc  string
	Types                         []typeDef
}

// typeDef is one resource type.
type typeDef struct {
	Name string
	Doc  string
	Def  *alt
}

// typ finds a resource type's definition, nil for none.
func (t *table) typ(name string) *alt {
	for i := range t.Types {
		if t.Types[i].Name == name {
			return t.Types[i].Def
		}
	}
	return nil
}

// pattern is a regular expression (RE2) that is compiled when it is first used.
type pattern struct {
	text string
	// needs are strings of which one is in every text that matches; nil when there are none.
	needs []string
	once  sync.Once
	re    *regexp.Regexp
}

func (p *pattern) match(s string) bool {
	if p.needs != nil && !containsAny(s, p.needs) {
		return false
	}
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re.MatchString(s)
}

func containsAny(s string, list []string) bool {
	for _, l := range list {
		if strings.Contains(s, l) {
			return true
		}
	}
	return false
}

// meets says whether s matches all of match and none of reject.
func meets(s string, match, reject []*pattern) bool {
	for _, p := range match {
		if !p.match(s) {
			return false
		}
	}
	for _, p := range reject {
		if p.match(s) {
			return false
		}
	}
	return true
}

// field finds a named field of a struct, nil for none.
func (a *alt) field(name string) *fieldValue {
	for i := range a.Fields {
		if a.Fields[i].Name == name {
			return &a.Fields[i]
		}
	}
	return nil
}

// accepts says whether a string is one of this form.
func (a *alt) accepts(s string) bool {
	switch {
	case a.Kind == "any" || a.ID != "":
		return true
	case len(a.Enum) > 0:
		for _, w := range a.Enum {
			if w == s {
				return true
			}
		}
		return false
	case a.NonEmpty && s == "":
		return false
	}
	if last := a.last.Load(); last != nil && *last == s {
		return true
	}
	if !meets(s, a.Match, a.Reject) {
		return false
	}
	if len(s) <= 64 {
		a.last.Store(&s)
	}
	return true
}
