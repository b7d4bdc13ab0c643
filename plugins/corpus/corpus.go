// Package corpus reads and plays the golden cases of the resource types: what a manifest declares, what the host
// answers, and what check then decides and apply does. The cases stand as text in <type>/testdata/cases/*.txt.
//
// A file is a list of lines "key: value"; "#" begins a comment. "case: name" begins a case, and lines before the first
// one, or after a line "base:", are what all cases after them share:
//
//	declared   the record, as the plugin sees it
//	changing   what other items of the plan change: {"inputs": [...], "package": [...]}
//	want       "in sync", "unobservable", or verb, severity and reason code
//	observed   the observed record
//	inputs     the observation's inputs, with commas; nothing behind the colon means that there are none
//	params     what the action does; without the line there are none
//	text       a part of the reason's text
//	blocked    a part of why the action is not executed; without the line it is
//	note       a part of the note; without the line there is none
//	needs      kind and name of each, with commas; without the line there are none
//	does       one effect that apply makes: a capability and its request; one line each, in order
//	fails      a part of apply's error
//
// Any other key is a capability and its value the reply; "capability?field" is the reply to a request that has the field. What a case gives is laid over what is shared, member by member;
// null takes a member away. A capability that is asked for and has no reply fails the case.
package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gyrum.ai/plugins/guest"
)

// Case is one case.
type Case struct {
	// Name says what the case shows; File and Line are where it stands.
	Name string
	File string
	Line int

	Declared, Changing guest.Value
	// Replies are what the capabilities answer.
	Replies map[string]guest.Value
	// Expect holds the lines of what is to come out, by key.
	Expect map[string]string
	// Does are the effects that apply makes.
	Does []string
}

// Load reads every case below a folder, in the order of the files.
func Load(folder fs.FS) ([]Case, error) {
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	var all []Case
	seen := map[string]string{}
	for _, name := range names {
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		cases, err := parse(name, string(raw))
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			if where, twice := seen[c.Name]; twice {
				return nil, fmt.Errorf("%s:%d: a case of this name stands in %s already: %s", c.File, c.Line, where, c.Name)
			}
			seen[c.Name] = fmt.Sprintf("%s:%d", c.File, c.Line)
			all = append(all, c)
		}
	}
	return all, nil
}

var expectations = map[string]bool{
	"want": true, "observed": true, "inputs": true, "params": true, "text": true, "blocked": true, "note": true, "needs": true, "fails": true,
}

func parse(file, text string) ([]Case, error) {
	base := Case{}.copy()
	cases := []Case{}
	current := &base
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, value, found := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		bad := func(why string) error { return fmt.Errorf("%s:%d: %s: %s", path.Base(file), i+1, key, why) }
		switch {
		case !found:
			return nil, bad("a line is key: value")
		case key == "base":
			base = Case{}.copy()
			current = &base
		case key == "case":
			cases = append(cases, base.copy())
			current = &cases[len(cases)-1]
			current.Name, current.File, current.Line = value, file, i+1
		case expectations[key]:
			if _, twice := current.Expect[key]; twice && current != &base {
				return nil, bad("given twice")
			}
			current.Expect[key] = value
		case key == "does":
			current.Does = append(current.Does, value)
		default:
			if err := current.lay(key, value); err != nil {
				return nil, bad(err.Error())
			}
		}
	}
	return cases, nil
}

// lay puts a value over what is there.
func (c *Case) lay(key, value string) error {
	over, err := guest.Decode([]byte(value))
	if err != nil {
		return err
	}
	if over.Kind() != guest.KindObject {
		return fmt.Errorf("it is no JSON object")
	}
	switch key {
	case "declared":
		c.Declared = merge(c.Declared, over)
	case "changing":
		c.Changing = merge(c.Changing, over)
	default:
		c.Replies[key] = merge(c.Replies[key], over)
	}
	return nil
}

func merge(under, over guest.Value) guest.Value {
	out := guest.Object()
	for _, f := range under.Fields() {
		if !over.Has(f.Name) {
			out = out.With(f.Name, f.Value)
		}
	}
	for _, f := range over.Fields() {
		if !f.Value.IsNull() {
			out = out.With(f.Name, f.Value)
		}
	}
	return out
}

func (c Case) copy() Case {
	out := c
	out.Replies, out.Expect = map[string]guest.Value{}, map[string]string{}
	for k, v := range c.Replies {
		out.Replies[k] = v
	}
	for k, v := range c.Expect {
		out.Expect[k] = v
	}
	out.Does = append([]string(nil), c.Does...)
	return out
}
