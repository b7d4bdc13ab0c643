package manifest_test

import (
	"strings"
	"testing"
)

// What has the shape of a secret is not printed, wherever somebody put it; what has not, is.
func TestSecretShapesAreNotPrinted(t *testing.T) {
	token := "ghp_" + strings.Repeat("a", 36)
	for name, role := range map[string]string{
		"a type":            "role: r\nversion: 1\nresources:\n  - type: https://u:hunter2@h/\n",
		"a name":            "role: r\nversion: 1\nresources:\n  - type: package\n    name: https://u:hunter2@h/\n",
		"an id":             "role: r\nversion: 1\nresources:\n  - type: package\n    name: curl\n    id: https://u:hunter2@h/\n",
		"in place of lists": "role: r\nversion: 1\nrequires: https://u:hunter2@h/\nresources: []\n",
		"a mode":            "role: r\nversion: 1\nresources:\n  - type: file\n    path: /a\n    content: x\n    mode: |\n      -----BEGIN PRIVATE KEY-----\n      hunter2\n",
		"the role's name":   "role: https://u:hunter2@h/\nversion: 1\nresources: []\n",
		"a required role":   "role: r\nversion: 1\nrequires: [" + token + "]\nresources: []\n",
		"a field":           "role: r\nversion: 1\n" + token + ": x\nresources: []\n",
		"a key twice":       "role: r\nversion: 1\n" + token + ": x\n" + token + ": x\nresources: []\n",
		"a path":            "role: r\nversion: 1\nresources:\n  - {type: file, path: /etc/" + token + "}\n",
		"a path twice":      "role: r\nversion: 1\nresources:\n  - {type: file, path: /etc/" + token + ", content: x}\n  - {type: file, path: /etc/" + token + ", content: x}\n",
		"a restart":         "role: r\nversion: 1\nresources:\n  - {type: systemd_unit, name: a.service, enabled: true, state: started, restart_on: [\"file:/" + token + "\"]}\n",
	} {
		c := open(t, catalog(t, map[string]string{"hosts/t.yaml": "name: t\nroles: [r]\n", "host-roles/r.yaml": role}))
		all := strings.Join(lines(c.Validate()), "\n")
		for _, f := range c.Validate() {
			all += "\n" + f.Path
		}
		if all == "" || strings.Contains(all, "hunter2") || strings.Contains(all, token) || !strings.Contains(all, "(not printed)") && name != "a path" {
			t.Errorf("%s: %s", name, all)
		}
	}
	c := open(t, catalog(t, map[string]string{"hosts/t.yaml": "name: t\nroles: [r]\n", "host-roles/r.yaml": "role: r\nversion: 1\nresources:\n  - type: https://h/\n"}))
	if got := strings.Join(lines(c.Validate()), "\n"); !strings.Contains(got, `"https://h/" is not allowed`) {
		t.Errorf("an ordinary value is not printed: %s", got)
	}
}

// Each mistake among roles is said once, where it is.
func TestOneMistakeOneFinding(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"every cycle": {map[string]string{
			"host-roles/t.yaml": "role: t\nversion: 1\nrequires: [t]\nresources: []\n",
			"host-roles/q.yaml": "role: q\nversion: 1\nrequires: [q]\nresources: []\n",
			"host-roles/a.yaml": "role: a\nversion: 1\nrequires: [t, c]\nresources: []\n",
			"host-roles/b.yaml": "role: b\nversion: 1\nrequires: [c]\nresources: []\n",
			"host-roles/c.yaml": "role: c\nversion: 1\nrequires: [d, b]\nresources: []\n",
			"host-roles/d.yaml": "role: d\nversion: 1\nrequires: [c]\nresources: []\n",
			"hosts/h.yaml":      "name: h\nroles: [t, d, c, b]\n",
		}, `host-roles/c.yaml:3:12: R6: the roles require each other: d -> c -> d; take one of them out of requires
host-roles/c.yaml:3:15: R6: the roles require each other: b -> c -> b; take one of them out of requires
host-roles/q.yaml:3:12: R6: the roles require each other: q -> q; take one of them out of requires
host-roles/t.yaml:3:12: R6: the roles require each other: t -> t; take one of them out of requires`},
		"a package with and without an architecture, on no host": {map[string]string{
			"host-roles/t.yaml": "role: t\nversion: 1\nresources:\n  - {type: package, name: nginx}\n  - {type: package, name: curl}\n  - {type: package, name: \"nginx:amd64\"}\n",
		}, "host-roles/t.yaml:6:5: R7: package:nginx:amd64: package nginx is declared with and without an architecture; line 4 declares package:nginx; keep one"},
		"the same on a host": {map[string]string{
			"hosts/h.yaml":      "name: h\nroles: [t]\n",
			"host-roles/t.yaml": "role: t\nversion: 1\nresources:\n  - {type: package, name: \"nginx:amd64\"}\n  - {type: package, name: \"nginx:arm64\"}\n  - {type: package, name: nginx}\n",
		}, "host-roles/t.yaml:6:5: R7: package:nginx: package nginx is declared with and without an architecture; line 4 declares package:nginx:amd64; keep one"},
		"across roles": {map[string]string{
			"hosts/h.yaml":      "name: h\nroles: [t, u]\n",
			"host-roles/t.yaml": "role: t\nversion: 1\nresources:\n  - {type: package, name: \"nginx:amd64\"}\n",
			"host-roles/u.yaml": "role: u\nversion: 1\nresources:\n  - {type: package, name: nginx}\n",
		}, "hosts/h.yaml:2:12: R7: package nginx is declared with and without an architecture, by t and u; declare it once"},
		"a role without a name": {map[string]string{
			"host-roles/t.yaml": "role: t\nversion: 1\nrequires: [\"\"]\nresources: []\n",
		}, `host-roles/t.yaml:3:12: wrong-value: requires[0]: "" is not allowed; write a role name: lower-case letters, digits, inner hyphens and underscores, at most 63`},
	} {
		if got := strings.Join(lines(open(t, catalog(t, c.files)).Validate()), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
