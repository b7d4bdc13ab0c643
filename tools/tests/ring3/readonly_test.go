package ring3

import (
	"regexp"
	"strings"
	"testing"
)

// mutating are the calls that can change a file system, and open(2), whose flags decide. A question mark lets an
// strace that does not know the call go on.
const mutating = "?open,openat,?openat2,?creat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,?mkdir,?mkdirat,?mknod,?mknodat," +
	"?link,?linkat,?symlink,?symlinkat,?chmod,?fchmod,?fchmodat,?fchmodat2,?chown,?fchown,?lchown,?fchownat,?truncate,?ftruncate,?fallocate," +
	"?setxattr,?lsetxattr,?fsetxattr,?removexattr,?lremovexattr,?fremovexattr,?utime,?utimes,?utimensat,?futimesat,?mount,?umount2,?pivot_root," +
	"?swapon,?sethostname,?settimeofday,?clock_settime,?kill,?tkill,?unshare,?setns"

var (
	opening  = regexp.MustCompile(`\b(open|openat|openat2)\(`)
	writing  = regexp.MustCompile(`O_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)`)
	quoted   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	folder   = regexp.MustCompile(`\((?:AT_FDCWD|\d+)<([^>]*)>`)
	signalTo = regexp.MustCompile(`\bt?kill\(`)
	// messages that tell systemd to do something. The method's name stands in the message as it is.
	orders = regexp.MustCompile(`(Start|Stop|Restart|Reload|TryRestart|ReloadOrRestart|Enable|Disable|Reenable|Preset|Mask|Unmask|Link|Reset|Kill|Set|Freeze|Attach|Ref)[A-Za-z]*(Unit|Units|UnitFiles|Failed|Properties|Environment|Reload)\b|\.Manager.{1,80}\b(Reload|Reexecute|PowerOff|Reboot|Halt)\b`)
)

// trace runs a check under strace and gives the lines of mutating calls outside the allowed folder, and those of
// messages that order systemd about.
func (m *managed) trace(allowed string, flags ...string) (o outcome, writes, jobs []string) {
	m.t.Helper()
	line := append([]string{"strace", "-f", "-y", "-s", "4096", "-o", "/run/trace", "-e", "trace=" + mutating + ",sendmsg,?sendmmsg,sendto,write", "-e", "signal=none"},
		command("check", append([]string{"-o", "json"}, flags...)...)...)
	o = m.read(m.Run(line...))
	text := m.Shell("cat /run/trace")
	if !strings.Contains(text, "openat(") {
		m.t.Fatalf("strace saw nothing: %s", o)
	}
	for _, call := range strings.Split(text, "\n") {
		_, rest, _ := strings.Cut(call, " ")
		switch rest = strings.TrimSpace(rest); {
		case strings.HasPrefix(rest, "write(") || strings.HasPrefix(rest, "send"):
			if strings.Contains(rest, "org.freedesktop.systemd1") && orders.MatchString(rest) {
				jobs = append(jobs, rest)
			}
		case strings.HasPrefix(rest, "+++") || strings.HasPrefix(rest, "<... ") || strings.HasPrefix(rest, "???("):
			// The end of a process, of a call whose beginning was judged, or of a thread that ended before its call began.
		case opening.MatchString(rest) && !writing.MatchString(rest), signalTo.MatchString(rest):
			// Reading, and signals between the program's own processes.
		case !harmless(rest, allowed):
			writes = append(writes, rest)
		}
	}
	return o, writes, jobs
}

// harmless says whether a mutating call stays in the allowed folder or goes to a terminal or to nothing.
func harmless(call, allowed string) bool {
	paths := quoted.FindAllStringSubmatch(call, -1)
	base := folder.FindStringSubmatch(call)
	if len(paths) == 0 && base != nil {
		paths = [][]string{{"", base[1]}}
	}
	for _, p := range paths {
		path := p[1]
		if !strings.HasPrefix(path, "/") && base != nil {
			path = base[1] + "/" + path
		}
		inside := allowed != "" && (path == allowed || strings.HasPrefix(path, allowed+"/"))
		if !inside && path != "/dev/null" && path != "/dev/tty" && !strings.HasPrefix(path, "/dev/pts/") {
			return false
		}
	}
	return len(paths) > 0
}

// everything declares one resource of each type that a check of a bare host has something to say about.
const everything = `
	- {type: package, name: gyrum-prober}
	- {type: package, name: base-part, version: "1.0"}
	- {type: directory, path: /etc/made/deep}
	- {type: file, path: /etc/made.conf, content: "x\n", owner: root}
	- {type: file, path: /etc/hostname, content: "other\n"}
	- {type: env, path: /etc/made.env, vars: {LEVEL: "debug"}}
	- {type: command, id: "command:mark", run: "touch /var/mark", creates: /var/mark}
	- {type: systemd_unit, name: gyrum-prober.service, state: started, enabled: true}
	- {type: systemd_unit, name: dbus.service, state: started}
`

