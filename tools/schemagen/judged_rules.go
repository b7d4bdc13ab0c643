package main

import (
	"fmt"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/ast/astutil"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// together gives rules that share a condition, as one element of a list of rules.
func together(condition string, rules []string) []string {
	if len(rules) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s for w in [\n%s,\n] {w}", condition, strings.Join(rules, ",\n"))}
}

func fieldsOf(s *ast.StructLit) map[string]*ast.Field {
	out := map[string]*ast.Field{}
	for _, d := range s.Elts {
		if f, ok := d.(*ast.Field); ok {
			if name, _, err := ast.LabelName(f.Label); err == nil {
				out[name] = f
			}
		}
	}
	return out
}

// madeOf gives the rule that an id is made of other fields.
func (w *judgedWriter) madeOf(typ string, f *ast.Field, id *ast.Interpolation) string {
	conditions := fmt.Sprintf("if x.type == %q", typ)
	for _, e := range id.Elts {
		if key, ok := e.(*ast.Ident); ok {
			conditions += fmt.Sprintf(" if (x.%s & string) != _|_", key.Name)
		}
	}
	v, err := w.value(f.Value)
	if err != nil {
		panic(err) // table reads every field before
	}
	return rule(conditions+" if x.id != "+w.of(id, false), "id", "wrong-value", "id: "+v.Hint)
}

// within adds what the table cannot say of one field: a struct given for a secret's reference has one. What lacks a field
// is incomplete, not wrong, so that a comparison lets it pass.
func (w *judgedWriter) within(f *ast.Field) error {
	name, _, err := ast.LabelName(f.Label)
	if err != nil {
		return err
	}
	v, err := w.value(f.Value)
	if err != nil {
		return err
	}
	for _, e := range split(f.Value, token.OR) {
		if id, ok := e.(*ast.Ident); ok && id.Name == "#SecretRef" {
			w.rules = append(w.rules, rule(fmt.Sprintf("if x.%s != _|_ if (x.%[1]s & {...}) != _|_ if len(x.%[1]s) == 0", name), name, "wrong-value", name+": "+v.Hint))
		}
	}
	return nil
}

// rule gives an element of a list of rules: under conditions, the field, the rule and the text of what is wrong. A text that
// names its rule goes by that.
func rule(conditions, field, name, told string) string {
	at, rest, ok := strings.Cut(told, ": R")
	if number, text, isRule := strings.Cut(rest, ": "); ok && isRule {
		name, told = "R"+number, at+": "+text
	}
	return fmt.Sprintf(`%s {["%s", "%s", %s]}`, conditions, field, name, interpolated(told))
}

// interpolated quotes a text, but for the interpolation of a name in it.
func interpolated(text string) string {
	return strings.ReplaceAll(literal.String.Quote(text), `\\(k)`, `\(k)`)
}

// across writes a rule across fields. Where a condition compares a field, the field's default stands for one that is left out
// or is of another kind, which is reported by itself.
func (w *judgedWriter) across(c *ast.Comprehension) error {
	var all []string
	for _, clause := range c.Clauses {
		i, ok := clause.(*ast.IfClause)
		if !ok {
			return fmt.Errorf("a rule across fields that is no if")
		}
		b, _ := i.Condition.(*ast.BinaryExpr)
		all = append(all, "if "+w.of(i.Condition, b == nil || !isBottom(b.Y)))
	}
	conditions := strings.Join(all, " ")
	for _, d := range c.Value.(*ast.StructLit).Elts {
		f, ok := d.(*ast.Field)
		if !ok {
			return fmt.Errorf("%T in a rule across fields", d)
		}
		label, _, err := ast.LabelName(f.Label)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(label, "_")
		or, and := split(f.Value, token.OR), split(f.Value, token.AND)
		told, isError := hint(f.Value)
		switch {
		case isError && w.fields[name] != nil:
			w.rules = append(w.rules, rule(conditions, name, "wrong-value", name+": "+told))
		case isError:
			w.rules = append(w.rules, rule(conditions, name, "fields", told))
		case len(or) == 2:
			told, _ := hint(or[1])
			w.rules = append(w.rules, rule(conditions+" if ("+w.of(or[0], true)+") == _|_", name, "wrong-value", told))
		case len(and) == 2:
			if err := w.labels(conditions, name, and[0].(*ast.Ident).Name); err != nil {
				return err
			}
		case f.Constraint == token.NOT:
			w.rules = append(w.rules, rule(conditions+fmt.Sprintf(" if x.%s == _|_", name), name, "missing-field", name+": it is required"))
		default:
			return fmt.Errorf("a rule across fields for %s that is no error and no required field", label)
		}
	}
	return nil
}

// labels adds what holds for the fields of a mapping, by what their names meet.
func (w *judgedWriter) labels(conditions, mapping, def string) error {
	var rules []string
	name, at := mapping+`.\(k)`, mapping+`.\(k): `
	for _, d := range w.defs[def].Value.(*ast.StructLit).Elts {
		f := d.(*ast.Field)
		meets := "if " + meeting("k", f.Label.(*ast.ListLit).Elts[0])
		if told, ok := hint(f.Value); ok { // no such name
			rules = append(rules, rule(meets, mapping, "wrong-value", mapping+": a name that is no variable's; write "+told)) // it may be a value by mistake
			continue
		}
		v, err := w.value(f.Value)
		if err != nil {
			return err
		}
		rules = append(rules, rule(meets+" "+failing("y", w.alternatives(f.Value)), name, ruleOf("y", v), at+hintOf(v)))
	}
	w.rules = append(w.rules, together(fmt.Sprintf("%s for k, y in x.%s", conditions, mapping), rules)...)
	if strings.Contains(source(w.defs[def].Value), "#SecretRef") {
		w.rules = append(w.rules, rule(fmt.Sprintf("%s for k, y in x.%s if (y & {...}) != _|_ if len(y) == 0", conditions, mapping), name, "wrong-value", at+hintOf(w.reference())))
	}
	return nil
}

// reference is what a reference to a secret has to be.
func (w *judgedWriter) reference() Value {
	v, err := w.value(w.defs["#SecretRef"].Value.(*ast.StructLit).Elts[0].(*ast.Field).Value)
	if err != nil {
		panic(err) // table reads it before
	}
	return v
}

// of gives an expression over the fields of a type as one over the resource x; with safe, fields have their defaults where
// they are left out or are of another kind.
func (w *judgedWriter) of(e ast.Expr, safe bool) string {
	fresh, err := parser.ParseExpr("", source(e))
	if err != nil {
		panic(err) // it was printed from an expression
	}
	return source(astutil.Apply(fresh, func(c astutil.Cursor) bool {
		id, ok := c.Node().(*ast.Ident)
		if !ok || w.fields[id.Name] == nil {
			return true
		}
		text := "x." + id.Name
		if safe {
			text = "(" + w.safe(id.Name) + ")"
		}
		x, err := parser.ParseExpr("", text)
		if err != nil {
			panic(err) // it is written here
		}
		c.Replace(x)
		return false
	}, nil))
}

// safe gives an expression for a field that always has a value of its kind: where it is left out its default, and where it is
// of another kind, a switch that is not as by default.
func (w *judgedWriter) safe(name string) string {
	v, err := w.value(w.fields[name].Value)
	if err != nil {
		panic(err) // table reads every field before
	}
	switch d := v.Default.(type) {
	case string:
		return fmt.Sprintf("[if x.%[1]s == _|_ {%[2]s}, x.%[1]s][0]", name, literal.String.Quote(d))
	case bool:
		return fmt.Sprintf("[if x.%[1]s == _|_ {%[2]t}, if (x.%[1]s & bool) != _|_ {x.%[1]s}, %[3]t][0]", name, d, !d)
	}
	return fmt.Sprintf(`[if (x.%[1]s & string) != _|_ {x.%[1]s}, ""][0]`, name)
}
