package manifest

import (
	"encoding/json"
	"strings"
)

// Document reads a YAML file that belongs to a catalog and is neither host nor role, by the same strict rules (R12), and
// gives it as JSON. It is nil when there are findings.
func Document(file string, raw []byte) (json.RawMessage, []Finding) {
	r := &report{file: file}
	root := parse(r, raw)
	if root == nil || len(r.findings) > 0 {
		return nil, r.findings
	}
	out, err := json.Marshal(root.plain())
	if err != nil {
		r.at(root, RuleSyntax, "", "the file cannot be taken as data: "+err.Error(), "")
		return nil, r.findings
	}
	return out, nil
}

// plain gives a value as encoding/json takes it.
func (n *node) plain() any {
	switch n.kind {
	case kindMap:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.name] = f.value.plain()
		}
		return m
	case kindList:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.plain()
		}
		return l
	case kindBool:
		return strings.EqualFold(n.text, "true")
	case kindInt, kindFloat:
		if json.Valid([]byte(n.text)) {
			return json.Number(n.text)
		}
	case kindNull:
		return nil
	}
	return n.text
}
