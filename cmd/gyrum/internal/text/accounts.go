package text

import (
	"encoding/json"
	"strings"

	"gyrum.ai/engine/drift"
)

// describeLink names what a symlink leads to.
func describeLink(verb drift.Verb, d, o, p record) []part {
	from := p.record("from")
	switch {
	case verb == drift.Remove:
		return []part{{label: "remove", to: "link to " + o.str("target")}}
	case from == nil:
		return []part{{label: "create"}, {label: "link to", to: d.str("target")}, {to: d.str("owner") + ":" + d.str("group")}}
	}
	var parts []part
	for _, key := range []string{"target", "owner", "group"} {
		if from.has(key) {
			parts = append(parts, part{key, from.str(key), d.str(key)})
		}
	}
	return parts
}

// describeLine shows the declared line; what stood there before is nobody's to show.
func (s Style) describeLine(verb drift.Verb, d, p record) []part {
	label := "add"
	switch {
	case verb == drift.Remove:
		label = "remove"
	case p.is("replace"):
		label = "replace by"
	}
	return []part{{label: label, to: s.clip(d.str("line"), 60)}}
}

// describeAccount names the fields of a user or a group that change.
func describeAccount(verb drift.Verb, d, p record) []part {
	from := p.record("from")
	var parts []part
	switch {
	case verb == drift.Remove:
		return []part{{label: "remove"}}
	case from == nil:
		parts = []part{{label: "create"}}
	}
	for _, key := range []string{"uid", "gid", "group", "groups", "home", "shell"} {
		switch {
		case from.has(key):
			parts = append(parts, part{key, from.words(key), d.words(key)})
		case from == nil && d.has(key):
			parts = append(parts, part{label: key, to: d.words(key)})
		}
	}
	return parts
}

// words gives a field as str does, and a list of strings with commas; an empty one is "none".
func (r record) words(key string) string {
	var list []string
	if json.Unmarshal(r[key], &list) != nil {
		return r.str(key)
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ",")
}
