package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gyrum.ai/engine/canonical"
)

// OwnPrefix begins the names of a catalog's own resource types, so that no type of a later gyrum can have the same.
const OwnPrefix = "x_"

// OwnType is a resource type that a catalog brings: what its resources may declare.
type OwnType struct {
	Name string
	// Doc describes it, as the comment in its type.cue does.
	Doc string
	// Sources are the digests of plugin.cue and type.cue from which it was exported.
	Sources map[string]string
	def     *alt
}

// ownAlt, ownValue, ownField and ownLabel are the exported form of a definition, as tools/schemagen writes it.
type ownAlt struct {
	Kind     string     `json:"kind"`
	Enum     []string   `json:"enum,omitempty"`
	Match    []string   `json:"match,omitempty"`
	Reject   []string   `json:"reject,omitempty"`
	NonEmpty bool       `json:"non_empty,omitempty"`
	Min      *int64     `json:"min,omitempty"`
	Max      *int64     `json:"max,omitempty"`
	MinItems int        `json:"min_items,omitempty"`
	Items    *ownValue  `json:"items,omitempty"`
	Def      string     `json:"def,omitempty"`
	Fields   []ownField `json:"fields,omitempty"`
	Labels   []ownLabel `json:"labels,omitempty"`
	Open     bool       `json:"open,omitempty"`
	ID       string     `json:"id,omitempty"`
}

type ownValue struct {
	Alts    []ownAlt `json:"alts"`
	Hint    string   `json:"hint,omitempty"`
	Default any      `json:"default,omitempty"`
}

type ownField struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc,omitempty"`
	ownValue
}

type ownLabel struct {
	Match  []string `json:"match,omitempty"`
	Reject []string `json:"reject,omitempty"`
	ownValue
}

// ParseOwnType reads a type.json, the exported form of a type.cue.
func ParseOwnType(raw []byte) (OwnType, error) {
	var file struct {
		Type       string            `json:"type"`
		Doc        string            `json:"doc"`
		Sources    map[string]string `json:"sources"`
		Definition ownAlt            `json:"definition"`
	}
	strict, err := canonical.Transform(raw)
	if err != nil {
		return OwnType{}, err
	}
	dec := json.NewDecoder(bytes.NewReader(strict))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return OwnType{}, err
	}
	if !regexp.MustCompile(`^x_[a-z0-9_]{1,61}$`).MatchString(file.Type) {
		return OwnType{}, fmt.Errorf("%.70q is no name of a catalog's own type: it begins with %s", file.Type, OwnPrefix)
	}
	def, err := file.Definition.alt()
	if err == nil {
		err = usable(file.Type, def)
	}
	if err != nil {
		return OwnType{}, fmt.Errorf("type %s: %w", file.Type, err)
	}
	return OwnType{Name: file.Type, Doc: file.Doc, Sources: file.Sources, def: def}, nil
}

// usable says whether the rest of the engine can work with a definition.
func usable(name string, def *alt) error {
	if def.Kind != kindMap {
		return errors.New("its definition is no struct")
	}
	typ, id := def.field("type"), def.field("id")
	switch {
	case typ == nil || !typ.Required || len(typ.Alts) != 1 || !slices.Equal(typ.Alts[0].Enum, []string{name}):
		return fmt.Errorf(`it needs type!: %q`, name)
	case id == nil || len(id.Alts) != 1 || id.Alts[0].ID == "":
		return fmt.Errorf(`it needs id?: "%s:\(FIELD)", with the field that names a resource`, name)
	case len(def.Labels) > 0 || def.Open:
		return errors.New("its fields are not a closed set")
	}
	for key := range strings.SplitSeq(id.Alts[0].ID, "#") {
		f := def.field(key)
		if f == nil || !f.Required || len(f.Alts) != 1 || f.Alts[0].Kind != kindString {
			return fmt.Errorf("the field %s, of which an id is made, is not a required string", key)
		}
	}
	if p := def.field("path"); p != nil && !slices.ContainsFunc(p.Alts[0].Match, func(m *pattern) bool { return m.match("/a") && !m.match("a") }) {
		return errors.New("its path takes relative ones: write path!: #Path or #Directory")
	}
	return nil
}

