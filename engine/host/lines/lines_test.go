package lines

import (
	"bytes"
	"regexp"
	"testing"
)

func rule(line, match, after, before string) Rule {
	expr := func(s string) *regexp.Regexp {
		if s == "" {
			return nil
		}
		return regexp.MustCompile(s)
	}
	return Rule{Line: line, Match: expr(match), After: expr(after), Before: expr(before)}
}

func TestPut(t *testing.T) {
	for name, c := range map[string]struct {
		rule Rule
		text string
		want string // "!" for ambiguous
	}{
		"an empty text":                   {rule("a", "", "", ""), "", "a\n"},
		"at the end":                      {rule("a", "", "", ""), "x\ny\n", "x\ny\na\n"},
		"a last line without an end":      {rule("a", "", "", ""), "x", "x\na\n"},
		"it is there":                     {rule("a", "", "", ""), "a\nx", "a\nx"},
		"it is there twice":               {rule("a", "", "", ""), "a\nx\na\n", "a\nx\na\n"},
		"a part of a line is no line":     {rule("a", "", "", ""), "ab\n", "ab\na\n"},
		"replaced in its place":           {rule("p=2", "^p=", "", ""), "x\np=1\ny\n", "x\np=2\ny\n"},
		"replaced at the end without end": {rule("p=2", "^p=", "", ""), "x\np=1", "x\np=2"},
		"nothing to replace":              {rule("p=2", "^p=", "", ""), "x\n", "x\np=2\n"},
		"match does not meet the line":    {rule("p 2", "^p=", "", ""), "p 2\n", "p 2\n"},
		"two that differ":                 {rule("p=2", "^#?p=", "", ""), "#p=1\np=2\n", "!"},
		"two to replace":                  {rule("p=2", "^p=", "", ""), "p=1\np=1\n", "!"},
		"after":                           {rule("a", "", "^\\[s\\]$", ""), "[s]\nx\n", "[s]\na\nx\n"},
		"after the last, without an end":  {rule("a", "", "^x$", ""), "[s]\nx", "[s]\nx\na\n"},
		"before":                          {rule("a", "", "", "^x$"), "[s]\nx\n", "[s]\na\nx\n"},
		"no anchor":                       {rule("a", "", "^z$", ""), "x\n", "!"},
		"two anchors":                     {rule("a", "", "^x$", ""), "x\nx\n", "!"},
		"an anchor is not needed":         {rule("a", "", "^z$", ""), "x\na\n", "x\na\n"},
		"carriage returns":                {rule("p=2", "^p=", "", ""), "x\r\np=1\r\n", "x\r\np=2\r\n"},
		"carriage returns at the end":     {rule("a", "", "", ""), "x\r\ny\r\n", "x\r\ny\r\na\r\n"},
		"bytes that are no UTF-8":         {rule("a", "", "", ""), "\xff\xfe\x00\n", "\xff\xfe\x00\na\n"},
		"an empty line is a line":         {rule("", "", "", ""), "x\n", "x\n\n"},
	} {
		got, err := c.rule.Put([]byte(c.text))
		if (err != nil) != (c.want == "!") || err == nil && string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
		if err == nil {
			if again, err := c.rule.Put(got); err != nil || !bytes.Equal(again, got) {
				t.Errorf("%s: a second time gives %q, %v", name, again, err)
			}
		}
	}
}

func TestTake(t *testing.T) {
	for name, c := range map[string]struct {
		rule       Rule
		text, want string
	}{
		"not there":              {rule("a", "", "", ""), "x\n", "x\n"},
		"there":                  {rule("a", "", "", ""), "x\na\ny", "x\ny"},
		"twice":                  {rule("a", "", "", ""), "a\nx\na\n", "x\n"},
		"by match":               {rule("p=2", "^p=", "", ""), "p=1\nx\n", "x\n"},
		"match meets several":    {rule("p=2", "^p=", "", ""), "p=1\np=3\n", "!"},
		"the only one":           {rule("a", "", "", ""), "a", ""},
		"after a line feed less": {rule("b", "", "", ""), "a\nb", "a\n"},
	} {
		got, err := c.rule.Take([]byte(c.text))
		if (err != nil) != (c.want == "!") || err == nil && string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// FuzzPut holds what is put in against what is looked for: it is there afterwards, once more changes nothing, and taking it
// out again leaves what was there but for the end of the last line.
func FuzzPut(f *testing.F) {
	f.Add("a=1", "x\na=0\n", "^a=")
	f.Add("a", "x", "")
	f.Add("a", "\r\n\r\n", "^$")
	f.Fuzz(func(t *testing.T, line, text, match string) {
		if bytes.ContainsAny([]byte(line), "\r\n") {
			return
		}
		r := Rule{Line: line}
		if match != "" {
			re, err := regexp.Compile(match)
			if err != nil {
				return
			}
			r.Match = re
		}
		out, err := r.Put([]byte(text))
		if err != nil {
			return
		}
		if s := r.Look(out); s.Same == 0 || s.Same != s.Managed {
			t.Fatalf("%+v after Put of %q into %q: %q", s, line, text, out)
		}
		if again, err := r.Put(out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q again gives %q, %v", out, again, err)
		}
		if gone, err := r.Take(out); err != nil || r.Look(gone).Managed != 0 {
			t.Fatalf("%q taken out of %q leaves %q, %v", line, out, gone, err)
		}
	})
}
