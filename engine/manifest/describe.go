package manifest

import (
	"slices"
	"strings"
)

// RecordDoc describes a resource type or a kind of file, in the words of the definitions.
type RecordDoc struct {
	// Name is the type, or role, host or catalog.
	Name string `json:"name"`
	// File says where such a record stands; empty for a type.
	File   string     `json:"file,omitempty"`
	Doc    string     `json:"description"`
	Fields []FieldDoc `json:"fields"`
}

// FieldDoc describes a field.
type FieldDoc struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	// Kinds are the forms that a value may have, such as "a string" or "{secret_ref}".
	Kinds []string `json:"kinds"`
	// Values are all that are allowed, where the set is closed.
	Values []string `json:"values,omitempty"`
	// Default stands where the field is left out; nil, a string or a bool.
	Default any    `json:"default,omitempty"`
	Doc     string `json:"description"`
	// Allowed says in words what may be written, of a list in each place; empty where the kind says it all.
	Allowed string `json:"allowed,omitempty"`
	// Rule is the rule that a value breaks which is not allowed, where it is a rule with a number.
	Rule string `json:"rule,omitempty"`
}

// DescribeTypes describes every resource type, in the order of the definitions.
func DescribeTypes() []RecordDoc {
	var out []RecordDoc
	for _, t := range definitions.Types {
		out = append(out, describeType(t.Name, t.Doc, t.Def))
	}
	return out
}

// Describe describes a type of the catalog's own.
func (t OwnType) Describe() RecordDoc { return describeType(t.Name, t.Doc, t.def) }

func describeType(name, doc string, def *alt) RecordDoc {
	d := RecordDoc{Name: name, Doc: doc, Fields: describeFields(def)}
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Name == "type" && f.Doc == "" {
			f.Doc = definitions.Resource.field("type").Doc
		}
	}
	return d
}

// DescribeFiles describes the three kinds of file that a catalog holds.
func DescribeFiles() []RecordDoc {
	return []RecordDoc{
		{Name: "host", File: hostsDir + "/<name>" + extension, Doc: definitions.HostDoc, Fields: describeFields(definitions.Host)},
		{Name: "role", File: rolesDir + "/<role>" + extension, Doc: definitions.RoleDoc, Fields: describeFields(definitions.Role)},
		{Name: "catalog", File: catalogFile, Doc: definitions.CatalogDoc, Fields: describeFields(definitions.Catalog)},
	}
}

func describeFields(a *alt) []FieldDoc {
	var out []FieldDoc
	for i := range a.Fields {
		f := &a.Fields[i]
		d := FieldDoc{Name: f.Name, Required: f.Required, Default: f.Default, Doc: f.Doc, Allowed: f.Hint}
		if d.Allowed == "" && len(f.Alts) == 1 && f.Alts[0].Items != nil {
			d.Allowed = f.Alts[0].Items.Hint
		}
		if rule, rest, ok := strings.Cut(d.Allowed, ": "); ok && ruleName(rule) {
			d.Rule, d.Allowed = rule, rest
		}
		closed := len(f.Alts) > 0
		for _, v := range f.Alts {
			kind := v.Kind.wanted()
			switch {
			case v.Def == "SecretRef":
				kind = "{secret_ref}"
			case v.Kind == kindBool:
				kind = "true or false"
			}
			if !slices.Contains(d.Kinds, kind) {
				d.Kinds = append(d.Kinds, kind)
			}
			d.Values = append(d.Values, v.Enum...)
			closed = closed && len(v.Enum) > 0
		}
		if !closed {
			d.Values = nil
		}
		out = append(out, d)
	}
	for i := range a.Labels {
		if l := &a.Labels[i]; slices.ContainsFunc(l.Match, func(p *pattern) bool { return p.match(foreign) && !p.match("y") }) {
			return append(out, FieldDoc{Name: foreign, Kinds: []string{"anything"}, Doc: "Keys of other tools; gyrum does not read them."})
		}
	}
	return out
}

// foreign stands for the keys that are left to other tools.
const foreign = "x-*"

// RoleOff is a role that a host would carry and has deactivated.
type RoleOff struct {
	Name string `json:"name"`
	// From says where the host would have it from: defaults, roles or activate.
	From string `json:"from"`
}

// Deactivated lists the roles that a host would carry if its record did not deactivate them.
func (c *Catalog) Deactivated(name string) []RoleOff {
	if !has(c.hosts, name) {
		return nil
	}
	h, _ := c.host(name)
	if h == nil {
		return nil
	}
	rec, _ := c.catalog()
	all := *h
	all.deactivate = nil
	var out []RoleOff
	for _, u := range c.effective(&all, rec, &report{}) {
		off := slices.ContainsFunc(h.deactivate, func(n *node) bool { return n.text == u.name })
		if off && u.name != BaseRole {
			out = append(out, RoleOff{u.name, u.from})
		}
	}
	return out
}
