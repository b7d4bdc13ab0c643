package manifest

import (
	"fmt"
	"strconv"
	"strings"
)

// checker judges nodes by the table.
type checker struct {
	*report
	// silent is set below vars, env and content, and for a command's run and a managed line: no value from there is ever printed.
	silent int
}

// structure judges a mapping.
func (c *checker) structure(n *node, a *alt, path string) {
	if n.kind != kindMap {
		c.at(n, RuleType, path, "this is "+n.kind.article()+", not a mapping of fields", "write name: value, a field a line")
		return
	}
	if a.Open {
		return
	}
	for i := range n.fields {
		f := &n.fields[i]
		at := join(path, f.name)
		if def := a.field(f.name); def != nil {
			c.hush(f.name, func() { c.value(f.value, &def.value, at) })
			continue
		}
		c.labelled(f, a, path)
	}
	for i := range a.Fields {
		if f := &a.Fields[i]; f.Required && n.get(f.Name) == nil {
			c.at(n, RuleMissing, path, "the field "+f.Name+" is missing", f.example())
		}
	}
}

// labelled judges a field that has no definition of its own: by the labels it meets, else it is unknown.
func (c *checker) labelled(f *field, a *alt, path string) {
	at, known := join(path, f.name), false
	if c.silent > 0 && f.value.kind == kindNull {
		at = join(path, "") // a name without a value may be a piece of one
	}
	for i := range a.Labels {
		l := &a.Labels[i]
		if !meets(f.name, l.Match, l.Reject) {
			continue
		}
		known = true
		if len(l.Alts) == 0 {
			c.add(f.line, f.column, RuleValue, path, "a name that cannot be a variable's", "write "+l.Hint)
			return
		}
		if before := len(c.findings); true {
			c.value(f.value, &l.value, at)
			if len(c.findings) > before {
				return
			}
		}
	}
	if known {
		return
	}
	names := make([]string, len(a.Fields))
	for i := range a.Fields {
		names[i] = a.Fields[i].Name
	}
	hint := didYouMean(f.name, names)
	if hint == "" && len(names) > 0 {
		hint = "the fields here are " + strings.Join(names, ", ")
	}
	name := printable(f.name)
	if c.silent > 0 {
		name = notPrinted
	}
	c.add(f.line, f.column, RuleUnknown, path, "the field "+name+" does not exist", hint)
}

// hush runs f; below the fields that may hold secrets, without printing values.
func (c *checker) hush(name string, f func()) {
	switch name {
	case "vars", "env", "content", "run", "line", "secret_ref":
		c.silent++
		defer func() { c.silent-- }()
	}
	f()
}

// value judges a node by the alternatives of its kind.
func (c *checker) value(n *node, v *value, path string) {
	var same []*alt
	for _, a := range v.Alts {
		if a.Kind == n.kind || a.Kind == "any" {
			same = append(same, a)
		}
	}
	if len(same) == 0 {
		c.kind(n, v, path)
		return
	}
	if same[0].Kind == "any" {
		return
	}
	switch n.kind {
	case kindMap:
		c.structure(n, same[0], path)
	case kindList:
		c.list(n, same[0], path)
	case kindInt:
		i, err := integer(n.text)
		if a := same[0]; err != nil || i < a.Min || a.Max != 0 && i > a.Max {
			c.at(n, RuleValue, path, c.quoted(n)+" is not allowed", "write "+v.Hint)
		}
	case kindString:
		c.text(n, v, same, path)
	}
}

// integer reads a whole number as YAML 1.2 and CUE write it.
func integer(text string) (int64, error) {
	return strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
}

// text judges a string: one alternative has to accept it.
func (c *checker) text(n *node, v *value, alts []*alt, path string) {
	var words []string
	secret := false
	for _, a := range alts {
		if a.accepts(n.text) {
			return
		}
		words = append(words, a.Enum...)
		for _, p := range a.Reject {
			if (a.Def == "Value" || a.Def == "Text") && p.match(n.text) && !strings.HasPrefix(strings.TrimPrefix(p.text, "["), `\x00`) {
				secret = true
			}
		}
	}
	rule, hint := RuleValue, "write "+v.Hint
	if r, rest, found := strings.Cut(v.Hint, ": "); found && ruleName(r) {
		rule, hint = r, "write "+rest
	}
	message := c.quoted(n) + " is not allowed"
	switch {
	case rule == "R11" && strings.Contains(v.Hint, "literal secret"):
		what, write, _ := strings.Cut(strings.TrimPrefix(v.Hint, "R11: "), "; ")
		message, hint = what, write
	case secret:
		rule, message, hint = "R11", "a literal secret (by its shape)", `write {secret_ref: "provider:name"}`
	default:
		if near := didYouMean(n.text, words); near != "" && c.silent == 0 {
			hint += "; " + near
		}
	}
	c.at(n, rule, path, message, hint)
}

