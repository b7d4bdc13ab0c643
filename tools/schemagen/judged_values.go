package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/literal"
	"cuelang.org/go/cue/token"
)

// says gives the error of a file's field that is not what it may be.
func says(value, at string, v Value) string {
	return `error("` + ruleOf(value, v) + ": " + at + literal.String.Quote(hintOf(v))[1:] + ")"
}

// ruleOf names the rule that a value breaks, as the text of an interpolation.
func ruleOf(value string, v Value) string {
	return fmt.Sprintf(`\([if (%s & (%s)) == _|_ {"wrong-type"}, "wrong-value"][0])`, value, kindsOf(v))
}

// kindsOf gives the kinds of value that there may be, as an expression.
func kindsOf(v Value) string {
	var kinds []string
	for _, a := range v.Alts {
		kind := map[string]string{"struct": "{...}", "list": "[...]", "any": "_"}[a.Kind]
		if kind == "" {
			kind = a.Kind
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " | ")
}

// hintOf says what is right for a value.
func hintOf(v Value) string {
	if v.Hint != "" {
		return v.Hint
	}
	a := v.Alts[0]
	switch {
	case a.Kind == "list" && a.Items != nil:
		rule, element, named := strings.Cut(hintOf(*a.Items), ": ")
		if named && strings.HasPrefix(rule, "R") {
			return rule + ": a list; each element " + element
		}
		return "a list; each element " + hintOf(*a.Items)
	case len(a.Enum) > 0:
		return strings.Join(a.Enum, " or ")
	case len(a.Match)+len(a.Reject) > 0:
		return "a string as the type's definition has it"
	}
	return map[string]string{
		"string": "a string, in quotes where it looks like something else",
		"struct": "a mapping, each value a string in quotes",
		"list":   "a list",
		"bool":   "true or false, without quotes",
		"int":    "a whole number as the type's definition has it, without quotes",
		"any":    "anything",
	}[a.Kind]
}

func isBottom(e ast.Expr) bool {
	_, ok := e.(*ast.BottomLit)
	return ok
}

// items gives what a list holds, if an expression is one.
func items(e ast.Expr) (ast.Expr, bool) {
	list, ok := e.(*ast.ListLit)
	if !ok || len(list.Elts) != 1 {
		return nil, false
	}
	el, ok := list.Elts[0].(*ast.Ellipsis)
	if !ok {
		return nil, false
	}
	return el.Type, true
}

// alternatives gives what a value may be, each as one operand without a disjunction in it, which costs several times what
// comparisons one by one do: without the hint, and without a default that another alternative takes in.
func (w *judgedWriter) alternatives(e ast.Expr) []string {
	var out []string
	var words []string
	for _, e := range split(e, token.OR) {
		if _, ok := hint(e); ok {
			continue
		}
		if id, ok := e.(*ast.Ident); ok && w.defs[id.Name] != nil && len(split(w.defs[id.Name].Value, token.OR)) > 1 {
			out = append(out, w.alternatives(w.defs[id.Name].Value)...)
			continue
		}
		if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.MUL {
			e = u.X
		}
		if c, err := constant(e); err == nil {
			if word, ok := c.(string); ok {
				words = append(words, word)
				continue
			}
			if _, ok := c.(bool); ok {
				continue // beside bool
			}
		}
		text := source(e)
		if of, ok := items(e); ok {
			text = "[..." + strings.Join(w.alternatives(of), " | ") + "]"
		}
		if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.OR {
			panic("a disjunction within another: " + text)
		}
		out = append(out, "("+text+")")
	}
	if len(words) == 1 && len(out) == 1 {
		if a, err := w.alt(split(e, token.OR)[1]); err == nil && a.Kind == "string" && meets(a, words[0]) {
			words = nil
		}
	}
	if len(words) > 0 {
		var quoted []string
		for _, word := range words {
			quoted = append(quoted, regexp.QuoteMeta(word))
		}
		out = append([]string{"=~" + literal.String.Quote("^("+strings.Join(quoted, "|")+")$")}, out...)
	}
	return out
}

// meets says whether a word is what an alternative allows.
func meets(a Alt, word string) bool {
	for _, expr := range a.Match {
		if !regexp.MustCompile(expr).MatchString(word) {
			return false
		}
	}
	for _, expr := range a.Reject {
		if regexp.MustCompile(expr).MatchString(word) {
			return false
		}
	}
	return true
}

// failing gives the conditions under which a value is none of what it may be.
func failing(value string, alternatives []string) string {
	var out []string
	for _, a := range alternatives {
		out = append(out, fmt.Sprintf("if (%s & %s) == _|_", value, a))
	}
	return strings.Join(out, " ")
}

// meeting gives the condition under which a name meets a label's pattern.
func meeting(name string, pattern ast.Expr) string {
	switch x := pattern.(type) {
	case *ast.ParenExpr:
		return "(" + meeting(name, x.X) + ")"
	case *ast.UnaryExpr:
		return name + " " + source(x)[:2] + " " + source(x.X)
	case *ast.BinaryExpr:
		op := " && "
		if x.Op == token.OR {
			op = " || "
		}
		return meeting(name, x.X) + op + meeting(name, x.Y)
	}
	panic("a label that is no pattern: " + source(pattern))
}

// source prints an expression without its comments.
func source(n ast.Node) string {
	out, err := format.Node(n)
	if err != nil {
		panic(err) // it was parsed
	}
	return string(out)
}
