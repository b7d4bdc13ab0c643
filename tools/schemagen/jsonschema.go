package main

import (
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
	body := schemaOf(t.Role)
	props := body.get("properties").(object)
	defs := object{}
	var cases []any
	types := t.Resource.Fields[0].Alts[0].Enum
	for _, name := range types {
		def := schemaOf(t.Types[name])
		def = append(object{{"description", t.Docs[name]}}, def...)
		def = append(def, across(name)...)
		defs = append(defs, member{name, def})
		cases = append(cases, object{
			{"if", object{{"properties", object{{"type", object{{"const", name}}}}}, {"required", []string{"type"}}}},
			{"then", object{{"$ref", "#/definitions/" + name}}},
		})
	}
	var described []string
	for _, name := range types {
		described = append(described, t.Docs[name])
	}
	resource := object{
		{"type", "object"},
		{"required", []string{"type"}},
		{"properties", object{{"type", object{{"description", t.Resource.Fields[0].Doc}, {"enum", types}, {"markdownEnumDescriptions", described}}}}},
		{"allOf", cases},
	}
	props.set("resources", object{{"description", t.Role.doc("resources")}, {"type", "array"}, {"items", object{{"$ref", "#/definitions/resource"}}}})
	defs = append(object{{"resource", resource}}, defs...)
	return append(append(s, body...), member{"definitions", defs})
}

// hostSchema is the schema of host records for editors.
func hostSchema(t *Table) object {
	return append(head("host.v1.json", "host record", t.Docs["Host"]), schemaOf(t.Host)...)
}

// head begins a schema.
func head(name, title, doc string) object {
	return object{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", "https://gyrum.ai/schemas/" + name}, {"title", title}, {"description", doc}}
}

// schemaOf writes one form.
func schemaOf(a Alt) object {
	switch a.Kind {
	case "string":
		s := object{{"type", "string"}}
		if len(a.Enum) > 0 {
			return append(s, member{"enum", a.Enum})
		}
		var all []any
		if a.NonEmpty {
			s = append(s, member{"minLength", 1})
		}
		for _, m := range a.Match {
			all = append(all, object{{"pattern", m}})
		}
		for _, m := range a.Reject {
			all = append(all, object{{"not", object{{"pattern", m}}}})
		}
		if len(a.Match) == 1 && len(a.Reject) == 0 {
			return append(s, member{"pattern", a.Match[0]})
		}
		if len(all) > 0 {
			s = append(s, member{"allOf", all})
		}
		return s
	case "bool":
		return object{{"type", "boolean"}}
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

// schemaOfStruct writes a mapping. Of several labels an editor gets the one for ordinary names: that a name makes a
// value a secret is said by cue vet and gyrum validate.
func schemaOfStruct(a Alt) object {
	s := object{{"type", "object"}}
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
		if f.Default != nil {
			v = append(v, member{"default", f.Default})
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
	if len(v.Alts) == 1 {
		return schemaOf(v.Alts[0])
	}
	var any []any
	for _, a := range v.Alts {
		any = append(any, schemaOf(a))
	}
	return object{{"anyOf", any}}
}

// across are the rules that span fields, as cue/types.cue has them.
func across(typ string) object {
	absent := object{{"properties", object{{"state", object{{"const", "absent"}}}}}, {"required", []string{"state"}}}
	need := func(field string) object { return object{{"required", []string{field}}} }
	switch typ {
	case "package":
		return object{{"if", absent}, {"then", object{{"properties", object{{"version", object{{"const", "present"}}}}}}}}
	case "file":
		return object{{"not", object{{"required", []string{"content", "source"}}}}, {"if", absent}, {"else", object{{"anyOf", []any{need("content"), need("source")}}}}}
	case "systemd_unit":
		return object{{"anyOf", []any{need("state"), need("enabled")}}}
	case "env":
		return object{{"if", absent}, {"else", need("vars")}}
	case "command":
		again := object{{"properties", object{{"idempotent", object{{"const", false}}}}}, {"required", []string{"idempotent"}}}
		return object{{"if", again}, {"else", need("creates")}}
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
