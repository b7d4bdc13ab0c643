package ring3

import (
	"strings"
	"testing"
)

func TestSymlinksOnARealHost(t *testing.T) {
	m := boot(t)
	m.Shell(`mkdir -p /srv/l; echo one >/srv/l/one; echo two >/srv/l/two; ln -s two /srv/l/link; echo kept >/srv/l/file; ln -s one /srv/l/gone`)
	m.unit("reader.service", "[Service]\nExecStart=/bin/sleep infinity\n")
	m.Shell("systemctl start reader")
	m.resources(`
	- {type: symlink, path: /srv/l/link, target: one}
	- {type: symlink, path: /srv/l/new, target: /nowhere/yet, owner: "12", group: "34"}
	- {type: symlink, path: /srv/l/gone, target: one, state: absent}
	- {type: systemd_unit, name: reader.service, state: started, restart_on: [symlink:/srv/l/link]}
	`)
	before := m.property("reader.service", "MainPID")
	if o := m.check(); o.drifted() != "write symlink:/srv/l/link, write symlink:/srv/l/new, remove symlink:/srv/l/gone, start systemd_unit:reader.service" {
		t.Fatalf("check: %s", o)
	}
	m.converge()
	if got := m.Shell(`readlink /srv/l/link; readlink /srv/l/new; stat -c %u:%g /srv/l/new; ls /srv/l; cat /srv/l/one`); got != "one\n/nowhere/yet\n12:34\nfile\nlink\nnew\none\ntwo\none" {
		t.Errorf("the folder is\n%s", got)
	}
	if m.property("reader.service", "MainPID") == before {
		t.Error("the unit was not restarted when its link came to lead elsewhere")
	}
	// A file in the place may be the only copy of something.
	m.resources(`- {type: symlink, path: /srv/l/file, target: one}`)
	if o := m.apply(); o.code != 1 || m.Shell("cat /srv/l/file") != "kept" {
		t.Errorf("a file in the place: %s", o)
	}
}

func TestAccountsOnARealHost(t *testing.T) {
	m := boot(t)
	m.resources(`
	- {type: group, name: web, gid: 4321}
	- {type: user, name: app, uid: 4320, groups: [web], home: /srv/app, shell: /bin/sh}
	- {type: user, name: daemon-x, system: true}
	- {type: directory, path: /srv/app, owner: app, group: app, mode: "0750"}
	- {type: file, path: /srv/app/a, content: "a\n", owner: daemon-x, group: web}
	`)
	o := m.check()
	if o.code != 2 || o.drifted() != "write group:web, write user:app, write user:daemon-x, write directory:/srv/app, write file:/srv/app/a" {
		t.Fatalf("accounts that earlier items make satisfy what later ones need: %s", o)
	}
	m.converge()
	for question, want := range map[string]string{
		"getent group web":                         "web:x:4321:app",
		"getent passwd app":                        "app:x:4320:4320::/srv/app:/bin/sh",
		"getent passwd daemon-x | cut -d: -f6,7":   "/nonexistent:/usr/sbin/nologin",
		"getent shadow app | cut -d: -f2":          "!",
		"stat -c %U:%G /srv/app /srv/app/a":        "app:app\ndaemon-x:web",
		"test $(id -u daemon-x) -lt 1000; echo $?": "0",
	} {
		if got := m.Shell(question); got != want {
			t.Errorf("%s: %s, want %s", question, got, want)
		}
	}

	// A password that somebody gave stays as it is, whatever else changes.
	m.Shell(`usermod -p '$6$x$y' app; usermod -a -G adm app; touch /srv/app/mine; chown app /srv/app/mine`)
	m.resources(`
	- {type: group, name: web, gid: 4322}
	- {type: user, name: app, uid: 4330, groups: [web], home: /srv/app, shell: /bin/bash}
	`)
	if o := m.check(); o.drifted() != "write group:web, write user:app" || !strings.Contains(o.find("user:app").Reason.Text, "groups are adm, web, declared web") {
		t.Fatalf("check: %s", o)
	}
	m.converge()
	if got := m.Shell("getent shadow app | cut -d: -f2; getent passwd app; getent group web; id -nG app; stat -c %U /srv/app/mine"); got != "$6$x$y\napp:x:4330:4320::/srv/app:/bin/bash\nweb:x:4322:app\napp web\napp" {
		t.Errorf("the accounts are\n%s", got)
	}

	// No process is ended for a change, and no home folder goes with its user.
	m.Shell("setpriv --reuid=4330 --regid=4320 --clear-groups sleep 1000 >/dev/null 2>&1 & sleep 0.2")
	m.resources(`- {type: user, name: app, state: absent}`)
	if o := m.check(); o.code != 1 || !strings.Contains(o.find("user:app").Blocked, "processes of app run") {
		t.Fatalf("a user whose processes run: %s", o)
	}
	m.Shell("pkill -U 4330 sleep; sleep 0.2")
	m.resources(`
	- {type: user, name: app, state: absent}
	- {type: group, name: app, state: absent}
	- {type: group, name: web, state: absent}
	`)
	m.converge()
	if got := m.Shell("getent passwd app || true; getent group app web || true; ls /srv/app"); got != "a\nmine" {
		t.Errorf("after the removal: %s", got)
	}
}

