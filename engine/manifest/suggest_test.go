package manifest_test

import (
	"strings"
	"testing"
)

// Whatever is nearly right, or right elsewhere, is answered with what is right here; and every mistake is told what to
// write instead.
func TestSuggestions(t *testing.T) {
	for _, c := range []struct{ what, resource, want string }{
		{"an unknown field", "{type: package, name: curl, enabled: true}", "the field enabled does not exist; the fields here are type, id, name, version, state"},
		{"a letter too many", "{type: package, namee: curl}", "did you mean name?"},
		{"letters swapped", "{type: file, paht: /a, content: x}", "did you mean path?"},
		{"a letter missing", "{type: file, path: /a, conten: x}", "did you mean content?"},
		{"another case", "{type: file, path: /a, content: x, Mode: \"0644\"}", "did you mean mode?"},
		{"a hyphen", "{type: systemd_unit, name: a.service, state: started, restart-on: []}", "did you mean restart_on?"},
		{"no underscore", "{type: systemd_unit, name: a.service, state: started, unitfile: /a}", "did you mean unit_file?"},
		{"Puppet's ensure", "{type: package, name: curl, ensure: present}", "did you mean state?"},
		{"Ansible's dest", "{type: file, dest: /a, content: x}", "did you mean path?"},
		{"Ansible's src", "{type: file, path: /a, src: a}", "did you mean source?"},
		{"a user for an owner", "{type: directory, path: /a, user: root}", "did you mean owner?"},
		{"Puppet's enable", "{type: systemd_unit, name: a.service, state: started, enable: true}", "did you mean enabled?"},
		{"Puppet's notify", "{type: systemd_unit, name: a.service, state: started, subscribe: []}", "did you mean restart_on?"},
		{"Puppet's command", "{type: command, id: \"command:a\", command: a, creates: /a}", "did you mean run?"},
		{"Puppet's unless", "{type: command, id: \"command:a\", run: a, unless: /a}", "did you mean creates?"},
		{"variables", "{type: env, path: /a, variables: {}}", "did you mean vars?"},

		{"a type misspelt", "{type: pakage, name: curl}", "did you mean package?"},
		{"a type in capitals", "{type: File, path: /a, content: x}", "did you mean file?"},
		{"Ansible's apt", "{type: apt, name: curl}", "did you mean package?"},
		{"a service", "{type: service, name: a.service}", "did you mean systemd_unit?"},
		{"a dir", "{type: dir, path: /a}", "did you mean directory?"},
		{"Puppet's exec", "{type: exec, run: a}", "did you mean command?"},
		{"Puppet's link", "{type: link, path: /a}", "did you mean symlink?"},
		{"a type that is a number", "{type: 1, path: /a}", "write a resource type: package"},
		{"no type", "{name: curl}", "give type: package, file"},

		{"a word misspelt", "{type: package, name: curl, state: presnt}", "did you mean present?"},
		{"a word in capitals", "{type: package, name: curl, state: Absent}", "did you mean absent?"},
		{"Ansible's installed", "{type: package, name: curl, state: installed}", "did you mean present?"},
		{"Ansible's latest", "{type: package, name: curl, version: latest}", "present, or an exact Debian version"},
		{"running", "{type: systemd_unit, name: a.service, state: running}", "did you mean started?"},
		{"inactive", "{type: systemd_unit, name: a.service, state: inactive}", "did you mean stopped?"},
		{"purged", "{type: package, name: curl, state: purged}", "did you mean absent?"},
		{"no suffix", "{type: systemd_unit, name: nginx, state: started}", "a unit name with its suffix"},
		{"a template", "{type: systemd_unit, name: a@.service, state: started}", "a@instance.service"},
		{"another id", "{type: package, id: curl, name: curl}", "write package:curl, or leave the id out"},

		{"a mode as a number", "{type: file, path: /a, content: x, mode: 0644}", `put it in quotes: "0644"`},
		{"a mode as a short number", "{type: file, path: /a, content: x, mode: 644}", `put it in quotes: "0644"`},
		{"a mode as letters", "{type: file, path: /a, content: x, mode: u=rw}", `write a quoted octal string such as "0644"`},
		{"an owner as a number", "{type: file, path: /a, content: x, owner: 0}", `put it in quotes: "0"`},
		{"a quoted boolean", "{type: systemd_unit, name: a.service, enabled: \"true\"}", "write true, without quotes"},
		{"yes", "{type: systemd_unit, name: a.service, enabled: yes}", "write true, without quotes"},
		{"off", "{type: systemd_unit, name: a.service, enabled: off}", "write false, without quotes"},
		{"a text for a list", "{type: systemd_unit, name: a.service, state: started, restart_on: \"file:/a\"}", "write a list: [file:/a]"},
		{"a mapping for a list", "{type: systemd_unit, name: a.service, state: started, restart_on: {a: b}}", "write a list"},
		{"a list for a text", "{type: package, name: [curl]}", "write a Debian package name"},
		{"a mapping for a text", "{type: package, name: {a: b}}", "write a Debian package name"},
		{"nothing for a text", "{type: package, name: }", `give a value, or "" for an empty string`},
		{"a list for variables", "{type: env, path: /a, vars: [a]}", `write a mapping of variables, NAME: "value" each`},
		{"a number for a variable", "{type: env, path: /a, vars: {PORT: 8080}}", "put it in quotes"},
		{"a name that is no variable's", "{type: env, path: /a, vars: {my-var: \"1\"}}", "write a variable name"},
		{"a literal secret", "{type: env, path: /a, vars: {DB_PASSWORD: hunter2}}", `write {secret_ref: "provider:name"}`},
		{"a path that is relative", "{type: file, path: a/b, content: x}", "write an absolute path"},
		{"a duration without a unit", "{type: command, id: \"command:a\", run: a, creates: /a, timeout: \"90\"}", `write a duration such as "90s"`},
		{"a text for a resource", "curl", "write - type: ... and the type's fields"},
		{"a list for a resource", "[curl]", "write - type: ... and the type's fields"},
		{"no name", "{type: package}", "give name: a Debian package name"},
		{"nothing to do", "{type: systemd_unit, name: a.service}", "give state: started or stopped, enabled: true or false"},
	} {
		t.Run(c.what, func(t *testing.T) {
			suggests(t, map[string]string{"host-roles/r.yaml": "role: r\nversion: 1\nresources:\n  - " + c.resource + "\n"}, c.want)
		})
	}
}

