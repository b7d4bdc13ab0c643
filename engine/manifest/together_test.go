package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine/manifest"
)

// told gives a catalog's findings as line rule path, without those of other files than the role r.
func told(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, f := range open(t, dir).Validate() {
		if f.Pos.File == "host-roles/r.yaml" {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", f.Pos.Line, f.Rule, f.Path)))
		}
	}
	return out
}

// Whatever is wrong with one field of a resource, what is wrong with others is told as well: within the resource, and between
// it and others. The first resource stands in line 4.
func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		resources string
		want      []string
	}{
		"an expression that is none, and a mode that is no field": {`{type: line, path: /a, key: k, line: l, match: "(", mode: "1"}`,
			[]string{"4 wrong-value resources[0].match", "4 unknown-field resources[0]"}},
		"three expressions, and after and before": {`{type: line, path: /a, key: k, line: 1, match: "(", after: "[", before: "*"}`,
			[]string{"4 wrong-type resources[0].line", "4 wrong-value resources[0].match", "4 fields resources[0].after", "4 wrong-value resources[0].after", "4 wrong-value resources[0].before"}},
		"content and source, and a mode": {`{type: file, path: /a, content: "", source: b, mode: "9"}`,
			[]string{"4 fields resources[0].source", "4 wrong-value resources[0].mode"}},
		"neither content nor source, and an owner": {`{type: file, path: /a, owner: 0}`,
			[]string{"4 missing-field resources[0]", "4 wrong-type resources[0].owner"}},
		"a version of what is absent, and an unknown field": {`{type: package, name: curl, version: "1.0", state: absent, hold: true}`,
			[]string{"4 fields resources[0].version", "4 unknown-field resources[0]"}},
		"a template that is started, and enabled in quotes": {`{type: systemd_unit, name: a@.service, state: started, enabled: "yes"}`,
			[]string{"4 fields resources[0].name", "4 wrong-type resources[0].enabled"}},
		"nothing that is managed of a unit, and a list that is none": {`{type: systemd_unit, name: a.service, restart_on: x}`,
			[]string{"4 missing-field resources[0]", "4 wrong-type resources[0].restart_on"}},
		"no vars, and a mode": {`{type: env, path: /a, mode: 1}`,
			[]string{"4 missing-field resources[0]", "4 wrong-type resources[0].mode"}},
		"no program, no mark, and a timeout": {`{type: command, id: "command:c", run: ["", 1], timeout: 5}`,
			[]string{"4 missing-field resources[0]", "4 wrong-value resources[0].run[0]", "4 wrong-type resources[0].run[1]", "4 wrong-type resources[0].timeout"}},
		"another id, a path of gyrum's own, and a mode": {`{type: directory, path: /var/lib/gyrum/a, id: "directory:/b", mode: "9"}`,
			[]string{"4 R7 resources[0].path", "4 wrong-value resources[0].id", "4 wrong-value resources[0].mode"}},
		"a source that is not there, and a mode": {`{type: file, path: /a, source: nope, mode: "9"}`,
			[]string{"4 R10 resources[0].source", "4 wrong-value resources[0].mode"}},
		"declared twice, and a mode in one": {"{type: file, path: /a, content: \"\", mode: \"9\"}\n  - {type: file, path: //a, content: \"\"}",
			[]string{"4 wrong-value resources[0].mode", "5 R7 resources[1]"}},
		"a line of a file, and its owner": {"{type: line, path: /a, key: k, line: l, owner: x}\n  - {type: file, path: /a, content: \"\"}",
			[]string{"4 unknown-field resources[0]", "5 R7 resources[1]"}},
		"a unit file and a restart_on that nobody declares, and a state": {`{type: systemd_unit, name: a.service, state: startd, unit_file: /srv/a, restart_on: ["file:/a", "command:c", "file:/b"]}`,
			[]string{"4 wrong-value resources[0].state", "4 R8 resources[0].unit_file", "4 R9 resources[0].restart_on[0]", "4 R9 resources[0].restart_on[1]", "4 R9 resources[0].restart_on[2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(t, one(t, "  - "+c.resources+"\n")); !slices.Equal(got, c.want) {
				t.Errorf("told\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// What is wrong is told once, and nothing that only follows from it.
func TestNothingIsToldThatFollows(t *testing.T) {
	const unit = "\n  - {type: systemd_unit, name: a.service, state: started, unit_file: %s, restart_on: [\"file:/srv/a\"]}"
	own, packaged := fmt.Sprintf(unit, "/srv/a"), fmt.Sprintf(unit, "/lib/systemd/system/a.service")
	for name, c := range map[string]struct {
		resources string
		want      []string
	}{
		"a state that is none may be absent":       {`{type: file, path: /a, state: absnt}`, []string{"4 wrong-value resources[0].state"}},
		"content misspelt":                         {`{type: file, path: /a, contnt: ""}`, []string{"4 unknown-field resources[0]"}},
		"another's word for source":                {`{type: file, path: /a, src: b}`, []string{"4 unknown-field resources[0]"}},
		"idempotent that is none may be false":     {`{type: command, id: "command:c", run: c, idempotent: no}`, []string{"4 wrong-type resources[0].idempotent"}},
		"a version that is none may be present":    {`{type: package, name: curl, version: 1, state: absent}`, []string{"4 wrong-type resources[0].version"}},
		"lines that are none are not the same":     {"{type: line, path: /a, key: k, line: 1}\n  - {type: line, path: /a, key: l, line: 2}", []string{"4 wrong-type resources[0].line", "5 wrong-type resources[1].line"}},
		"a unit's file with a mode that is none":   {`{type: file, path: /srv/a, content: "", mode: "9"}` + own, []string{"4 wrong-value resources[0].mode"}},
		"a unit's file with a state that is none":  {`{type: file, path: /srv/a, content: "", state: prsent}` + own, []string{"4 wrong-value resources[0].state"}},
		"a unit's file with a source that is none": {`{type: file, path: /srv/a, source: nope}` + own, []string{"4 R10 resources[0].source"}},
		"a unit's file with its type misspelt":     {`{type: fil, path: /srv/a, content: ""}` + own, []string{"4 wrong-value resources[0].type"}},
		"a unit's file without a type":             {`{path: /srv/a, content: ""}` + own, []string{"4 missing-field resources[0]"}},
		"a unit's file with a path that is none":   {`{type: file, path: /srv/../srv/a, content: ""}` + own, []string{"4 wrong-value resources[0].path", "5 R8 resources[1].unit_file", "5 R9 resources[1].restart_on[0]"}},
		"a package without its name": {"{type: package}\n  - {type: file, path: /srv/a, content: \"\"}" + packaged,
			[]string{"4 missing-field resources[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := told(t, one(t, "  - "+c.resources+"\n")); !slices.Equal(got, c.want) {
				t.Errorf("told\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// A manifest that cannot be read may declare what another one names.
func TestAManifestThatCannotBeReadIsTheOnlyFinding(t *testing.T) {
	dir := one(t, `
  - {type: systemd_unit, name: a.service, state: started, restart_on: ["file:/srv/a"]}
`)
	for name, text := range map[string]string{"hosts/t.yaml": "name: t\nroles: [r, s]\n", "host-roles/s.yaml": "role: s\nrole: s\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found := open(t, dir).Validate()
	if len(found) != 1 || found[0].Rule != "R12" || found[0].Pos.File != "host-roles/s.yaml" {
		t.Errorf("%q", lines(found))
	}
}

// A file with more findings than are kept is still judged to its end, and nothing in it counts as right.
func TestMoreFindingsThanAreKept(t *testing.T) {
	const wrong = "  - {type: file, path: /a%d, content: \"\", mode: \"9\"}\n"
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, wrong, i)
	}
	b.WriteString("  - {type: systemd_unit, name: x, state: started}\n  - {type: file, path: /z, content: [], mode: \"9\"}\n")
	dir := one(t, b.String())
	c := open(t, dir)
	if found := c.Validate(); len(found) != 101 { // the last stands for those that are not shown
		t.Errorf("%d findings", len(found))
	}
	if r := c.Role("r"); r.Complete || len(r.Resources) != 0 {
		t.Errorf("%d resources are right", len(r.Resources))
	}
	// A warning that is beyond them makes no error of before a warning.
	if err := os.WriteFile(filepath.Join(dir, "hosts/t.yaml"), []byte("name: t\nroles: [r"+strings.Repeat(", nope", 100)+"]\nactivate: [r]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, f := range open(t, dir).Validate() {
		if (f.Severity != manifest.SeverityError) != (f.Rule == "R13") {
			t.Errorf("%s", f)
		}
	}
	var errors int
	for _, f := range open(t, dir).Validate() {
		if f.Rule == "R1" {
			errors++
		}
	}
	if errors != 100 {
		t.Errorf("%d roles that do not exist", errors)
	}
}

// A file with more findings than are shown says how many there are, and is an error where one of them is.
func TestFindingsBeyondThoseShown(t *testing.T) {
	for name, c := range map[string]struct {
		wrong int
		last  string
	}{
		"a hundred": {100, `"9" is not allowed`},
		"one more":  {101, "one more in this file, which is not shown; mend the others of this file first"},
		"many":      {250, "the first of 150 more in this file, which are not shown; mend the others of this file first"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var b strings.Builder
			b.WriteString("role: r\nversion: 1\nresources:\n")
			for i := range c.wrong {
				fmt.Fprintf(&b, "  - {type: directory, path: /a%d, mode: \"9\"}\n", i)
			}
			write(t, filepath.Join(dir, "host-roles/r.yaml"), b.String())
			found := open(t, dir).Validate()
			if len(found) != min(c.wrong, 101) {
				t.Fatalf("%d findings", len(found))
			}
			last := found[len(found)-1]
			if !strings.Contains(last.String(), c.last) || last.Severity != manifest.SeverityError || last.Pos.Line != 3+len(found) {
				t.Errorf("the last finding is %s", last)
			}
		})
	}
}

// What is only to be warned of does not become an error by being too much of it.
func TestWarningsBeyondThoseShown(t *testing.T) {
	dir := t.TempDir()
	var roles []string
	for i := range 150 {
		role := fmt.Sprintf("r%d", i)
		roles = append(roles, role)
		write(t, filepath.Join(dir, "host-roles", role+".yaml"), "role: "+role+"\nversion: 1\nresources: []\n")
	}
	list := strings.Join(roles, ", ")
	write(t, filepath.Join(dir, "hosts/h.yaml"), "name: h\nroles: ["+list+"]\nactivate: ["+list+"]\n")
	c := open(t, dir)
	found := c.Warnings()
	if len(found) != 101 || len(c.Validate()) != 0 {
		t.Errorf("%d findings: %q", len(found), lines(found))
	}
}