func TestLinesOnARealHost(t *testing.T) {
	m := boot(t)
	m.Shell(`printf '# head\nPort 22\n[main]\nx=1\n' >/etc/own.conf; chmod 640 /etc/own.conf; chgrp adm /etc/own.conf; setfattr -n user.note -v kept /etc/own.conf 2>/dev/null; ln -s own.conf /etc/link.conf`)
	m.resources(`
	- {type: line, path: /etc/own.conf, key: port, line: "Port 2222", match: "^Port "}
	- {type: line, path: /etc/own.conf, key: y, line: "y=2", after: '^\[main\]$'}
	- {type: line, path: /etc/own.conf, key: last, line: "# end"}
	- {type: line, path: /etc/own.conf, key: head, line: "# head", state: absent}
	`)
	if o := m.check(); o.drifted() != "write line:/etc/own.conf#port, write line:/etc/own.conf#y, write line:/etc/own.conf#last, remove line:/etc/own.conf#head" {
		t.Fatalf("check: %s", o)
	}
	m.converge()
	if got := m.Shell("cat /etc/own.conf; stat -c %a:%G /etc/own.conf"); got != "Port 2222\n[main]\ny=2\nx=1\n# end\n640:adm" {
		t.Errorf("the file is\n%s", got)
	}
	// What its owner does elsewhere in the file is nobody's drift, and a line comes back alone.
	m.Shell("echo z=3 >>/etc/own.conf; sed -i 's/^Port.*/Port 99/' /etc/own.conf")
	if o := m.check(); o.drifted() != "write line:/etc/own.conf#port" {
		t.Fatalf("check: %s", o)
	}
	m.converge()
	m.resources(`
	- {type: line, path: /etc/link.conf, key: a, line: "a"}
	- {type: line, path: /etc/not-there, key: a, line: "a"}
	`)
	if o := m.apply(); o.code != 1 || m.Shell("readlink /etc/link.conf; ls /etc/not-there 2>/dev/null || true") != "own.conf" {
		t.Errorf("a link and a file that is not there: %s", o)
	}
}

// TestReportsNameTheLowestSchema shows that a host that carries only the first six types stays with the first version.
func TestReportsNameTheLowestSchema(t *testing.T) {
	m := boot(t)
	m.resources(`
	- {type: file, path: /srv/a, content: ""}
	- {type: symlink, path: /srv/l, target: a}
	`)
	if o := m.check(); !strings.Contains(o.result.Stdout, "drift-report.v2.json") {
		t.Errorf("a symlink in a report of version 1: %s", o)
	}
	m.apply()
	m.Shell("rm /srv/a")
	if o := m.check(); !strings.Contains(o.result.Stdout, "drift-report.v1.json") {
		t.Errorf("a report whose items are of version 1: %s", o)
	}
}