func TestSuggestionsOutsideResources(t *testing.T) {
	const role = "role: r\nversion: 1\nresources: []\n"
	for what, c := range map[string]struct{ file, text, want string }{
		"a role's field":            {"host-roles/r.yaml", "role: r\nversion: 1\nressources: []\n", "did you mean resources?"},
		"tasks":                     {"host-roles/r.yaml", "role: r\nversion: 1\ntasks: []\n", "did you mean resources?"},
		"depends":                   {"host-roles/r.yaml", role + "depends: []\n", "did you mean requires?"},
		"conflicts":                 {"host-roles/r.yaml", role + "conflicts: []\n", "did you mean mutually_exclusive?"},
		"a version as a text":       {"host-roles/r.yaml", "role: r\nversion: \"1\"\nresources: []\n", "write a whole number from 1"},
		"a fraction":                {"host-roles/r.yaml", "role: r\nversion: 1.5\nresources: []\n", "write a whole number from 1"},
		"a mapping of resources":    {"host-roles/r.yaml", "role: r\nversion: 1\nresources: {a: b}\n", "write a list, - item a line"},
		"a description as a list":   {"host-roles/r.yaml", "role: r\nversion: 1\ndescription: [a]\nresources: []\n", "write one text"},
		"a list for a manifest":     {"host-roles/r.yaml", "- role: r\n", "write name: value, a field a line"},
		"a text for a manifest":     {"host-roles/r.yaml", "role\n", "write name: value, a field a line"},
		"a host's field":            {"hosts/t.yaml", "name: t\nrole: [r]\n", "did you mean roles?"},
		"a hostname":                {"hosts/t.yaml", "hostname: t\nroles: [r]\n", "did you mean name?"},
		"a role misspelt":           {"hosts/t.yaml", "name: t\nroles: [q, rr]\n", "write host-roles/q.yaml, or take the name out"},
		"one role for a list":       {"hosts/t.yaml", "name: t\nroles: r\n", "write a list: [r]"},
		"labels as a list":          {"hosts/t.yaml", "name: t\nroles: [r]\nlabels: [a]\n", "write name: value, a field a line"},
		"a label as a number":       {"hosts/t.yaml", "name: t\nroles: [r]\nlabels: {a: 1}\n", `put it in quotes: "1"`},
		"a host's name in capitals": {"hosts/t.yaml", "name: T\nroles: [r]\n", "write a DNS label"},
		"a field of catalog.yaml":   {"catalog.yaml", "role: [r]\n", "did you mean roles?"},
	} {
		t.Run(what, func(t *testing.T) {
			files := map[string]string{"host-roles/r.yaml": role}
			files[c.file] = c.text
			suggests(t, files, c.want)
		})
	}
}

// suggests wants a text among the findings of a catalog, and a hint with each of them.
func suggests(t *testing.T, files map[string]string, want string) {
	t.Helper()
	if files["hosts/t.yaml"] == "" {
		files["hosts/t.yaml"] = "name: t\nroles: [r]\n"
	}
	fs := open(t, catalog(t, files)).Validate()
	if len(fs) == 0 {
		t.Fatal("nothing is found")
	}
	if all := strings.Join(lines(fs), "\n"); !strings.Contains(all, want) {
		t.Errorf("got\n%s\nwant %s", all, want)
	}
	for _, f := range fs {
		if f.Hint == "" {
			t.Errorf("nothing says what to write instead: %s", f)
		}
	}
}
