package ring3

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/tools/tests/realhost"
)

// blocked asserts that an apply ends in an error for the resource and changes nothing beneath the folder.
func (m *managed) blocked(id, folder string) {
	m.t.Helper()
	before := m.Snapshot(folder)
	o := m.apply()
	if it := o.find(id); o.code != 1 || it.Result == nil && it.Blocked == "" {
		m.t.Errorf("apply: %s", o)
	}
	if strings.Contains(o.result.String(), "panic") {
		m.t.Errorf("apply: %s", o)
	}
	after := m.Snapshot(folder)
	// A temporary file that came and went leaves its mark on the folder alone.
	before[folder], after[folder] = realhost.Entry{}, realhost.Entry{}
	if changes := before.Changes(after); len(changes) > 0 {
		m.t.Errorf("the apply that failed changed %s", strings.Join(changes, "\n"))
	}
}

func TestFileInAPlaceThatItCannotReplace(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	m := boot(t, realhost.Bind{Outside: shared, Inside: "/t", Writable: true})
	const two = "- {type: file, path: /t/h, content: new}\n- {type: file, path: /t/other, content: x}"

	t.Run("a mount point", func(t *testing.T) {
		m := m.in(t)
		m.Shell("cd /t; echo below >h; echo mounted >/run/source; mount --bind /run/source h")
		defer m.Shell("umount /t/h; rm -f /t/h /t/other")
		m.resources("- {type: file, path: /t/h, content: new}")
		o := m.apply()
		if got := m.Shell("cat /t/h"); o.code == 0 && got != "new" || o.code != 0 && got != "mounted" {
			t.Errorf("exit %d, and the file reads %q", o.code, got)
		}
		if got := m.Shell("ls -A /t"); got != "h" {
			t.Errorf("left behind: %s", got)
		}
	})

	t.Run("an immutable file", func(t *testing.T) {
		m := m.in(t)
		m.Shell("echo old >/t/h")
		path := filepath.Join(shared, "h")
		if out, err := exec.Command("chattr", "+i", path).CombinedOutput(); err != nil {
			t.Fatalf("chattr: %v: %s", err, out)
		}
		defer func() { _ = exec.Command("chattr", "-i", path).Run() }()
		m.resources("- {type: file, path: /t/h, content: new}")
		m.blocked("file:/t/h", "/t")
		out, err := exec.Command("lsattr", path).Output()
		if err != nil || !strings.Contains(strings.Fields(string(out))[0], "i") {
			t.Errorf("the attribute is gone: %s", out)
		}
	})

	t.Run("a read-only file system", func(t *testing.T) {
		m := m.in(t)
		m.Shell("mkdir -p /closed; echo old >/closed/h; mount --bind /closed /closed; mount -o remount,ro,bind /closed")
		defer m.Shell("umount /closed")
		m.resources(strings.ReplaceAll(two, "/t/h", "/closed/h"))
		o := m.check()
		if o.find("file:/closed/h").Resource.ID == "" {
			t.Errorf("check: %s", o)
		}
		m.blocked("file:/closed/h", "/closed")
	})

	t.Run("a full file system", func(t *testing.T) {
		m := m.in(t)
		m.Shell("mkdir -p /full; mount -t tmpfs -o size=64k none /full; echo old >/full/h; head -c 60000 /dev/zero >/full/filler || true")
		defer m.Shell("umount /full")
		m.resources("- {type: file, path: /full/h, content: '" + strings.Repeat("x", 20000) + "'}")
		m.blocked("file:/full/h", "/full")
	})
}

