package ring3

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// statuses lists what became of the items of an apply, as "id status".
func (o outcome) statuses() string {
	var words []string
	if len(o.reports) > 0 {
		for _, it := range o.reports[0].Items {
			words = append(words, it.Resource.ID+" "+it.status())
		}
	}
	return strings.Join(words, ", ")
}

// roles makes these the roles of the host: name, what it requires, and its resources.
func (m *managed) roles(roles ...[3]string) {
	m.t.Helper()
	var names []string
	for _, r := range roles {
		names = append(names, r[0])
		m.put("host-roles/"+r[0]+".yaml", "role: "+r[0]+"\nversion: 1\ndescription: what the test declares; its commands may run again\nrequires: ["+r[1]+"]\nmutually_exclusive: []\nresources:\n"+indent(r[2]))
	}
	m.put("hosts/t.yaml", "name: t\nroles: ["+strings.Join(names, ", ")+"]\n")
	if err := os.Remove(filepath.Join(m.catalog, "host-roles", "t.yaml")); err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
}

// TestAFailureHoldsBackWhatBuildsOnIt: the rest of its role and the roles that require it, and nothing else; what cannot
// be done is known before anything runs.
func TestAFailureHoldsBackWhatBuildsOnIt(t *testing.T) {
	m := boot(t)
	const rest = `
		- {type: file, path: /etc/%[1]s, content: x}
	`
	file := func(name string) string { return fmt.Sprintf(rest, name) }
	for _, parallel := range []string{"1", "4"} {
		m.Shell("rm -f /etc/a1 /etc/a2 /etc/b /etc/c /etc/d")
		m.roles([3]string{"a", "", file("a1") + "\t\t- {type: command, id: \"command:fails\", run: \"exit 3\", creates: /var/never}\n" + file("a2")},
			[3]string{"b", "a", file("b")}, [3]string{"c", "b", file("c")}, [3]string{"d", "", file("d")})
		o := m.apply("--parallel", parallel)
		if o.code != 1 || o.statuses() != "file:/etc/a1 applied, command:fails failed, file:/etc/a2 skipped, file:/etc/b skipped, file:/etc/c skipped, file:/etc/d applied" {
			t.Errorf("--parallel %s: %s\n%s", parallel, o.statuses(), o)
		}
		if why := o.find("file:/etc/c").Result.Error; !strings.Contains(why, "command:fails failed") {
			t.Errorf("why c was held back: %q", why)
		}
		m.Shell("test -e /etc/a1 -a -e /etc/d -a ! -e /etc/a2 -a ! -e /etc/b -a ! -e /etc/c")
	}
	m.roles([3]string{"a", "", "- {type: file, path: /etc/missing/x, content: x}\n" + file("a2")}, [3]string{"b", "a", file("b")}, [3]string{"d", "", file("d")})
	m.Shell("rm -f /etc/d")
	c := m.check()
	if c.code != 1 || c.find("file:/etc/missing/x").Blocked == "" {
		t.Errorf("check: %s", c)
	}
	for _, id := range []string{"file:/etc/a2", "file:/etc/b"} {
		if !strings.Contains(c.find(id).Note, "would hold this back") {
			t.Errorf("%s: %q", id, c.find(id).Note)
		}
	}
	if o := m.gyrum("apply", "--confirm-plan", c.last().PlanHash); o.code != 1 || o.statuses() != "file:/etc/missing/x blocked, file:/etc/a2 skipped, file:/etc/b skipped, file:/etc/d applied" {
		t.Errorf("apply: %s", o)
	}

	t.Run("roles really run beside each other", func(t *testing.T) {
		m := m.in(t)
		meet := func(own, other string) string {
			return fmt.Sprintf("- {type: command, id: \"command:%[1]s\", run: \"touch /run/%[1]s; while ! test -e /run/%[2]s; do sleep 0.05; done; touch /var/%[1]s\", creates: /var/%[1]s, timeout: 20s}\n", own, other)
		}
		m.roles([3]string{"a", "", meet("left", "right")}, [3]string{"b", "", meet("right", "left")})
		if o := m.apply("--parallel", "2"); o.code != 0 {
			t.Errorf("two roles that wait for each other: %s", o)
		}
	})
}

