package manifest

import (
	"regexp"
	"strings"
)

// across are the rules that span several fields of a type. cue/types.cue says the same.
var across = map[string]func(d *decoder, n *node, at string){
	"package": func(d *decoder, n *node, at string) {
		if v := n.get("version"); v != nil && v.text != "present" && n.str("state") == "absent" {
			d.at(v, RuleFields, at+".version", "a version together with state: absent", "leave the version out")
		}
	},
	"file": func(d *decoder, n *node, at string) {
		content, source := n.get("content"), n.get("source")
		switch {
		case content != nil && source != nil:
			d.at(source, RuleFields, at+".source", "content and source together", "keep one")
		case content == nil && source == nil && n.str("state") != "absent":
			d.at(n, RuleMissing, at, "content or source is required", `give content: "..." or source: a path in the role's files folder; an empty file is content: ""`)
		}
	},
	"directory": func(*decoder, *node, string) {},
	"systemd_unit": func(d *decoder, n *node, at string) {
		if n.get("state") == nil && n.get("enabled") == nil {
			d.at(n, RuleMissing, at, "state, enabled or both are required", "give state: started or stopped, enabled: true or false")
		}
		if name := n.get("name"); n.str("state") == "started" && templateName(name.text) {
			d.at(name, RuleFields, at+".name", "a template cannot be started", "name an instance, such as "+strings.Replace(name.text, "@.", "@instance.", 1))
		}
	},
	"env": func(d *decoder, n *node, at string) {
		if n.get("vars") == nil && n.str("state") != "absent" {
			d.at(n, RuleMissing, at, "vars is required", "give vars: {NAME: value}; a file without variables is vars: {}")
		}
	},
	"symlink": func(*decoder, *node, string) {},
	"group":   func(*decoder, *node, string) {},
	"user":    func(*decoder, *node, string) {},
	"line": func(d *decoder, n *node, at string) {
		if after := n.get("after"); after != nil && n.get("before") != nil {
			d.at(after, RuleFields, at+".after", "after and before together", "keep one")
		}
		for _, field := range []string{"match", "after", "before"} {
			v := n.get(field)
			if v == nil || v.kind != kindString {
				continue
			}
			if _, err := regexp.Compile(v.text); err != nil {
				d.at(v, RuleValue, at+"."+field, field+" is no regular expression (RE2)", "see https://github.com/google/re2/wiki/Syntax; special characters are escaped by a backslash")
			}
		}
	},
	"command": func(d *decoder, n *node, at string) {
		if v := n.get("run"); v != nil && len(v.items) > 0 && v.items[0].kind == kindString && v.items[0].text == "" {
			d.at(v.items[0], RuleValue, at+".run[0]", "the program's name is empty", "name the program first, its arguments after it")
		}
		if v := n.get("idempotent"); n.get("creates") == nil && (v == nil || strings.EqualFold(v.text, "true")) {
			d.at(n, RuleMissing, at, "creates is required, unless idempotent is false", "name the path that exists once the command has run")
		}
	},
}

// templateName says whether a unit name is a bare template, name@.suffix.
func templateName(name string) bool {
	stem := name[:strings.LastIndexByte(name, '.')]
	return strings.HasSuffix(stem, "@")
}
