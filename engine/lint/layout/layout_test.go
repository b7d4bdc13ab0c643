package layout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/lint/layout"
	"gyrum.ai/engine/manifest"
)

// Each mistake is found where it is, and put right.
func TestFix(t *testing.T) {
	for _, c := range []struct {
		name, in string
		problems string // line:column rule, one a line
		want     string
	}{
		{"as it should be", "role: r\nversion: 1\nresources:\n  - type: package\n    name: curl\n", "", ""},
		{"flow style", "role: r\nversion: 1\nresources:\n  - {type: package, name: curl}\n", "", ""},
		{"carriage returns", "role: r\r\nversion: 1\r\nresources: []\r\n", "1:1 line-endings", "role: r\nversion: 1\nresources: []\n"},
		{"ends of lines", "role: r  \nversion: 1\t\nresources: []\n", "1:8 blank-space\n2:11 blank-space", "role: r\nversion: 1\nresources: []\n"},
		{"empty lines", "\n\nrole: r\n\n\n\n\nversion: 1\nresources: []\n\n\n", "1:1 blank-space\n6:1 blank-space\n11:1 blank-space", "role: r\n\n\nversion: 1\nresources: []\n"},
		{"no end of the last line", "role: r\nversion: 1\nresources: []", "3:14 blank-space", "role: r\nversion: 1\nresources: []\n"},
		{"blank space in a block belongs to the text", "role: r\nversion: 1\nresources:\n  - type: file\n    path: /a\n    content: |\n      a  \n\n\n\n      b\t\n    mode: \"0600\"\n", "", ""},
		{"a block that keeps its empty lines", "role: r\nversion: 1\ndescription: |+\n  a\n\n\n\n\nresources: []\n", "", ""},
		{"a quoted text over two lines", "role: r\nversion: 1\ndescription: \"a\n  \n  b\"\nresources: []\n", "", ""},
		{"a list that is not indented", "role: r\nversion: 1\nresources:\n- type: file\n  path: /a\n  content: |\n    a\n      b\n# of b\n- type: package\n  name: b\n", "4:1 indentation",
			"role: r\nversion: 1\nresources:\n  - type: file\n    path: /a\n    content: |\n      a\n        b\n  # of b\n  - type: package\n    name: b\n"},
		{"four spaces", "role: r\nversion: 1\nresources:\n    - type: env\n      path: /a\n      vars:\n          # the first\n          A: |\n              x\n          B: y z\n      mode: \"0600\"\n", "4:5 indentation\n8:11 indentation",
			"role: r\nversion: 1\nresources:\n  - type: env\n    path: /a\n    vars:\n      # the first\n      A: |\n          x\n      B: y z\n    mode: \"0600\"\n"},
		{"a block with an indentation of its own", "role: r\nversion: 1\nresources:\n- type: file\n  path: /a\n  content: |2\n      deep\n    less\n", "4:1 indentation",
			"role: r\nversion: 1\nresources:\n  - type: file\n    path: /a\n    content: |2\n        deep\n      less\n"},
		{"a flow list over lines", "role: r\nversion: 1\nrequires: [\n  a,\n  b\n]\nresources: []\n", "", ""},
		{"order of a role", "# About r.\n\nversion: 1\n\n# What it does.\nresources: []\n\n# Its name.\nrole: r\n", "9:1 key-order", "# About r.\n\n# Its name.\nrole: r\nversion: 1\n\n# What it does.\nresources: []\n\n"},
		{"order of a host", "x-cmdb: 7\nroles: []\nname: t\n", "2:1 key-order", "name: t\nroles: []\nx-cmdb: 7\n"},
		{"order of catalog.yaml", "defaults: []\nroles: []\n", "2:1 key-order", "roles: []\ndefaults: []\n"},
		{"type first", "role: r\nversion: 1\nresources:\n  - name: curl   # the tool\n    type: package\n    state: absent\n", "5:5 key-order", "role: r\nversion: 1\nresources:\n  - type: package\n    name: curl   # the tool\n    state: absent\n"},
		{"type first, at the end", "role: r\nversion: 1\nresources:\n  - path: /a\n    content: |\n      a\n    type: file\n  - type: package\n    name: curl\n", "7:5 key-order", "role: r\nversion: 1\nresources:\n  - type: file\n    path: /a\n    content: |\n      a\n  - type: package\n    name: curl\n"},
		{"quotes", "role: 'r'\nversion: 1\ndescription: 'it''s \"a\" \\b'\nresources: [{type: 'package', name: 'ü'}]\n", "1:7 quotes\n4:20 quotes\n4:37 quotes", "role: \"r\"\nversion: 1\ndescription: 'it''s \"a\" \\b'\nresources: [{type: \"package\", name: \"ü\"}]\n"},
		{"disputed words", "role: r\nversion: 1\nresources:\n  - {type: env, path: /a, vars: {A: yes, B: 1:30, C: 2026-01-31, D: \"no\", E: nothing, ü: off, G: 089}}\n", "4:37 ambiguous-word\n4:45 ambiguous-word\n4:54 ambiguous-word\n4:90 ambiguous-word\n4:98 ambiguous-word",
			"role: r\nversion: 1\nresources:\n  - {type: env, path: /a, vars: {A: \"yes\", B: \"1:30\", C: \"2026-01-31\", D: \"no\", E: nothing, ü: \"off\", G: \"089\"}}\n"},
		{"several spaces after a dash", "role: r\nversion: 1\nrequires:\n  -    b\n  - c\nresources:\n  -   type: file\n      path: /a\n      # the text\n      content: |\n        a\n          b\n  -  content: |\n       c\n     type: file\n     path: /c\n", "4:4 indentation\n7:4 indentation\n13:4 indentation\n15:6 key-order",
			"role: r\nversion: 1\nrequires:\n  - b\n  - c\nresources:\n  - type: file\n    path: /a\n    # the text\n    content: |\n      a\n        b\n  - type: file\n    content: |\n      c\n    path: /c\n"},
		{"several spaces after a dash that is not indented", "role: r\nversion: 1\nresources:\n-   type: package\n    name: a\n", "4:1 indentation\n4:2 indentation", "role: r\nversion: 1\nresources:\n  - type: package\n    name: a\n"},
		{"numbers and booleans stay", "role: r\nversion: 1\nresources:\n  - {type: command, id: command:a, run: a b, idempotent: false}\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range layout.Problems([]byte(c.in)) {
				got = append(got, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Rule))
			}
			if s := strings.Join(got, "\n"); s != c.problems {
				t.Errorf("problems\n%s\nwant\n%s", s, c.problems)
			}
			want := c.want
			if want == "" {
				want = c.in
			}
			fixed := layout.Fix([]byte(c.in))
			if c.name == "order of a role" {
				want = strings.TrimSuffix(want, "\n") // the last key's empty line is taken away with the rest
			}
			if string(fixed) != want {
				t.Errorf("fixed\n%s\nwant\n%s", fixed, want)
			}
			if left := layout.Problems(fixed); len(left) > 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// What cannot be put right without changing the text is said and left alone.
func TestUnsafe(t *testing.T) {
	for name, c := range map[string][2]string{
		"a block whose last line has no end": {"role: r\nversion: 1\nresources:\n  - type: file\n    path: /a\n    content: |\n      a", "blank-space"},
		"a type with a comment of its own":   {"role: r\nversion: 1\nresources:\n  - name: curl\n    # always\n    type: package\n", "key-order"},
		"two keys in a line":                 {"{version: 1, role: r, resources: []}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := layout.Fix([]byte(c[0])); !manifest.Equal(got, []byte(c[0])) {
				t.Errorf("another document: %s", got)
			}
			problems := layout.Problems([]byte(c[0]))
			if c[1] != "" && (len(problems) != 1 || problems[0].Rule != c[1]) {
				t.Errorf("problems %+v", problems)
			}
		})
	}
}

