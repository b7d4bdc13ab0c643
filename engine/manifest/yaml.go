package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// kind is what YAML 1.2's core schema says a value is, as CUE's decoder reads it too: yes, no, on and off are strings.
type kind string

const (
	kindString kind = "string"
	kindBool   kind = "bool"
	kindInt    kind = "int"
	kindFloat  kind = "float"
	kindNull   kind = "null"
	kindList   kind = "list"
	kindMap    kind = "struct"
)

// article gives the kind as a message names it.
func (k kind) article() string {
	switch k {
	case kindInt, kindFloat:
		return "a number"
	case kindBool:
		return "a boolean"
	case kindNull:
		return "empty"
	case kindMap:
		return "a mapping"
	}
	return "a " + string(k)
}

// wanted gives the kind as a message asks for it.
func (k kind) wanted() string {
	if k == kindInt {
		return "a whole number"
	}
	return k.article()
}

// node is one value of a file and where it stands.
type node struct {
	kind         kind
	text         string // a scalar as written, without quotes
	fields       []field
	items        []*node
	line, column int
}

// field is one pair of a mapping.
type field struct {
	name         string
	line, column int
	value        *node
}

// get gives a mapping's field, nil when it is not there or n is no mapping.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.fields {
		if n.fields[i].name == name {
			return n.fields[i].value
		}
	}
	return nil
}

// str gives a field's text when it is a string, "" otherwise.
func (n *node) str(name string) string {
	if v := n.get(name); v != nil && v.kind == kindString {
		return v.text
	}
	return ""
}

// list gives the items of a list field.
func (n *node) list(name string) []*node {
	if v := n.get(name); v != nil && v.kind == kindList {
		return v.items
	}
	return nil
}

// strings gives the string items of a list field.
func (n *node) strings(name string) []*node {
	v := n.get(name)
	if v == nil || v.kind != kindList {
		return nil
	}
	out := make([]*node, 0, len(v.items))
	for _, i := range v.items {
		if i.kind == kindString {
			out = append(out, i)
		}
	}
	return out
}

// parser turns one file's bytes into nodes and refuses what YAML readers disagree about.
type parser struct {
	*report
	lines [][]byte
	// last is the latest place that was looked up, and its byte in the line: nodes come in the order of the file, and
	// one line can hold millions of them.
	last struct{ line, column, byte int }
}

// parse reads one YAML document. It returns nil when the file cannot be used at all.
func parse(r *report, raw []byte) (root *node) {
	p := &parser{report: r}
	if !p.bytes(raw) {
		return nil
	}
	defer func() {
		// yaml.v3 reports some errors by panicking; none may end a program that reads other people's files.
		if e := recover(); e != nil {
			p.add(1, 1, RuleSyntax, "", "the file is not YAML that can be read", "check quotes, brackets and indentation")
			root = nil
		}
	}()
	p.lines = splitLines(raw)
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		p.failed(err)
		return nil
	}
	if len(doc.Content) == 0 {
		p.add(1, 1, RuleSyntax, "", "the file is empty", "write what it declares, or delete it")
		return nil
	}
	before := len(p.findings)
	root = p.convert(doc.Content[0], 0)
	if len(p.findings) > before {
		root = nil // what was refused could be read in two ways; nothing is concluded from it
	}
	var next yaml.Node
	switch err := dec.Decode(&next); {
	case err == nil:
		p.add(p.separator(next.Line), 1, "R12", "", "the file holds several YAML documents", "keep one document a file and delete the --- line between")
		return nil
	case !errors.Is(err, io.EOF):
		p.failed(err)
		return nil
	}
	return root
}