// TestWhatTheDiskRefuses: nothing is done that cannot be recorded, nothing is half written, and nothing is called done.
func TestWhatTheDiskRefuses(t *testing.T) {
	m := boot(t)
	verify := func(t *testing.T) {
		t.Helper()
		if r := m.in(t).Run("gyrum", "history", "verify"); r.Code != 0 {
			t.Errorf("the journal: %s", r)
		}
	}
	t.Run("the target is full", func(t *testing.T) {
		m := m.in(t)
		m.Shell("mkdir /etc/small; mount -t tmpfs -o size=64k none /etc/small; printf old >/etc/small/x")
		m.put("host-roles/t/files/large", strings.Repeat("x", 500<<10))
		m.resources("- {type: file, path: /etc/small/x, source: large}\n- {type: file, path: /etc/after, content: x}")
		if o := m.apply(); o.code != 1 || o.statuses() != "file:/etc/small/x failed, file:/etc/after skipped" {
			t.Errorf("apply: %s", o)
		}
		if got := m.Shell("cat /etc/small/x; ls -A /etc/small"); got != "oldx" {
			t.Errorf("the folder has %q", got)
		}
		verify(t)
		m.Shell("mount -o remount,size=4m /etc/small")
		m.converge()
	})
	t.Run("the state folder fills up in the middle", func(t *testing.T) {
		m := m.in(t)
		m.Shell("mount -t tmpfs -o size=256k,mode=700 none /var/lib/gyrum")
		m.resources(`
			- {type: command, id: "command:fill", run: "cat /dev/zero >/var/lib/gyrum/filler 2>/dev/null; touch /var/filled", creates: /var/filled}
			- {type: file, path: /etc/first, content: x}
			- {type: file, path: /etc/second, content: x}
		`)
		o := m.apply()
		if o.code == 0 {
			// The reserve was enough to record all of it.
			if made, _ := m.count("file:/etc/second"); made != 1 {
				t.Errorf("it converged and does not say how: %s", o)
			}
		} else if o.code != 1 {
			t.Errorf("apply: %s", o)
		}
		m.Shell("rm /var/lib/gyrum/filler")
		verify(t)
		m.converge()
		m.Shell("umount /var/lib/gyrum")
	})
	t.Run("the record is taken away in the middle", func(t *testing.T) {
		m := m.in(t)
		m.Shell("rm -f /etc/first /etc/second")
		m.resources(`
			- {type: command, id: "command:mount", run: "mount -t tmpfs -o mode=700 none /var/lib/gyrum; touch /var/mounted", creates: /var/mounted}
			- {type: file, path: /etc/first, content: x}
		`)
		o := m.apply()
		if o.code != 1 || !strings.Contains(o.result.Stderr, "taken away") || m.Run("test", "-e", "/etc/first").Code == 0 {
			t.Errorf("apply: %s", o)
		}
		m.Shell("umount /var/lib/gyrum")
		verify(t)
		m.converge()
	})
	t.Run("the state folder is not the user's", func(t *testing.T) {
		m := m.in(t)
		m.Shell("useradd -m jo; rm -f /etc/first")
		m.resources("- {type: file, path: /etc/first, content: x}")
		m.Shell("mkdir -p /var/lib/gyrum; chmod 700 /var/lib/gyrum")
		as := func(line ...string) outcome {
			return m.read(m.Run(append([]string{"setpriv", "--reuid=jo", "--regid=jo", "--clear-groups", "env", "HOME=/home/jo"}, append(line, "-o", "json")...)...))
		}
		if o := as(command("check")...); o.code != 2 || o.last().PlanHash != "" {
			t.Errorf("check: %s", o)
		}
		if o := as(command("apply", "--auto-confirm")...); o.code != 1 || m.Run("test", "-e", "/etc/first").Code == 0 {
			t.Errorf("apply: %s", o)
		}
	})
	t.Run("others could write to the state folder", func(t *testing.T) {
		m := m.in(t)
		m.Shell("chmod 777 /var/lib/gyrum")
		if o := m.apply(); o.code != 1 || !strings.Contains(o.result.Stderr, "chmod 0700") {
			t.Errorf("apply: %s", o)
		}
		m.Shell("chmod 700 /var/lib/gyrum")
		m.converge()
	})
}