// The corpus of good manifests can be rewritten, and says the same afterwards.
func TestCorpus(t *testing.T) {
	for _, pattern := range []string{"../../../cue/testdata/*/*.yaml", "../../../host-roles/*.yaml", "../../../examples/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			hold(t, f, raw)
		}
	}
}

// hold checks what holds of any file: rewriting changes nothing but the layout, and once is enough.
func hold(t *testing.T, name string, raw []byte) {
	t.Helper()
	for _, p := range layout.Problems(raw) {
		if p.Line < 1 || p.Column < 1 || p.Rule == "" || p.Hint == "" {
			t.Fatalf("%s: problem %+v", name, p)
		}
	}
	fixed := layout.Fix(raw)
	if !manifest.Equal(raw, raw) {
		if string(fixed) != string(raw) {
			t.Fatalf("%s: a file that cannot be read was changed: %q", name, fixed)
		}
		return
	}
	if !manifest.Equal(raw, fixed) {
		t.Fatalf("%s: another document: %q", name, fixed)
	}
	if strings.Count(string(raw), "#") != strings.Count(string(fixed), "#") {
		t.Fatalf("%s: a comment is lost: %q", name, fixed)
	}
	if again := layout.Fix(fixed); string(again) != string(fixed) {
		t.Fatalf("%s: twice is not once:\n%q\n%q", name, fixed, again)
	}
}