// list judges a list and its items.
func (c *checker) list(n *node, a *alt, path string) {
	if len(n.items) < a.MinItems {
		c.at(n, RuleValue, path, "the list is empty", fmt.Sprintf("give at least %d", a.MinItems))
	}
	if a.Items == nil {
		return
	}
	for i, item := range n.items {
		c.value(item, a.Items, path+"["+strconv.Itoa(i)+"]")
	}
}

// kind reports a value of another kind than the field takes.
func (c *checker) kind(n *node, v *value, path string) {
	var kinds []string
	wants := map[kind]bool{}
	for _, a := range v.Alts {
		if !wants[a.Kind] {
			wants[a.Kind] = true
			if a.Def == "SecretRef" {
				kinds = append(kinds, "a {secret_ref}")
				continue
			}
			kinds = append(kinds, a.Kind.wanted())
		}
	}
	if strings.HasPrefix(v.Hint, "R11: ") && wants[kindMap] {
		c.at(n, RuleType, path, "this is "+n.kind.article(), `write a string in quotes or {secret_ref: "provider:name"}`)
		return
	}
	message := "this is " + n.kind.article() + ", not " + strings.Join(kinds, " or ")
	hint := ""
	switch {
	case n.kind == kindNull && wants[kindString]:
		hint = `give a value, or "" for an empty string`
	case n.kind == kindNull:
		hint = "give a value, or delete the field"
	case wants[kindString] && v.words() && v.Hint != "":
		hint = "write " + v.Hint
	case wants[kindString] && (n.kind == kindInt || n.kind == kindFloat || n.kind == kindBool):
		hint = "put it in quotes"
		if c.silent == 0 {
			hint += ": " + quotedExample(path, n.text)
		}
	case wants[kindBool] && n.kind == kindString:
		hint = "write true or false, without quotes"
		switch strings.ToLower(n.text) {
		case "yes", "on", "y", "true":
			hint = "write true, without quotes; yes, on and quoted words are strings"
		case "no", "off", "n", "false":
			hint = "write false, without quotes; no, off and quoted words are strings"
		}
	case wants[kindList] && n.kind == kindString && c.silent == 0:
		hint = "write a list: [" + clip(n.text) + "]"
	case strings.HasPrefix(v.Hint, "R11: "):
		_, hint, _ = strings.Cut(v.Hint, "; ")
	case v.Hint != "":
		hint = "write " + v.Hint
	case wants[kindList]:
		hint = "write a list, - item a line, or [] for none"
	case wants[kindMap]:
		hint = "write name: value, a field a line"
	case wants[kindString]:
		hint = "write one text"
	case wants[kindInt]:
		hint = "write a number, without quotes"
	}
	c.at(n, RuleType, path, message, hint)
}

// quotedExample shows how to write a number where a string belongs; a mode gets its four digits.
func quotedExample(path, text string) string {
	if strings.HasSuffix(path, ".mode") {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "0o"), "0")
		text = "0" + text
	}
	return `"` + text + `"`
}

// quoted gives a value for a message, unless it stands where secrets may.
func (c *checker) quoted(n *node) string {
	switch {
	case c.silent > 0 || len(n.text) > 200:
		return "this value"
	case secretShaped(n.text):
		return notPrinted
	case n.kind == kindString:
		return strconv.Quote(n.text)
	}
	return n.text
}

// example says how a missing field is written.
func (f *fieldValue) example() string {
	switch {
	case f.Hint != "":
		hint := f.Hint
		if rule, rest, ok := strings.Cut(hint, ": "); ok && ruleName(rule) {
			hint = rest
		}
		return "give " + f.Name + ": " + hint
	case len(f.Alts) > 0 && f.Alts[0].Kind == kindList:
		return "give " + f.Name + ": [..], which may be empty"
	}
	return "give " + f.Name
}

// ruleName says whether s is the name of a link rule.
func ruleName(s string) bool {
	return len(s) >= 2 && s[0] == 'R' && strings.Trim(s[1:], "0123456789") == ""
}

// join appends a field's name to a path; a name that is no plain one is not shown.
func join(path, name string) string {
	if path == "" {
		return printable(name)
	}
	return path + "." + printable(name)
}