func TestSymlinkInAPlaceOfAFile(t *testing.T) {
	m := boot(t)
	reset := "rm -rf /t; mkdir /t; echo keep >/t/real; chmod 600 /t/real; ln -s real /t/l"
	m.Shell(reset)
	for name, declared := range map[string]string{
		"absent removes the link":      "{type: file, path: /t/l, state: absent}",
		"present replaces the link":    `{type: file, path: /t/l, content: "other"}`,
		"the same bytes are no excuse": `{type: file, path: /t/l, content: "keep\n", mode: "0600"}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := m.in(t)
			m.Shell(reset)
			before := m.Snapshot("/t/real")
			m.resources("- " + declared)
			if o := m.check(); o.code != 2 {
				t.Errorf("check: %s", o)
			}
			m.converge()
			if changes := before.Changes(m.Snapshot("/t/real")); len(changes) > 0 {
				t.Errorf("the link's target changed: %v", changes)
			}
			if r := m.Run("test", "-L", "/t/l"); r.Code == 0 {
				t.Error("the link is still there")
			}
		})
	}
}

// TestNamesOfAnyCharacters makes and takes away a tree of names that no shell and no terminal likes, the folder above all
// declared first.
func TestNamesOfAnyCharacters(t *testing.T) {
	m := boot(t)
	const names = `
		- {type: directory, path: "/t/d\nx"}
		- {type: file, path: "/t/d\nx/ a\tb\e[31m\r\n$(id)*", content: "x"}
		- {type: env, path: "/t/d\nx/-e\n", vars: {A: "1"}}
		- {type: symlink, path: "/t/d\nx/l\n", target: "a\nb"}`
	m.Shell("mkdir -p /t; touch $(printf '/t/\\377\\376')")
	m.resources(names)
	m.converge()
	if text := m.Run(command("check", "-v")...).Stdout; strings.ContainsAny(text, "\x1b\r") || !strings.Contains(text, `d\nx/ a\tb\x1b[31m\r\n$(id)*`) {
		t.Errorf("a terminal gets %q", text)
	}
	if got := m.Shell(`cd "/t/d
x" && ls -A | wc -l && cat " a"* && readlink l*`); got != "6\nxa\nb" {
		t.Errorf("got %q", got)
	}
	gone := strings.NewReplacer(`, content: "x"}`, ", state: absent}", `, vars: {A: "1"}}`, ", state: absent}", "}", ", state: absent}").Replace(names)
	m.resources(gone)
	m.converge()
	if got := m.Shell("ls -A /t | wc -l"); got != "1" {
		t.Errorf("%s names are left, want the one that nobody declared", got)
	}
}

func TestAttributesSurviveAReplacement(t *testing.T) {
	shared := t.TempDir()
	m := boot(t, realhost.Bind{Outside: shared, Inside: "/t", Writable: true})
	m.Shell("chmod 755 /t; echo old >/t/f; setfattr -n user.note -v kept /t/f; setfacl -m u:daemon:r /t/f; ln /t/f /t/twin")
	m.resources(`- {type: file, path: /t/f, content: "new\n", mode: "0640"}`)
	o := m.check()
	if it := o.find("file:/t/f"); !strings.Contains(it.Note+it.Reason.Text, "link") {
		t.Errorf("the second name of the file goes unsaid: %s", o)
	}
	m.converge()
	if got := m.Shell("cat /t/f /t/twin; getfattr --only-values -n user.note /t/f 2>/dev/null; echo; getfacl -c /t/f 2>/dev/null | grep daemon; stat -c %a /t/f"); !strings.HasPrefix(got, "new\nold\nkept\nuser:daemon:r--") {
		t.Errorf("after the replacement: %s", got)
	}
}

// TestModesWhateverTheUmask also covers a directory whose parent hands on its group.
func TestModesWhateverTheUmask(t *testing.T) {
	m := boot(t)
	m.Shell("groupadd shared; mkdir /t; chgrp shared /t; chmod 2775 /t")
	m.resources(`
		- {type: file, path: /t/f, content: x, mode: "0666"}
		- {type: directory, path: /t/d, mode: "0777"}
		- {type: directory, path: /t/plain, mode: "0755"}
		- {type: env, path: /t/e, vars: {A: b}}
	`)
	for _, umask := range []string{"077", "000"} {
		m.Shell("rm -rf /t/*")
		o := m.read(m.Run("sh", "-c", "umask "+umask+"; exec \"$@\"", "sh", "gyrum", "apply", "--auto-confirm", "--catalog", "/c", "--host", "t", "-o", "json"))
		if o.code != 0 {
			t.Fatalf("apply: %s", o)
		}
		if got, want := m.Shell("stat -c '%a %G %n' /t /t/*"), "2775 shared /t\n777 root /t/d\n640 root /t/e\n666 root /t/f\n755 root /t/plain"; got != want {
			t.Errorf("umask %s:\n%s\nwant\n%s", umask, got, want)
		}
	}
}

func TestAccountsOutsideThePasswordFile(t *testing.T) {
	m := boot(t)
	m.resources(`
		- {type: file, path: /etc/by-number, content: x, owner: "12321", group: "32123"}
		- {type: file, path: /etc/by-zero, content: x, owner: "0", group: "0"}
	`)
	m.converge()
	if got := m.Shell("stat -c '%u %g' /etc/by-number /etc/by-zero"); got != "12321 32123\n0 0" {
		t.Errorf("owners: %s", got)
	}
	m.Shell("mkdir -p /var/lib/extrausers; echo elsewhere:x:4321:4321::/:/bin/sh >/var/lib/extrausers/passwd; echo elsewhere:x:4321: >/var/lib/extrausers/group")
	m.Shell("sed -i 's/^passwd:.*/passwd: files extrausers/; s/^group:.*/group: files extrausers/' /etc/nsswitch.conf; getent passwd elsewhere")
	m.resources("- {type: file, path: /etc/by-name, content: x, owner: elsewhere, group: elsewhere}")
	m.converge()
	if got := m.Shell("stat -c '%u %g' /etc/by-name"); got != "4321 4321" {
		t.Errorf("owner: %s", got)
	}
	m.resources("- {type: file, path: /etc/blocked, content: x, owner: nosuchuser}")
	if o := m.apply(); o.code != 1 || !strings.Contains(o.find("file:/etc/blocked").Blocked, "nosuchuser") {
		t.Errorf("apply: %s", o)
	}
}