func FuzzFix(f *testing.F) {
	for _, pattern := range []string{"../../../cue/testdata/*/*.yaml", "../../../host-roles/*.yaml", "../../../examples/*/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Add([]byte("resources:\n- - a\n  -   b: |+\n         x\n\n  # c\n- ? a\n  : b\nrole: 'x'\n"))
	for _, broken := range refused {
		f.Add([]byte(broken))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { hold(t, "input", raw) })
}

func TestOneSpaceIsOne(t *testing.T) {
	for text, want := range map[string]string{
		"role: r\nversion: 1\nresources:\n - type: package\n   name: a\n":     "indented by 1 space here",
		"role: r\nversion: 1\nresources:\n   - type: package\n     name: a\n": "indented by 3 spaces here",
	} {
		if got := layout.Problems([]byte(text)); len(got) != 1 || got[0].Message != want {
			t.Errorf("%q: %v, want %s", text, got, want)
		}
	}
}

// refused are files that the manifest reader does not take; some have lines that are others for YAML than for us.
var refused = []string{
	"role: t\nversion: 1\nresources:\n  - path: \"\u2028\"\n    type: \"file\"",
	"role: t\nversion: 1\nresources:\n  - path: \"\u2029\"\n    type: file\n",
	"role: t\nversion: 1\nresources:\n  - path: \"\u0085\"\n    type: file\n",
	"# \u2028\u2028\u2028\nrole: 't'\nversion: 1\nresources: []  \n",
	"version: 1\nrole: 't'\nrole: yes\nresources: []  \n",
	"version: 1\nrole: &a 't'\ndescription: *a\nresources: []  \n",
	"version: 1\nrole: 't\nresources: []  \n",
}

// What the reader refuses is neither judged nor rewritten: it is said by validation, and comes first.
func TestRefused(t *testing.T) {
	for _, text := range refused {
		if p := layout.Problems([]byte(text)); len(p) > 0 {
			t.Errorf("%q: %+v", text, p)
		}
		hold(t, text, []byte(text))
	}
	// a carriage return alone is a line break for every reader
	hold(t, "carriage returns", []byte("version: 1\rrole: 't'\r\r\nresources:\r- path: '/a'\r  type: file\r  content: |\r    a\r"))
}

// The message of a wide gap after a dash says what is wrong with it, once.
func TestGapAfterADash(t *testing.T) {
	got := layout.Problems([]byte("role: r\nversion: 1\nresources:\n  -   type: command\n      id: command:a\n"))
	if len(got) != 1 || got[0].Message != "3 spaces after the dash" || !strings.HasPrefix(got[0].Hint, "write one space after a dash") {
		t.Errorf("%+v", got)
	}
}
