package manifest

import (
	"regexp"
	"strings"
)

// fields is a resource as the rules across its fields see it. A rule asks only for what it speaks of, so that whatever is
// wrong with another field, all is said at once; of a field that is wrong itself it concludes nothing.
type fields struct {
	*decoder
	n   *node
	def *alt
	at  string
}

func (f *fields) get(name string) *node { return f.n.get(name) }

// right says whether nothing is wrong with any of these fields, be they there or not.
func (f *fields) right(names ...string) bool {
	for _, name := range names {
		if !right(f.wrong, name) {
			return false
		}
	}
	return true
}

// given says whether one of these fields is there, or one that was probably meant by its name.
func (f *fields) given(names ...string) bool {
	for _, name := range names {
		if f.get(name) != nil {
			return true
		}
	}
	for i := range f.n.fields {
		if got := f.n.fields[i].name; f.def.field(got) == nil && didYouMean(got, names) != "" {
			return true
		}
	}
	return false
}

// refuse reports a rule that a field breaks.
func (f *fields) refuse(n *node, rule, name, message, hint string) {
	at := f.at
	if name != "" {
		at += "." + name
	}
	f.decoder.at(n, rule, at, message, hint)
}

// across are the rules that span several fields of a type. cue/types.cue says the same.
var across = map[string]func(f *fields){
	"package": func(f *fields) {
		if v := f.get("version"); v != nil && f.right("version", "state") && v.text != "present" && f.n.str("state") == "absent" {
			f.refuse(v, RuleFields, "version", "a version together with state: absent", "leave the version out")
		}
	},
	"file": func(f *fields) {
		switch content, source := f.get("content"), f.get("source"); {
		case content != nil && source != nil:
			f.refuse(source, RuleFields, "source", "content and source together", "keep one")
		case f.right("state") && f.n.str("state") != "absent" && !f.given("content", "source"):
			f.refuse(f.n, RuleMissing, "", "content or source is required", `give content: "..." or source: a path in the role's files folder; an empty file is content: ""`)
		}
	},
	"directory": func(*fields) {},
	"systemd_unit": func(f *fields) {
		if !f.given("state", "enabled") {
			f.refuse(f.n, RuleMissing, "", "state, enabled or both are required", "give state: started or stopped, enabled: true or false")
		}
		if name := f.get("name"); name != nil && f.right("name", "state") && f.n.str("state") == "started" && templateName(name.text) {
			f.refuse(name, RuleFields, "name", "a template cannot be started", "name an instance, such as "+strings.Replace(name.text, "@.", "@instance.", 1))
		}
	},
	"env": func(f *fields) {
		if f.right("state") && f.n.str("state") != "absent" && !f.given("vars") {
			f.refuse(f.n, RuleMissing, "", "vars is required", "give vars: {NAME: value}; a file without variables is vars: {}")
		}
	},
	"symlink": func(*fields) {},
	"group":   func(*fields) {},
	"user":    func(*fields) {},
	"line": func(f *fields) {
		if after := f.get("after"); after != nil && f.get("before") != nil {
			f.refuse(after, RuleFields, "after", "after and before together", "keep one")
		}
		for _, name := range []string{"match", "after", "before"} {
			if v := f.get(name); v != nil && v.kind == kindString {
				if _, err := regexp.Compile(v.text); err != nil {
					f.refuse(v, RuleValue, name, name+" is no regular expression (RE2)", "see https://github.com/google/re2/wiki/Syntax; special characters are escaped by a backslash")
				}
			}
		}
	},
	"command": func(f *fields) {
		if first := f.n.list("run"); len(first) > 0 && first[0].kind == kindString && first[0].text == "" {
			f.refuse(first[0], RuleValue, "run[0]", "the program's name is empty", "name the program first, its arguments after it")
		}
		if v := f.get("idempotent"); f.right("idempotent") && (v == nil || strings.EqualFold(v.text, "true")) && !f.given("creates") {
			f.refuse(f.n, RuleMissing, "", "creates is required, unless idempotent is false", "name the path that exists once the command has run")
		}
	},
}

// templateName says whether a unit name is a bare template, name@.suffix.
func templateName(name string) bool {
	stem := name[:max(strings.LastIndexByte(name, '.'), 0)]
	return strings.HasSuffix(stem, "@")
}
