package main

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	definitions "gyrum.ai/cue"
)

// reader turns the definitions' syntax into a table. It knows the few forms that the definitions are written in and
// refuses any other, so that nothing is lost between CUE and gyrum. Rules that span fields (`if`) are not fields: they
// are written in CUE and in engine/manifest, and cue/testdata holds the two equal.
type reader struct {
	defs map[string]*ast.Field
	// tables are the parts of #types, one in each file that has some.
	tables []*ast.Field
	// imports are the builtin packages that the definitions import.
	imports map[string]bool
}

// sources gives the definitions by file name, without what is generated of them.
func sources() (map[string][]byte, error) {
	names, err := fs.Glob(definitions.Definitions, "*.cue")
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, name := range names {
		if name == judgedFile {
			continue
		}
		if out[name], err = definitions.Definitions.ReadFile(name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read parses the files of the definitions.
func read(files map[string][]byte) (*reader, error) {
	r := &reader{defs: map[string]*ast.Field{}, imports: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		src := files[name]
		file, err := parser.ParseFile(name, src, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for spec := range file.ImportSpecs() {
			path, err := literal.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			r.imports[path] = true
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.Field); ok {
				label, _, err := ast.LabelName(f.Label)
				if err != nil {
					return nil, err
				}
				r.defs[label] = f
				if label == "#types" {
					r.tables = append(r.tables, f)
				}
			}
		}
	}
	return r, nil
}

// table gathers what engine/manifest needs.
func (r *reader) table() (*Table, error) {
	t := &Table{Types: map[string]Alt{}, Docs: map[string]string{}, Patterns: map[string]string{}}
	for name, into := range map[string]*Alt{"#RoleFields": &t.Role, "#HostFields": &t.Host, "#CatalogFields": &t.Catalog, "#ResourceFields": &t.Resource} {
		alt, err := r.alt(r.defs[name].Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		*into = alt
		t.Docs[strings.TrimSuffix(strings.TrimPrefix(name, "#"), "Fields")] = doc(r.defs[name])
	}
	types, err := r.types()
	if err != nil {
		return nil, err
	}
	for _, f := range types {
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			return nil, err
		}
		alt, err := r.alt(f.Value)
		if err != nil {
			return nil, fmt.Errorf("#types.%s: %w", name, err)
		}
		t.Types[name], t.Docs[name] = alt, doc(f)
	}
	for name, f := range r.defs {
		if lit, ok := f.Value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			s, err := literal.Unquote(lit.Value)
			if err != nil {
				return nil, err
			}
			t.Patterns[strings.TrimPrefix(name, "#")] = s
		}
	}
	return t, nil
}

// types gives the fields of #types in their order.
func (r *reader) types() ([]*ast.Field, error) {
	var out []*ast.Field
	for _, table := range r.tables {
		s, ok := table.Value.(*ast.StructLit)
		if !ok {
			return nil, fmt.Errorf("#types is not a struct")
		}
		for _, d := range s.Elts {
			if f, ok := d.(*ast.Field); ok {
				if _, pattern := f.Label.(*ast.ListLit); !pattern {
					out = append(out, f)
				}
			}
		}
	}
	return out, nil
}

// doc is a field's comment as one paragraph.
func doc(f *ast.Field) string {
	var lines []string
	for _, g := range ast.Comments(f) {
		if g.Doc {
			lines = append(lines, strings.Fields(g.Text())...)
		}
	}
	return strings.Join(lines, " ")
}

// value reads `*default | a | b | error("hint")`.
func (r *reader) value(e ast.Expr) (Value, error) {
	var v Value
	for _, e := range split(e, token.OR) {
		if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.MUL {
			d, err := constant(u.X)
			if err != nil {
				return v, err
			}
			v.Default = d
			if s, ok := d.(string); ok {
				v.Alts = merge(v.Alts, Alt{Kind: "string", Enum: []string{s}})
			}
			continue
		}
		if hint, ok := hint(e); ok {
			v.Hint = hint
			continue
		}
		if id, ok := e.(*ast.Ident); ok && strings.HasPrefix(id.Name, "#") {
			if def := r.defs[id.Name]; def != nil && len(split(def.Value, token.OR)) > 1 {
				inner, err := r.value(def.Value)
				if err != nil {
					return v, err
				}
				v.Alts = append(v.Alts, inner.Alts...)
				if v.Hint == "" {
					v.Hint = inner.Hint
				}
				continue
			}
		}
		a, err := r.alt(e)
		if err != nil {
			return v, err
		}
		v.Alts = merge(v.Alts, a)
	}
	return v, nil
}

// merge puts the words of an enumeration together.
func merge(alts []Alt, a Alt) []Alt {
	if n := len(alts); n > 0 && len(a.Enum) > 0 && len(alts[n-1].Enum) > 0 {
		alts[n-1].Enum = append(alts[n-1].Enum, a.Enum...)
		return alts
	}
	return append(alts, a)
}

// alt reads a conjunction `a & b` into one form.
func (r *reader) alt(e ast.Expr) (Alt, error) {
	var a Alt
	for _, e := range split(e, token.AND) {
		if err := r.constrain(&a, e); err != nil {
			return a, err
		}
	}
	if a.Kind == "" {
		return a, fmt.Errorf("a value without a kind")
	}
	return a, nil
}

// constrain adds one conjunct.
func (r *reader) constrain(a *Alt, e ast.Expr) error {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return r.bound(a, e)
	case *ast.BasicLit:
		c, err := constant(e)
		if err != nil {
			return err
		}
		if s, ok := c.(string); ok {
			a.Kind, a.Enum = "string", append(a.Enum, s)
			return nil
		}
		return fmt.Errorf("the literal %s is no string", e.Value)
	case *ast.Interpolation:
		// "type:\(key)", or "type:\(key)#\(key)": texts and fields in turn
		var keys []string
		for i := 1; i < len(e.Elts); i += 2 {
			id, ok := e.Elts[i].(*ast.Ident)
			if !ok {
				return fmt.Errorf("an interpolation that is not <type>:<field> or <type>:<field>#<field>")
			}
			keys = append(keys, id.Name)
		}
		a.Kind, a.ID = "string", strings.Join(keys, "#")
		return nil
	case *ast.Ident:
		switch e.Name {
		case "string", "bool", "int":
			a.Kind = e.Name
			return nil
		case "_":
			a.Kind = "any"
			return nil
		}
		def := r.defs[e.Name]
		if def == nil {
			return fmt.Errorf("%s is not defined", e.Name)
		}
		inner, err := r.alt(def.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		if a.Kind != "" && a.Kind != inner.Kind {
			return fmt.Errorf("%s is %s, not %s", e.Name, inner.Kind, a.Kind)
		}
		inner.Match = append(inner.Match, a.Match...)
		inner.Reject = append(inner.Reject, a.Reject...)
		inner.MinItems = max(inner.MinItems, a.MinItems)
		*a = inner
		a.Def = strings.TrimPrefix(e.Name, "#")
		return nil
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) == 1 {
			if name, _, _ := ast.LabelName(sel.Sel); name == "MinItems" {
				c, err := constant(e.Args[0])
				a.Kind, a.MinItems = "list", int(c.(int64))
				return err
			}
		}
	case *ast.ListLit:
		if len(e.Elts) == 1 {
			if el, ok := e.Elts[0].(*ast.Ellipsis); ok {
				a.Kind = "list"
				if id, ok := el.Type.(*ast.Ident); ok && id.Name == "#ResourceFields" {
					return nil // its fields depend on its type
				}
				v, err := r.value(el.Type)
				a.Items = &v
				return err
			}
		}
	case *ast.StructLit:
		return r.structure(a, e)
	}
	return fmt.Errorf("%T is not a form that the definitions use", e)
}

// structure reads the fields and the label patterns of a struct; comprehensions are rules across fields.
func (r *reader) structure(a *Alt, s *ast.StructLit) error {
	a.Kind = "struct"
	for _, d := range s.Elts {
		switch d := d.(type) {
		case *ast.Ellipsis:
			a.Open = true
		case *ast.Comprehension, *ast.EmbedDecl:
		case *ast.Field:
			v, err := r.value(d.Value)
			if list, ok := d.Label.(*ast.ListLit); ok {
				if err != nil {
					return err
				}
				for _, names := range split(list.Elts[0], token.OR) {
					la, err := r.alt(names)
					if err != nil {
						return err
					}
					a.Labels = append(a.Labels, Label{Value: v, Match: la.Match, Reject: la.Reject})
				}
				continue
			}
			name, _, lerr := ast.LabelName(d.Label)
			if lerr != nil {
				return lerr
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			a.Fields = append(a.Fields, Field{Name: name, Required: d.Constraint == token.NOT, Doc: doc(d), Value: v})
		default:
			return fmt.Errorf("%T in a struct", d)
		}
	}
	left := map[string]*Field{} // fields whose value comprehensions tell
	for i := range a.Fields {
		if f := &a.Fields[i]; len(f.Alts) == 1 && f.Alts[0].Kind == "any" {
			left[f.Name] = f
		}
	}
	for _, d := range s.Elts {
		if c, ok := d.(*ast.Comprehension); ok {
			if err := r.later(left, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// later reads what a comprehension says, as _<field>, of a field that was left open: the definition that its value
// meets (`#Definition & field`), or the hint.
func (r *reader) later(left map[string]*Field, c *ast.Comprehension) error {
	body, ok := c.Value.(*ast.StructLit)
	if !ok {
		return nil
	}
	for _, d := range body.Elts {
		f, ok := d.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			return err
		}
		open := left[strings.TrimPrefix(name, "_")]
		if open == nil || name == open.Name {
			continue
		}
		if text, ok := hint(f.Value); ok {
			open.Hint = text
			continue
		}
		v, err := r.value(split(f.Value, token.AND)[0])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		open.Alts = v.Alts
	}
	return nil
}

// bound reads =~, !~, != "", >= and <=.
func (r *reader) bound(a *Alt, e *ast.UnaryExpr) error {
	c, err := constant(e.X)
	if id, ok := e.X.(*ast.Ident); ok && r.defs[id.Name] != nil {
		c, err = constant(r.defs[id.Name].Value)
	}
	if err != nil {
		return err
	}
	switch s, isString := c.(string); {
	case e.Op == token.MAT && isString:
		a.Kind, a.Match = "string", append(a.Match, s)
	case e.Op == token.NMAT && isString:
		a.Kind, a.Reject = "string", append(a.Reject, s)
	case e.Op == token.NEQ && isString && s == "":
		a.Kind, a.NonEmpty = "string", true
	case e.Op == token.GEQ && !isString:
		n := c.(int64)
		a.Min = &n
	case e.Op == token.LEQ && !isString:
		n := c.(int64)
		a.Max = &n
	default:
		return fmt.Errorf("the bound %s is not a form that the definitions use", e.Op)
	}
	return nil
}

// split gives the operands of a chain of one operator, without parentheses.
func split(e ast.Expr, op token.Token) []ast.Expr {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return split(x.X, op)
	case *ast.BinaryExpr:
		if x.Op == op {
			return append(split(x.X, op), split(x.Y, op)...)
		}
	}
	return []ast.Expr{e}
}

// hint is the text of error("…").
func hint(e ast.Expr) (string, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	if id, ok := call.Fun.(*ast.Ident); !ok || id.Name != "error" {
		return "", false
	}
	s, err := constant(call.Args[0])
	text, ok := s.(string)
	return text, err == nil && ok
}

// constant reads a string, a number or a boolean.
func constant(e ast.Expr) (any, error) {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return nil, fmt.Errorf("%T is no literal", e)
	}
	switch lit.Kind {
	case token.STRING:
		return literal.Unquote(lit.Value)
	case token.INT:
		return strconv.ParseInt(lit.Value, 10, 64)
	case token.TRUE:
		return true, nil
	case token.FALSE:
		return false, nil
	}
	return nil, fmt.Errorf("%s is no string, number or boolean", lit.Value)
}
