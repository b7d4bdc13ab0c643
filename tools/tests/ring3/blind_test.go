package ring3

import (
	"slices"
	"strings"
	"testing"
)

// blind declares a resource of each type and in each wanted state; of none of them may a host that shows nothing say that
// it is in sync, or that it is absent.
const blind = `
	- {type: package, name: plain}
	- {type: package, name: base-part, state: absent}
	- {type: package, name: gyrum-prober, version: "1.0-1"}
	- {type: directory, path: /root/closed}
	- {type: directory, path: /root/gone, state: absent}
	- {type: file, path: /root/closed/file, content: "x\n"}
	- {type: file, path: /root/secret, content: {secret_ref: "file:/etc/gyrum/secrets/app"}}
	- {type: file, path: /root/gone/file, state: absent}
	- {type: env, path: /root/env, vars: {LEVEL: debug}}
	- {type: env, path: /root/gone.env, state: absent}
	- {type: command, id: "command:mark", run: "touch /root/mark", creates: /root/mark}
	- {type: systemd_unit, name: app.service, state: started, enabled: true}
	- {type: systemd_unit, name: ghost.service, state: stopped, enabled: false}
`

// judge asserts a complete report, exit 1, and that nothing unseen counts as absent or in sync.
func (m *managed) judge(o outcome, seen ...string) {
	m.t.Helper()
	if o.code != 1 || len(o.reports) != 1 {
		m.t.Fatalf("check: %s", o)
	}
	r := o.last()
	if want := strings.Count(blind, "- {type:"); r.Stats.ResourcesChecked != want {
		m.t.Errorf("%d resources were checked of %d", r.Stats.ResourcesChecked, want)
	}
	for line := range strings.Lines(blind) {
		id := resourceID(line)
		if id == "" {
			continue
		}
		it := o.find(id)
		switch {
		case slices.Contains(seen, id):
		case it.Resource.ID == "":
			m.t.Errorf("%s cannot be seen, and counts as in sync", id)
		case it.Severity != "error" || it.Action.Verb != "noop" || it.Observed != nil || it.Reason.Code != "unobservable" || it.Reason.Text == "":
			m.t.Errorf("%s: %s %s %s (%s), observed %v", id, it.Severity, it.Action.Verb, it.Reason.Code, it.Reason.Text, it.Observed)
		}
	}
}

// resourceID is the id that a line of the list above declares.
func resourceID(line string) string {
	fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("{},\n", r) })
	typ, key := "", ""
	for _, f := range fields {
		name, value, _ := strings.Cut(strings.TrimSpace(f), ": ")
		switch name {
		case "type":
			typ = value
		case "name", "path":
			key = typ + ":" + value
		case "id":
			return strings.Trim(value, `"`)
		}
	}
	return key
}

// TestCheckWhereNothingCanBeSeen: a user without rights in a tree without dpkg, systemd, /proc or a cache gets a whole
// report in which every resource says why it cannot be seen, in text as in JSON.
func TestCheckWhereNothingCanBeSeen(t *testing.T) {
	m := boot(t)
	m.resources(blind)
	m.Shell("useradd --create-home someone; chmod 700 /root; install -d -m 700 /var/lib/gyrum")
	// The tree holds the program, the catalog, the accounts, and folders that only root may look into.
	m.Shell(`mkdir -p /bare/opt/gyrum /bare/c /bare/etc /bare/root /bare/tmp
		chmod 700 /bare/root
		cp /opt/gyrum/gyrum /bare/opt/gyrum/
		cp -r /c/. /bare/c/
		cp /etc/passwd /etc/group /bare/etc/`)
	within := func(flags ...string) []string {
		return append([]string{"unshare", "--mount", "--pid", "--fork", "chroot", "--userspec=someone:someone", "/bare",
			"/opt/gyrum/gyrum", "check", "--catalog", "/c", "--host", "t"}, flags...)
	}
	for name, flags := range map[string][]string{"with a cache": nil, "without a cache": {"--no-cache"}} {
		t.Run(name, func(t *testing.T) {
			m := m.in(t)
			m.judge(m.read(m.Run(within(append([]string{"-o", "json"}, flags...)...)...)))
		})
	}

	t.Run("in text", func(t *testing.T) {
		m := m.in(t)
		r := m.Run(within()...)
		shown := strings.Join(strings.Fields(r.Stdout), " ")
		for line := range strings.Lines(blind) {
			if typ, key, ok := strings.Cut(resourceID(line), ":"); ok && !strings.Contains(shown, "! "+typ+" "+key) {
				t.Errorf("%s %s is not named", typ, key)
			}
		}
		if r.Code != 1 || !strings.Contains(shown, " 13 errors, 0 in sync") {
			t.Errorf("%s", r)
		}
	})

	t.Run("root sees files, but neither dpkg nor systemd", func(t *testing.T) {
		m := m.in(t)
		m.judge(m.read(m.Run("unshare", "--mount", "--pid", "--fork", "chroot", "/bare", "/opt/gyrum/gyrum", "check", "--catalog", "/c", "--host", "t", "-o", "json")),
			"directory:/root/closed", "directory:/root/gone", "file:/root/closed/file", "file:/root/secret", "file:/root/gone/file", "env:/root/env", "env:/root/gone.env", "command:mark")
	})

	t.Run("a user on a whole host", func(t *testing.T) {
		m := m.in(t)
		o := m.read(m.Run(append([]string{"setpriv", "--reuid=someone", "--regid=someone", "--clear-groups", "env", "HOME=/home/someone"}, command("check", "-o", "json")...)...))
		m.judge(o, "package:plain", "package:base-part", "package:gyrum-prober", "systemd_unit:app.service", "systemd_unit:ghost.service")
		if got := o.find("package:base-part"); got.Resource.ID != "" {
			t.Errorf("dpkg can be read by everybody: %+v", got)
		}
	})
}