// kinds are those that a definition may name.
var kinds = map[string]kind{"string": kindString, "bool": kindBool, "int": kindInt, "list": kindList, "struct": kindMap, "any": "any"}

func (o *ownAlt) alt() (*alt, error) {
	k, ok := kinds[o.Kind]
	if !ok {
		return nil, fmt.Errorf("there is no kind %q", o.Kind)
	}
	a := &alt{Kind: k, Enum: o.Enum, NonEmpty: o.NonEmpty, MinItems: o.MinItems, Def: o.Def, Open: o.Open, ID: o.ID}
	if o.Min != nil {
		a.Min = *o.Min
	}
	if o.Max != nil {
		a.Max = *o.Max
	}
	var err error
	if a.Match, err = patterns(o.Match); err != nil {
		return nil, err
	}
	if a.Reject, err = patterns(o.Reject); err != nil {
		return nil, err
	}
	if o.Items != nil {
		v, err := o.Items.value()
		if err != nil {
			return nil, err
		}
		a.Items = &v
	}
	for _, f := range o.Fields {
		v, err := f.value()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		a.Fields = append(a.Fields, fieldValue{Name: f.Name, Required: f.Required, Doc: f.Doc, value: v})
	}
	for _, l := range o.Labels {
		v, err := l.value()
		if err != nil {
			return nil, err
		}
		la := label{value: v}
		if la.Match, err = patterns(l.Match); err != nil {
			return nil, err
		}
		if la.Reject, err = patterns(l.Reject); err != nil {
			return nil, err
		}
		a.Labels = append(a.Labels, la)
	}
	return a, nil
}

func (o *ownValue) value() (value, error) {
	v := value{Hint: o.Hint}
	switch d := o.Default.(type) {
	case nil, string, bool:
		v.Default = d
	default:
		return v, fmt.Errorf("a default is a string or a boolean, not %v", d)
	}
	if len(o.Alts) == 0 {
		return v, errors.New("it may be nothing")
	}
	for i := range o.Alts {
		a, err := o.Alts[i].alt()
		if err != nil {
			return v, err
		}
		v.Alts = append(v.Alts, a)
	}
	return v, nil
}

func patterns(texts []string) ([]*pattern, error) {
	var out []*pattern
	for _, t := range texts {
		if _, err := regexp.Compile(t); err != nil {
			return nil, err
		}
		out = append(out, &pattern{text: t})
	}
	return out, nil
}

// Adopt adds types of the catalog's own; it is called before a manifest is read.
func (c *Catalog) Adopt(types ...OwnType) {
	for _, t := range types {
		if c.own == nil {
			c.own = map[string]*alt{}
		}
		c.own[t.Name] = t.def
	}
}

// Decline says why a type of the catalog's own cannot be used; a resource of that type is told so.
func (c *Catalog) Decline(typ, why string) {
	if c.declined == nil {
		c.declined = map[string]string{}
	}
	c.declined[typ] = why
}

// typ finds the definition of a resource type, nil for none.
func (c *Catalog) typ(name string) *alt {
	if a := definitions.typ(name); a != nil {
		return a
	}
	return c.own[name]
}

// noOwnType says why a type of the catalog's own cannot be used, and what to do.
func (c *Catalog) noOwnType(name string) (message, hint string) {
	if why := c.declined[name]; why != "" {
		return "the catalog's own type " + name + " cannot be used: " + why, ""
	}
	hint = didYouMean(name, slices.Sorted(maps.Keys(c.own)))
	if hint == "" {
		hint = "a type of the catalog's own lies in plugins/" + name + "/"
	}
	return "the catalog has no type " + clip(name), hint
}

// Types lists the resource types that any role of the catalog declares, sorted.
func (c *Catalog) Types() []string {
	seen := map[string]bool{}
	for _, name := range c.roles {
		if ro, _ := c.role(name); ro != nil {
			for i := range ro.resources {
				seen[ro.resources[i].Type] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
