package manifest_test

import (
	"strings"
	"testing"
)

// What YAML readers disagree about is refused with its place.
func TestStrictYAML(t *testing.T) {
	head := "role: r\nversion: 1\nresources:\n"
	for _, c := range []struct{ name, in, want string }{
		{"duplicate key deep down", head + "  - type: env\n    path: /a\n    vars:\n      A: \"1\"\n      A: \"2\"\n", ":8:7: R12: the key A occurs twice"},
		{"tab below a key", "role: r\nversion: 1\nresources: [\n\t{type: package, name: a}]\n", ":4:2: R12: a tab in the indentation"},
		{"tab before a key in a block", head + "  - type: package\n  \tname: a\n", ":5:3: R12: a tab"},
		{"second document", "role: r\nversion: 1\nresources: []\n---\n- x\n", ":4:1: R12: the file holds several YAML documents"},
		{"anchor in a list", head + "  - &a {type: package, name: a}\n", ":4:5: R12: an anchor"},
		{"quoted merge key is a field", head + "  - {type: package, name: a, \"<<\": b}\n", ":4:30: unknown-field: package:a: the field (not printed) does not exist"},
		{"verbatim tag", "role: !<tag:yaml.org,2002:str> r\nversion: 1\nresources: []\n", ":1:7: R12: a tag"},
		{"tag without a name", "role: ! r\nversion: 1\nresources: []\n", ":1:7: R12: a tag"},
		{"key that is a list", "role: r\nversion: 1\n? [a]\n: b\nresources: []\n", ":3:3: R12: a key that is a list"},
		{"null key", "role: r\nversion: 1\n~: b\nresources: []\n", ":3:1: R12: a key that is empty"},
		{"NUL", "role: r\x00\n", ":1:8: R12: the control character U+0000"},
		{"delete", "role: r\n# \x7f\n", ":2:3: R12: the control character U+007F"},
		{"next line", "role: r\ndescription: a\u0085b\n", ":2:15: R12: the character U+0085"},
		{"a byte that is not UTF-8 after others that are", "role: r\n# äöü \xff\n", ":2:7: R12: the byte 0xff is not UTF-8"},
		{"deep nesting", "role: " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\n", "nest more than 50 levels deep"},
		{"very deep nesting", "role: " + strings.Repeat("[", 100000) + "\n", "syntax: "},
		{"too large", "role: r\n#" + strings.Repeat("x", 8<<20), ":1:1: syntax: the file has more than 8388608 bytes"},
		{"unknown anchor", "role: *a\n", ":1:7: R12: an alias"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := catalog(t, map[string]string{"hosts/t.yaml": "name: t\nroles: [r]\n", "host-roles/r.yaml": c.in})
			p, fs := open(t, dir).Host("t")
			got := strings.Join(lines(fs), "\n")
			if p != nil || !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant %s", got, c.want)
			}
		})
	}
}

// Tabs, colons and dashes are content within block scalars, whatever they look like.
func TestBlockScalars(t *testing.T) {
	for in, want := range map[string]string{
		"|\n      all:\n      \tgcc -c x\n":          "all:\n\tgcc -c x\n",
		"|-\n      a\n      b\n":                     "a\nb",
		"|+\n      a\n\n":                            "a\n\n",
		"|2\n        a\n      b\n":                   "  a\nb\n",
		">-\n      a\n      b\n":                     "a b",
		"|\n      - &a !b *c <<: %d\n      key: [\n": "- &a !b *c <<: %d\nkey: [\n",
		"\"a\\tb\\x41\\u00e9\"\n":                    "a\tbAé",
		"'it''s'\n":                                  "it's",
		"yes\n":                                      "yes",
		"1:30\n":                                     "1:30",
		"0x\n":                                       "0x",
		"|\r\n      windows\r\n      lines\r\n":      "windows\nlines\n",
		"|\n      # no comment\n    # a comment below\n": "# no comment\n",
	} {
		r := plan(t, one(t, "  - type: file\n    path: /a\n    content: "+in)).Resources[0]
		raw, err := r.Content.Open()
		if err != nil || string(raw) != want {
			t.Errorf("%q: got %q, want %q", in, raw, want)
		}
	}
}

// What is meant as text and read as something else is refused with what to write.
func TestQuoting(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{type: package, name: a, version: 1.10}", `put it in quotes: "1.10"`},
		{"{type: package, name: a, version: 2}", `put it in quotes: "2"`},
		{"{type: file, path: /a, content: a, mode: 0644}", `put it in quotes: "0644"`},
		{"{type: file, path: /a, content: a, mode: 644}", `put it in quotes: "0644"`},
		{"{type: file, path: /a, content: 1}", "put it in quotes"},
		{"{type: file, path: /a, content: ~}", `"" for an empty string`},
		{"{type: env, path: /a, vars: {A: 1}}", "put it in quotes"},
		{"{type: env, path: /a, vars: {A: .inf}}", "put it in quotes"},
		{"{type: env, path: /a, vars: {A: 1_000}}", "put it in quotes"},
		{"{type: env, path: /a, vars: {A: 0777}}", "put it in quotes"},
		{"{type: env, path: /a, vars: {A: null}}", `"" for an empty string`},
		{"{type: env, path: /a, vars: {A: true}}", "put it in quotes"},
		{"{type: systemd_unit, name: a.service, enabled: yes}", "write true, without quotes"},
		{"{type: systemd_unit, name: a.service, enabled: off}", "write false, without quotes"},
		{"{type: systemd_unit, name: a.service, enabled: 'true'}", "write true, without quotes"},
	} {
		p, fs := open(t, one(t, "  - "+c.in+"\n")).Host("t")
		got := strings.Join(lines(fs), "\n")
		if p != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s\nwant %s", c.in, got, c.want)
		}
	}
}

// All mistakes come at once, and nothing that stands under vars, env, content or run is printed.
func TestAllAtOnceAndNothingPrinted(t *testing.T) {
	const marker = "s3cr3t"
	dir := one(t, `
  - {type: package, nam: curl}
  - {type: file, path: a, content: {s3cr3t: 1}}
  - {type: env, path: /b, vars: {PASSWORD: s3cr3t, A: [s3cr3t], B: {x: s3cr3t}, s3cr3t, "s3cr3t x": "1", C: "s3cr3t\0"}}
  - {type: env, path: /c, vars: s3cr3t}
  - {type: env, path: /d, vars: [s3cr3t]}
  - {type: env, path: /e, vars: {TOKEN: {secret_ref: s3cr3t}}}
  - {type: command, id: "command:c", run: [s3cr3t, 1], creates: x, env: {PASSWORD: s3cr3t}}
  - {type: file, path: /f, content: "s3cr3t AKIAIOSFODNN7EXAMPLE"}
`)
	p, fs := open(t, dir).Host("t")
	got := strings.Join(lines(fs), "\n")
	if p != nil || strings.Contains(got, marker) {
		t.Errorf("printed:\n%s", got)
	}
	for _, line := range []string{":4:", ":5:", ":6:", ":7:", ":8:", ":9:", ":10:", ":11:"} {
		if !strings.Contains(got, line) {
			t.Errorf("nothing is said of line %s\n%s", strings.Trim(line, ":"), got)
		}
	}
}