func TestCheckIsReadOnly(t *testing.T) {
	m := bare(t)
	m.resources(everything)
	trees := []string{"/etc", "/usr", "/var", "/root", "/home", "/tmp", "/srv", "/opt"}
	m.Run("gyrum", "version")

	t.Run("it writes to its cache folder only", func(t *testing.T) {
		m := m.in(t)
		o, writes, jobs := m.trace("/var/cache/gyrum")
		if o.code == 64 || len(o.reports) != 1 || len(o.last().Items) < 5 {
			t.Fatalf("check: %s", o)
		}
		if len(writes) > 0 || len(jobs) > 0 {
			t.Errorf("writes:\n%s\norders to systemd:\n%s", strings.Join(writes, "\n"), strings.Join(jobs, "\n"))
		}
	})

	t.Run("nowhere without a cache", func(t *testing.T) {
		m := m.in(t)
		before, process := m.Snapshot(trees...), m.processes()
		o, writes, jobs := m.trace("", "--no-cache")
		if o.code == 64 || len(o.reports) != 1 {
			t.Fatalf("check: %s", o)
		}
		if len(writes) > 0 || len(jobs) > 0 {
			t.Errorf("writes:\n%s\norders to systemd:\n%s", strings.Join(writes, "\n"), strings.Join(jobs, "\n"))
		}
		if changes := before.Changes(m.Snapshot(trees...)); len(changes) > 0 {
			t.Errorf("it changed\n%s", strings.Join(changes, "\n"))
		}
		if after := m.processes(); after != process {
			t.Errorf("systemd was told something: before\n%s\nafter\n%s", process, after)
		}
	})

	t.Run("it works on a read-only file system", func(t *testing.T) {
		m := m.in(t)
		want := m.check().drifted()
		o := m.read(m.Run("unshare", "-m", "sh", "-c", "mount --make-rprivate / && mount -o remount,ro,bind / && exec \"$@\"", "sh",
			"gyrum", "check", "--catalog", "/c", "--host", "t", "-o", "json"))
		if o.drifted() != want {
			t.Errorf("check: %s, want %s\n%s", o.drifted(), want, o)
		}
	})

	t.Run("in another locale it says the same", func(t *testing.T) {
		m := m.in(t)
		want := m.check().drifted()
		o := m.read(m.RunWith([]string{"LANG=de_DE.UTF-8", "LANGUAGE=de", "LC_ALL=de_DE.UTF-8"}, "", command("check", "-o", "json")...))
		if o.drifted() != want {
			t.Errorf("check: %s, want %s", o.drifted(), want)
		}
	})
}

func TestCheckWithoutRootSaysWhatItCannotSee(t *testing.T) {
	m := bare(t)
	m.resources(`
		- {type: file, path: /etc/hostname, content: "open to all\n"}
		- {type: file, path: /root/closed, content: "x\n"}
		- {type: package, name: plain}
		- {type: systemd_unit, name: dbus.service, state: started}
	`)
	m.Shell("useradd --create-home someone; chmod 700 /root; echo x >/root/closed")
	as := func(m *managed, verb string, flags ...string) outcome {
		return m.read(m.Run(append([]string{"setpriv", "--reuid=someone", "--regid=someone", "--clear-groups", "env", "HOME=/home/someone"}, command(verb, flags...)...)...))
	}
	o := as(m, "check", "-o", "json")
	if o.code != 1 || o.drifted() != "write file:/etc/hostname, error: noop file:/root/closed, install package:plain" {
		t.Errorf("check: %s\n%s", o.drifted(), o)
	}
	closed := o.find("file:/root/closed")
	if closed.Reason.Code != "unobservable" || closed.Observed != nil {
		t.Errorf("what it may not see: %+v", closed)
	}

	t.Run("its cache is the user's own", func(t *testing.T) {
		m := m.in(t)
		if got := m.Shell("stat -c '%U %a' /home/someone/.cache/gyrum"); got != "someone 700" {
			t.Errorf("cache folder: %s", got)
		}
		if r := m.Run("test", "-e", "/var/cache/gyrum"); r.Code == 0 {
			t.Error("there is a cache folder of root's")
		}
	})

	t.Run("it does not guess a plan hash where the state is closed", func(t *testing.T) {
		m := m.in(t)
		m.Shell("install -d -m 700 /var/lib/gyrum")
		if o := as(m, "check", "-o", "json"); o.last().PlanHash != "" || !strings.Contains(o.result.Stdout, "/var/lib/gyrum") {
			t.Errorf("plan hash %q\n%s", o.last().PlanHash, o)
		}
	})
}

func TestCheckWithoutSystemdIsAnErrorAndNotAbsence(t *testing.T) {
	m := bare(t)
	m.resources(`
		- {type: systemd_unit, name: dbus.service, state: stopped}
		- {type: file, path: /etc/made, content: "x\n"}
	`)
	// The private socket and the bus are both gone for this process.
	o := m.read(m.Run("unshare", "-m", "sh", "-c", "mount --make-rprivate / && mount -t tmpfs none /run && exec \"$@\"", "sh",
		"gyrum", "check", "--catalog", "/c", "--host", "t", "-o", "json"))
	if o.code != 1 || o.drifted() != "error: noop systemd_unit:dbus.service, write file:/etc/made" {
		t.Errorf("check: %s\n%s", o.drifted(), o)
	}
	if it := o.find("systemd_unit:dbus.service"); it.Reason.Code != "unobservable" {
		t.Errorf("reason %+v", it.Reason)
	}
}