// bytes judges what can be judged before parsing: size, encoding, directives.
func (p *parser) bytes(raw []byte) bool {
	switch {
	case len(raw) > MaxFile:
		p.add(1, 1, RuleSyntax, "", fmt.Sprintf("the file has more than %d bytes", MaxFile), "larger payloads travel in packages")
		return false
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")), bytes.HasPrefix(raw, []byte("\xfe\xff")), bytes.HasPrefix(raw, []byte("\xff\xfe")):
		p.add(1, 1, "R12", "", "the file begins with a byte order mark", "save it as UTF-8 without a byte order mark")
		return false
	}
	line, start := 1, 0
	for i := 0; i < len(raw); {
		c := raw[i]
		if c < utf8.RuneSelf {
			if c == '\n' {
				line, start = line+1, i+1
			}
			if c < 0x20 && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
				p.add(line, 1+utf8.RuneCount(raw[start:i]), "R12", "", fmt.Sprintf("the control character U+%04X", c), `write it as an escape in a string in double quotes, such as "\x01"`)
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			p.add(line, 1+utf8.RuneCount(raw[start:i]), "R12", "", fmt.Sprintf("the byte 0x%02x is not UTF-8", c), "save the file as UTF-8")
			return false
		case r == 0x85 || r == 0x2028 || r == 0x2029 || r == 0xfeff:
			p.add(line, 1+utf8.RuneCount(raw[start:i]), "R12", "", fmt.Sprintf("the character U+%04X, which some YAML readers take for a line break and some do not", r), fmt.Sprintf(`write it as "\u%04x" in a string in double quotes`, r))
			return false
		}
		i += n
	}
	for i, l := range splitLines(raw) {
		if len(l) > 0 && l[0] == '%' {
			p.add(i+1, 1, "R12", "", "a YAML directive", "delete the line; manifests are YAML 1.2 without directives")
			return false
		}
		if t := bytes.TrimSpace(l); len(t) > 0 && t[0] != '#' {
			break
		}
	}
	return true
}

// splitLines cuts at the line breaks that yaml.v3 counts.
func splitLines(raw []byte) [][]byte {
	var out [][]byte
	start := 0
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\r' && i+1 < len(raw) && raw[i+1] == '\n':
			out = append(out, raw[start:i])
			i++
			start = i + 1
		case raw[i] == '\n' || raw[i] == '\r':
			out = append(out, raw[start:i])
			start = i + 1
		}
	}
	return append(out, raw[start:])
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// failed reports an error of yaml.v3. Its texts quote the file only where they name an alias, which is replaced here.
func (p *parser) failed(err error) {
	if errors.Is(err, io.EOF) {
		p.add(1, 1, RuleSyntax, "", "the file is empty", "write what it declares, or delete it")
		return
	}
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]])
		text = text[m[1]:]
	}
	line = min(max(line, 1), len(p.lines))
	column := 1
	if i := bytes.IndexFunc(p.lines[line-1], func(r rune) bool { return r != ' ' && r != '\t' }); i >= 0 {
		column = i + 1
	}
	rule, hint := RuleSyntax, "check quotes, brackets and indentation here and in the lines above"
	switch {
	case strings.HasPrefix(text, "unknown anchor"):
		rule, text, hint = "R12", "an alias (*name)", "write the value out, or put it in quotes where it is meant to be text"
		line, column = p.find('*')
	case strings.Contains(text, "undefined tag handle"):
		rule, text, hint = "R12", "a tag (!name)", "delete it, or put the value in quotes where it is meant to be text"
		line, column = p.find('!')
	case strings.Contains(text, "tab character"), strings.Contains(text, "cannot start any token") && p.tabbed(line):
		for !p.tabbed(line) && line < len(p.lines) { // the error names the line that the block begins in
			line++
		}
		column = bytes.IndexByte(p.lines[line-1], '\t') + 1
		rule, text, hint = "R12", "a tab in the indentation", "indent with spaces"
	case strings.Contains(text, "mapping values are not allowed"):
		hint = "check the indentation, and put a text with a colon in quotes"
	case strings.Contains(text, "cannot start any token"):
		hint = "put a text that begins with such a character in quotes"
	case strings.Contains(text, "did not find expected key"), strings.Contains(text, "could not find expected ':'"):
		hint = "check the indentation of this line and of the ones above"
	}
	p.add(line, column, rule, "", text, hint)
}

// find gives the first place where a value begins with c.
func (p *parser) find(c byte) (line, column int) {
	for i, l := range p.lines {
		for j := range l {
			if l[j] == c && (j == 0 || strings.IndexByte(" \t[{,", l[j-1]) >= 0) {
				return i + 1, 1 + utf8.RuneCount(l[:j])
			}
		}
	}
	return 1, 1
}

// tabbed says whether a line's indentation holds a tab.
func (p *parser) tabbed(line int) bool {
	l := p.lines[line-1]
	return bytes.IndexByte(l[:len(l)-len(bytes.TrimLeft(l, " \t-?"))], '\t') >= 0
}

// separator gives the line of the --- that a further document begins with.
func (p *parser) separator(line int) int {
	for i := min(max(line, 1), len(p.lines)); i > 0; i-- {
		if bytes.HasPrefix(p.lines[i-1], []byte("---")) {
			return i
		}
	}
	return max(line, 1)
}