// TestWhatTakesTooLongIsEnded: each kind of action has its bound, and what is said then is that it failed.
func TestWhatTakesTooLongIsEnded(t *testing.T) {
	m := boot(t)
	m.unit("slow.service", "[Service]\nType=notify\nTimeoutStartSec=2\nExecStart=/bin/sleep infinity\n")
	m.unit("stubborn.service", "[Service]\nTimeoutStopSec=2\nExecStart=/bin/sh -c \"trap '' TERM; while :; do sleep 1; done\"\n")
	m.Shell("systemctl start stubborn")
	m.roles(
		[3]string{"a", "", `- {type: command, id: "command:slow", run: "sleep 600 & sleep 600", creates: /var/never, timeout: "1s"}`},
		[3]string{"b", "", `- {type: systemd_unit, name: slow.service, state: started}`},
		[3]string{"c", "", `- {type: systemd_unit, name: stubborn.service, state: stopped}`},
	)
	begun := time.Now()
	o := m.apply()
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	if o.code != 1 || o.statuses() != "command:slow failed, systemd_unit:slow.service failed, systemd_unit:stubborn.service applied" {
		t.Errorf("apply: %s", o)
	}
	for id, want := range map[string]string{"command:slow": "1s", "systemd_unit:slow.service": "timeout"} {
		if text := o.find(id).Result.Error; !strings.Contains(text, want) {
			t.Errorf("%s: %q does not speak of %s", id, text, want)
		}
	}
	if got := m.Shell("pgrep -c -f 'sleep [6]00' || true"); got != "0" {
		t.Errorf("%s processes of the command live on", got)
	}
}

// TestASecondSignalCorruptsNothing: the action in hand finishes however often one asks.
func TestASecondSignalCorruptsNothing(t *testing.T) {
	m := boot(t)
	m.resources(`
		- {type: command, id: "command:slow", run: "touch /run/begun; sleep 2; touch /var/slow", creates: /var/slow}
		- {type: file, path: /etc/after, content: x}
	`)
	p := m.Start(command("apply", "--auto-confirm", "-o", "json")...)
	m.waitFor("test -e /run/begun")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM} {
		p.Signal(sig)
		time.Sleep(50 * time.Millisecond)
	}
	o := m.read(p.Wait())
	if o.code != 1 || o.statuses() != "command:slow applied, file:/etc/after skipped" {
		t.Errorf("apply: %s", o)
	}
	if r := m.Run("gyrum", "history", "verify"); r.Code != 0 {
		t.Errorf("the journal: %s", r)
	}
	m.converge()
}

// TestWhatCannotConvergeIsForetold: resources that undo each other are told apart from a host that is in sync, before
// and after.
func TestWhatCannotConvergeIsForetold(t *testing.T) {
	m := boot(t)
	m.unit("door.socket", "[Socket]\nListenStream=/run/door\n")
	m.unit("door.service", "[Service]\nExecStart=/bin/sleep infinity\n")
	m.Shell("systemctl start door.service")
	for name, tt := range map[string]struct{ resources, id, says string }{
		"a command whose mark another resource takes away": {`
			- {type: command, id: "command:make", run: "touch /etc/made", creates: /etc/made}
			- {type: file, path: /etc/made, state: absent}
		`, "command:make", "file:/etc/made"},
		"a folder that is to go and a file that is to be in it": {`
			- {type: file, path: /etc/gone.d/x, content: x}
			- {type: directory, path: /etc/gone.d, state: absent}
		`, "directory:/etc/gone.d", "file:/etc/gone.d/x"},
		"a service that is to be down and its socket that brings it up": {`
			- {type: systemd_unit, name: door.service, state: stopped}
			- {type: systemd_unit, name: door.socket, state: started}
		`, "systemd_unit:door.service", "door.socket"},
	} {
		t.Run(name, func(t *testing.T) {
			m := m.in(t)
			m.Shell("mkdir -p /etc/gone.d; rm -f /etc/made")
			m.resources(tt.resources)
			before := m.Snapshot("/etc")
			c := m.check("--speculate")
			if it := c.find(tt.id); !strings.Contains(it.Note+it.Blocked, tt.says) {
				t.Errorf("check: %q does not name %s: %s", it.Note, tt.says, c)
			}
			if changes := before.Changes(m.Snapshot("/etc")); len(changes) > 0 {
				t.Errorf("check changed %v", changes)
			}
			o := m.apply()
			if it := o.find(tt.id); !strings.Contains(it.Note+it.Blocked, tt.says) {
				t.Errorf("apply: %q does not name %s: %s", it.Note, tt.says, o)
			}
			if again := m.check(); (o.code == 0) != (again.code == 0) {
				t.Errorf("apply says %d, and the check after it %d: %s", o.code, again.code, again)
			}
		})
	}
}
