package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// object is a JSON object whose names keep the order they are written in.
type object []member

type member struct {
	name  string
	value any
}

// roleSchema is the schema of role manifests for editors (draft-07). It takes nothing that the definitions refuse for
// a reason an editor can see, and leaves links between files to cue vet and gyrum validate.
func roleSchema(t *Table) object {
	s := head("role-manifest.v1.json", "role manifest", t.Docs["Role"])
	body := schemaOf(t.Role, "")
	props := body.get("properties").(object)
	defs := object{}
	var cases []any
	types := t.Resource.Fields[0].Alts[0].Enum
	for _, name := range types {
		def := schemaOf(t.Types[name], "")
		if props, ok := def.get("properties").(object); ok {
			if typ, ok := props.get("type").(object); ok {
				props.set("type", append(object{{"description", t.Docs[name]}}, typ...))
			}
		}
		def = append(object{{"title", name}, {"description", t.Docs[name]}}, def...)
		def = append(def, across(name)...)
		defs = append(defs, member{name, def})
		cases = append(cases, object{
			{"if", object{{"type", "object"}, {"required", []string{"type"}}, {"properties", object{{"type", object{{"const", name}, quiet}}}}}},
			{"then", object{{"$ref", "#/definitions/" + name}}},
		})
	}
	var described []string
	var snippets []any
	for _, name := range types {
		described = append(described, t.Docs[name])
		snippets = append(snippets, snippet(name, t.Docs[name], t.Types[name]))
	}
	const mapping = "write a resource: a mapping with type and the fields of that type"
	resource := object{
		{"title", "resource"},
		{"type", "object"}, {"errorMessage", mapping},
		{"required", []string{"type"}},
		{"properties", object{{"type", object{
			{"description", t.Resource.Fields[0].Doc},
			{"anyOf", []any{
				object{{"enum", types}, {"markdownEnumDescriptions", described}},
				object{{"type", "string"}, {"pattern", "^x_"}}, // a catalog's own types are known to that catalog alone
			}},
		}}}},
		{"allOf", cases},
		// whole resources are offered where none has begun
		{"if", object{{"type", "object"}, {"required", []string{"type"}}}},
		{"else", object{{"type", "object"}, {"errorMessage", mapping}, {"defaultSnippets", snippets}}},
	}
	props.set("resources", object{{"description", t.Role.doc("resources")}, {"type", "array"}, {"items", object{{"$ref", "#/definitions/resource"}}}})
	defs = append(object{{"resource", resource}}, defs...)
	return append(append(s, body...), member{"definitions", defs})
}

// snippet is a resource with the fields that it must have, for an editor to put in whole.
func snippet(name, doc string, a Alt) object {
	body := object{}
	for _, f := range a.Fields {
		switch {
		case f.Name == "type":
			body = append(body, member{f.Name, name})
		case f.Required:
			body = append(body, member{f.Name, fmt.Sprintf("$%d", len(body))})
		}
	}
	return object{{"label", name}, {"description", doc}, {"body", body}}
}

// hostSchema is the schema of host records for editors.
func hostSchema(t *Table) object {
	return append(head("host.v1.json", "host record", t.Docs["Host"]), schemaOf(t.Host, "")...)
}