// octalLike is what YAML 1.1 would have taken for an octal number although it has a digit 8 or 9; CUE reads a string.
var octalLike = regexp.MustCompile(`^[-+]?0[0-9_]+$`)

// convert turns a node of yaml.v3 into one of ours and refuses what R12 names.
func (p *parser) convert(y *yaml.Node, depth int) *node {
	n := &node{line: y.Line, column: y.Column}
	if depth > maxDepth {
		p.at(n, RuleSyntax, "", fmt.Sprintf("values nest more than %d levels deep", maxDepth), "no definition needs more than six")
		return n
	}
	p.place(y, n)
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = kindMap
		n.fields = make([]field, 0, len(y.Content)/2)
		seen := make(map[string]int, len(y.Content)/2)
		for i := 0; i+1 < len(y.Content); i += 2 {
			k := y.Content[i]
			key := p.convert(k, depth+1)
			value := p.convert(y.Content[i+1], depth+1)
			switch {
			case k.Kind == yaml.ScalarNode && k.Tag == "!!merge":
				p.at(key, "R12", "", "a merge key (<<)", "write the fields out")
				continue
			case key.kind != kindString:
				p.at(key, "R12", "", "a key that is "+key.kind.article()+", not a string", "put the key in quotes")
				continue
			}
			if first, twice := seen[key.text]; twice {
				p.at(key, "R12", "", fmt.Sprintf("the key %s occurs twice", printable(key.text)), fmt.Sprintf("it stands in line %d too; keep one", first))
				continue
			}
			seen[key.text] = key.line
			n.fields = append(n.fields, field{name: key.text, line: key.line, column: key.column, value: value})
		}
	case yaml.SequenceNode:
		n.kind = kindList
		n.items = make([]*node, 0, len(y.Content))
		for _, c := range y.Content {
			n.items = append(n.items, p.convert(c, depth+1))
		}
	case yaml.ScalarNode:
		n.text = y.Value
		n.kind = scalarKind(y)
	case yaml.AliasNode:
		n.kind = kindNull // place has refused it
	}
	return n
}

// scalarKind gives a scalar's kind as CUE's YAML decoder has it.
func scalarKind(y *yaml.Node) kind {
	if y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return kindString
	}
	switch y.ShortTag() {
	case "!!bool":
		return kindBool
	case "!!int":
		return kindInt
	case "!!float":
		if octalLike.MatchString(y.Value) {
			return kindString
		}
		return kindFloat
	case "!!null":
		return kindNull
	}
	return kindString
}

// place refuses anchors, aliases, tags, and tabs in the indentation, by the text before and at a node.
func (p *parser) place(y *yaml.Node, n *node) {
	if y.Line < 1 || y.Line > len(p.lines) {
		return
	}
	line := p.lines[y.Line-1]
	at := p.offset(y.Line, y.Column)
	for _, c := range line[:at] {
		if c == '\t' {
			p.at(n, "R12", "", "a tab in the indentation", "indent with spaces")
			break
		}
		if c != ' ' && c != '-' && c != '?' {
			break
		}
	}
	begins := byte(0)
	if at < len(line) {
		begins = line[at]
	}
	switch {
	case y.Kind == yaml.AliasNode:
		p.at(n, "R12", "", "an alias (*name)", "write the value out, or put it in quotes where it is meant to be text")
	case y.Anchor != "":
		p.at(n, "R12", "", "an anchor (&name)", "write the value out where it is used, or put it in quotes where it is meant to be text")
	case y.Style&yaml.TaggedStyle != 0, begins == '!' && y.Kind != 0:
		p.at(n, "R12", "", "a tag (!name)", "delete it, or put the value in quotes where it is meant to be text")
	}
}

// offset gives the byte at which a column begins in a line, both from 1.
func (p *parser) offset(line, column int) int {
	last := &p.last
	if line != last.line || column < last.column {
		last.line, last.column, last.byte = line, 1, 0
	}
	for l := p.lines[line-1]; last.column < column && last.byte < len(l); last.column++ {
		_, size := utf8.DecodeRune(l[last.byte:])
		last.byte += size
	}
	return last.byte
}

// printable gives a key for a message: whole when it is a plain name, else without saying it. A key in a wrong place
// can be a piece of a secret.
func printable(s string) string {
	if len(s) <= 64 && plainName.MatchString(s) && !secretShaped(s) {
		return s
	}
	return notPrinted
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
