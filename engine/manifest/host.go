package manifest

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// host is a host's record.
type host struct {
	file       string
	name       string
	nameAt     *node
	roles      []*node
	activate   []*node
	deactivate []*node
}

// readHost reads hosts/<name>.yaml.
func (c *Catalog) readHost(name string) (*host, []Finding) {
	file := path.Join(hostsDir, name+extension)
	raw, r := c.read(file)
	if len(r.findings) > 0 {
		return nil, r.findings
	}
	n := parse(r, raw)
	if n == nil {
		return nil, r.findings
	}
	(&checker{report: r}).structure(n, definitions.Host, "")
	stem(r, n, "name", name)
	h := &host{file: file, name: name, nameAt: n, roles: n.strings("roles"), activate: n.strings("activate"), deactivate: n.strings("deactivate")}
	unique(r, "roles", h.roles)
	return h, r.findings
}

// stem is R3: a file is named as what it declares.
func stem(r *report, n *node, field, name string) {
	if v := n.get(field); v != nil && v.kind == kindString && v.text != name {
		r.at(v, "R3", field, fmt.Sprintf("%s is not the name of the file, %s%s", clip(v.text), name, extension), "make the two the same")
	}
}

// clip shortens a text from a file for a message, and says nothing of one that has the shape of a secret.
func clip(s string) string {
	if secretShaped(s) {
		return notPrinted
	}
	if len(s) > 100 {
		s = strings.ToValidUTF8(s[:100], "") + "…"
	}
	return oneLine(s)
}

// oneLine keeps a text from a file from breaking a message in two or steering a terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}