// head begins a schema.
func head(name, title, doc string) object {
	return object{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", "https://gyrum.ai/schemas/" + name}, {"title", title}, {"description", doc}}
}

// quiet keeps an editor from offering what stands in a condition.
var quiet = member{"doNotSuggest", true}

// schemaOf writes one form. The hint, where there is one, is what an editor says of a value that is not of the form.
func schemaOf(a Alt, hint string) object {
	switch a.Kind {
	case "string":
		s := object{{"type", "string"}}
		if len(a.Enum) > 0 {
			return append(s, member{"enum", a.Enum})
		}
		if hint != "" {
			s = append(s, member{"errorMessage", hint})
		}
		var all []any
		if a.NonEmpty {
			s = append(s, member{"minLength", 1})
		}
		for _, m := range a.Match {
			all = append(all, pattern(m, hint))
		}
		for _, m := range a.Reject {
			all = append(all, object{{"not", object{{"type", "string"}, {"pattern", m}}}})
		}
		if len(a.Match) == 1 && len(a.Reject) == 0 {
			return append(s, pattern(a.Match[0], hint)...)
		}
		if len(all) > 0 {
			s = append(s, member{"allOf", all})
		}
		return s
	case "bool":
		s := object{{"type", "boolean"}}
		if hint != "" {
			s = append(s, member{"errorMessage", hint})
		}
		return s
	case "int":
		s := object{{"type", "integer"}}
		if a.Min != nil {
			s = append(s, member{"minimum", *a.Min})
		}
		if a.Max != nil {
			s = append(s, member{"maximum", *a.Max})
		}
		return s
	case "list":
		s := object{{"type", "array"}}
		if a.MinItems > 0 {
			s = append(s, member{"minItems", a.MinItems})
		}
		if a.Items != nil {
			s = append(s, member{"items", schemaOfValue(*a.Items)})
		}
		return s
	case "struct":
		return schemaOfStruct(a)
	}
	return object{}
}

// pattern is an expression with what an editor says where it is not met.
func pattern(expr, hint string) object {
	s := object{{"pattern", expr}}
	if hint != "" {
		s = append(s, member{"patternErrorMessage", hint})
	}
	return s
}

// schemaOfStruct writes a mapping. Of several labels an editor gets the one for ordinary names: that a name makes a
// value a secret is said by cue vet and gyrum validate.
func schemaOfStruct(a Alt) object {
	s := object{}
	if a.Def != "" {
		s = append(s, member{"title", a.Def})
	}
	s = append(s, member{"type", "object"})
	if a.Open {
		return s
	}
	var required []string
	props := object{}
	for _, f := range a.Fields {
		v := schemaOfValue(f.Value)
		if f.Doc != "" {
			v = append(object{{"description", f.Doc}}, v...)
		}
		switch {
		case f.Default != nil:
			v = append(v, member{"default", f.Default})
		case f.Required && len(f.Alts) == 1 && f.Alts[0].Min != nil:
			v = append(v, member{"default", *f.Alts[0].Min}) // what an editor puts in
		}
		props = append(props, member{f.Name, v})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	if len(required) > 0 {
		s = append(s, member{"required", required})
	}
	if len(props) > 0 {
		s = append(s, member{"properties", props})
	}
	patterns := object{}
	open := false
	for _, l := range a.Labels {
		switch {
		case len(l.Alts) == 0: // names that are refused: additionalProperties does it
		case len(l.Match) == 0:
			open = true
			s = append(s, member{"additionalProperties", schemaOfValue(l.Value)})
		case patterns.get(l.Match[0]) == nil && !strings.HasPrefix(l.Match[0], "(?i)"):
			patterns = append(patterns, member{l.Match[0], schemaOfValue(l.Value)})
		}
	}
	if len(patterns) > 0 {
		s = append(s, member{"patternProperties", patterns})
	}
	if !open {
		s = append(s, member{"additionalProperties", false})
	}
	return s
}

// schemaOfValue writes a value of several forms.
func schemaOfValue(v Value) object {
	hint := v.Hint
	if hint != "" && !strings.HasPrefix(hint, "R") {
		hint = "write " + hint
	}
	alts := distinct(v.Alts)
	switch {
	case len(alts) == 1:
		return schemaOf(alts[0], hint)
	case len(alts) == 2 && alts[0].Kind == "string" && alts[1].Kind == "struct":
		// a condition, so that an editor judges a mapping by its fields
		kinds := object{{"type", []string{"string", "object"}}, {"errorMessage", hint}}
		return append(kinds, object{{"if", object{{"type", "object"}}}, {"then", schemaOf(alts[1], hint)}, {"else", schemaOf(alts[0], hint)}}...)
	}
	var any []any
	for _, a := range alts {
		any = append(any, schemaOf(a, hint))
	}
	return object{{"anyOf", any}}
}

// distinct leaves out words that an expression beside them takes anyway, such as a default.
func distinct(alts []Alt) []Alt {
	return slices.DeleteFunc(slices.Clone(alts), func(a Alt) bool {
		return len(a.Enum) > 0 && slices.ContainsFunc(alts, func(o Alt) bool {
			return o.Kind == "string" && len(o.Enum) == 0 && !slices.ContainsFunc(a.Enum, func(w string) bool { return !o.takes(w) })
		})
	})
}

// takes says whether a string is of a form without an enumeration.
func (a Alt) takes(s string) bool {
	ok := !a.NonEmpty || s != ""
	for _, m := range a.Match {
		ok = ok && regexp.MustCompile(m).MatchString(s)
	}
	for _, m := range a.Reject {
		ok = ok && !regexp.MustCompile(m).MatchString(s)
	}
	return ok
}

// either refuses the second of two fields beside the first.
func either(first, second string) object {
	return object{
		{"if", object{{"required", []string{first}}}},
		{"then", object{{"errorMessage", first + " and " + second + " together; keep one"}, {"properties", object{{second, false}}}}},
	}
}

// across are the rules that span fields, as cue/types.cue has them. Each condition is met by what is most often
// written and left out, so that what an editor misses is the field and not the exception.
func across(typ string) object {
	is := func(field string, v any) object {
		return object{{"properties", object{{field, object{{"const", v}, quiet}}}}}
	}
	need := func(field string) object { return object{{"required", []string{field}}} }
	switch typ {
	case "package":
		return object{{"if", is("version", "present")}, {"else", object{{"properties", object{{"state", object{{"const", "present"}, {"errorMessage", "a version together with state: absent; leave the version out"}, quiet}}}}}}}
	case "file":
		return object{
			{"if", is("state", "present")}, {"then", object{{"anyOf", []any{need("content"), need("source")}}}},
			{"allOf", []any{either("content", "source")}},
		}
	case "line":
		return either("after", "before")
	case "systemd_unit":
		return object{{"anyOf", []any{need("state"), need("enabled")}}}
	case "env":
		return object{{"if", is("state", "present")}, {"then", need("vars")}}
	case "command":
		program := object{{"type", "string"}, {"minLength", 1}, {"errorMessage", "the list's first string is the program, and not empty"}}
		return object{
			{"if", is("idempotent", true)}, {"then", need("creates")},
			{"allOf", []any{object{{"if", object{{"properties", object{{"run", object{{"type", "array"}, quiet}}}}}},
				{"then", object{{"properties", object{{"run", object{{"items", []any{program}}, quiet}}}}}}}}},
		}
	}
	return nil
}

func (o object) get(name string) any {
	if i := slices.IndexFunc(o, func(m member) bool { return m.name == name }); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o object) set(name string, v any) {
	if i := slices.IndexFunc(o, func(m member) bool { return m.name == name }); i >= 0 {
		o[i].value = v
	}
}

// doc gives a field's description.
func (a Alt) doc(name string) string {
	for _, f := range a.Fields {
		if f.Name == name {
			return f.Doc
		}
	}
	return ""
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(m.name)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b.WriteString(strings.TrimSpace(string(name)) + ":" + strings.TrimSpace(string(value)))
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}
