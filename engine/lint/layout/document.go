package layout

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// document is a parsed file with its lines.
type document struct {
	lines []string // without their ends
	// ended says that the last line ends in a line break.
	ended bool
	root  *yaml.Node
	// inside marks the lines, from 0, whose blank space is part of a text: the content of block scalars, and quoted
	// texts from their second line on.
	inside []bool
	// last is the latest place that was looked up: nodes are visited in the order of the file, and one line can hold
	// millions of them.
	last struct{ line, column, at int }
}

// read parses a file whose lines end in line feeds; ok is false when it is no single mapping.
func read(raw []byte) (d *document, ok bool) {
	defer func() {
		if recover() != nil { // yaml.v3 reports some errors by panicking
			d, ok = nil, false
		}
	}()
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(raw)).Decode(&doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	text, ended := strings.CutSuffix(string(raw), "\n")
	d = &document{lines: strings.Split(text, "\n"), ended: ended, root: doc.Content[0]}
	d.inside = make([]bool, len(d.lines))
	d.mark(d.root, -1)
	return d, true
}

func (d *document) bytes() []byte {
	text := strings.Join(d.lines, "\n")
	if d.ended {
		text += "\n"
	}
	return []byte(text)
}

// line gives a node's line, "" where it has none.
func (d *document) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return d.lines[n-1]
}

// offset gives the byte at which a node begins in its line.
func (d *document) offset(n *yaml.Node) int {
	line, p := d.line(n.Line), &d.last
	if n.Line != p.line || n.Column < p.column {
		p.line, p.column, p.at = n.Line, 1, 0
	}
	for ; p.column < n.Column && p.at < len(line); p.column++ {
		_, size := utf8.DecodeRuneInString(line[p.at:])
		p.at += size
	}
	return p.at
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func blank(line string) bool { return strings.Trim(line, " \t\r") == "" }

func comment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") }

// flow says whether a collection is written in brackets.
func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// mark notes the lines inside the scalars below a node; parent is the indentation that block scalars are deeper than.
func (d *document) mark(n *yaml.Node, parent int) {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		if !flow(n) {
			parent = n.Column - 1
		}
		for _, c := range n.Content {
			d.mark(c, parent)
		}
	case yaml.ScalarNode:
		switch {
		case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
			d.markBlock(n, parent)
		case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			if end, _ := d.closing(n); end > n.Line {
				for i := n.Line; i < end; i++ {
					d.inside[i] = true
				}
			}
		}
	}
}

// markBlock marks a block scalar's content, from the line after its header to its last line that is not blank, or to
// the last blank one where it keeps them.
func (d *document) markBlock(n *yaml.Node, parent int) {
	header, _, _ := strings.Cut(d.line(n.Line)[d.offset(n):], "#")
	indent := 0
	if i := strings.IndexAny(header, "123456789"); i >= 0 {
		indent = parent + int(header[i]-'0')
	}
	end := n.Line
	for i := n.Line; i < len(d.lines); i++ {
		l := d.lines[i]
		if strings.Trim(l, " ") == "" {
			if strings.Contains(header, "+") {
				end = i + 1
			}
			continue
		}
		if indent == 0 {
			if indent = indentOf(l); indent <= parent {
				break
			}
		}
		if indentOf(l) < indent {
			break
		}
		end = i + 1
	}
	for i := n.Line; i < end; i++ {
		d.inside[i] = true
	}
}

// closing gives the line of a quoted scalar's closing quote and the byte after it; 0 where it is not found.
func (d *document) closing(n *yaml.Node) (line, after int) {
	at := d.offset(n)
	if l := d.line(n.Line); at >= len(l) || l[at] != '"' && l[at] != '\'' {
		return 0, 0
	}
	quote := d.line(n.Line)[at]
	for line, at = n.Line, at+1; line <= len(d.lines); line, at = line+1, 0 {
		l := d.lines[line-1]
		for ; at < len(l); at++ {
			switch {
			case quote == '"' && l[at] == '\\':
				at++
			case quote == '\'' && l[at] == '\'' && at+1 < len(l) && l[at+1] == '\'':
				at++
			case l[at] == quote:
				return line, at + 1
			}
		}
	}
	return 0, 0
}

// keys gives the keys of a mapping in block style with the line each stands in, from 0; nil unless every key begins a
// line of its own (the first one may follow a dash).
func (d *document) keys(m *yaml.Node) (names []string, at []int) {
	if m.Kind != yaml.MappingNode || flow(m) {
		return nil, nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		before := d.line(k.Line)[:d.offset(k)]
		if i == 0 {
			before = strings.TrimSuffix(before, "- ")
		}
		if k.Kind != yaml.ScalarNode || k.Column != m.Column || strings.Trim(before, " ") != "" || len(at) > 0 && at[len(at)-1] >= k.Line-1 {
			return nil, nil
		}
		names, at = append(names, k.Value), append(at, k.Line-1)
	}
	return names, at
}
