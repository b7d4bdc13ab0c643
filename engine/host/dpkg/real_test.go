//go:build realhost

// Run as root on a host that may be thrown away, with a flat repository /srv/repo that carries gyrum-prober in the
// versions 1.0-1, 1.1-1, 2.0~rc1-1 and 2.0-1, tiny-a, tiny-b (depends on tiny-a), tiny-virtual-provider (provides
// tiny-virtual) and tiny-conf (with the configuration file /etc/tiny-conf.conf).

package dpkg

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

func TestRealSimulations(t *testing.T) {
	var m Manager
	clean(t)
	tests := []struct {
		name, version, want, reason string
	}{
		{"gyrum-prober", "", "gyrum-prober=2.0-1", ""},
		{"gyrum-prober", "1.0-1", "gyrum-prober=1.0-1", ""},
		{"gyrum-prober:amd64", "", "gyrum-prober=2.0-1", ""},
		{"tiny-b", "", "tiny-a=1.0 tiny-b=1:0.5", ""},
		{"gyrum-prober", "9", "", fault.NotAvailable},
		{"nosuch", "", "", fault.NotAvailable},
		{"tiny-virtual", "", "", fault.Virtual},
		{"ti.y-a", "", "", fault.NotAvailable},
		{"g++", "", "", fault.NotAvailable},
		{"gyrum-prober+", "", "", fault.NotAvailable},
		{"tiny-a-", "", "", fault.NotAvailable},
		{"gyrum-prober:i386", "", "", fault.NotAvailable},
		{"gyrum-prober:nosucharch", "", "", fault.NotAvailable},
	}
	for _, tt := range tests {
		s, err := m.Simulate(context.Background(), host.PackageChange{Name: tt.name, Version: tt.version, State: "present"})
		if err != nil || strings.Join(s.Installs, " ") != tt.want || (s.Reason == nil) != s.OK || s.Reason != nil && s.Reason.Code != tt.reason || tt.reason != "" && s.OK {
			t.Errorf("%s %s: %+v %v %v", tt.name, tt.version, s, s.Reason, err)
		}
	}
	for _, name := range []string{"libc6", "perl-base", "libpam0g"} {
		s, err := m.Simulate(context.Background(), host.PackageChange{Name: name, State: "absent"})
		if err != nil || s.Reason == nil || s.Reason.Code != fault.WouldRemove {
			t.Errorf("removing %s: %+v %v", name, s, err)
		}
		t.Log(s.Reason)
	}
}

func TestRealRoundTrip(t *testing.T) {
	var m Manager
	ctx := context.Background()
	clean(t)
	steps := []struct {
		name      string
		do        func() ([]string, error)
		changed   string
		code      string
		installed string // name=version, afterwards
	}{
		{"a pinned version", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "1.1-1", false) }, "gyrum-prober=1.1-1", "", "gyrum-prober=1.1-1"},
		{"the same again", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "1.1-1", false) }, "", "", "gyrum-prober=1.1-1"},
		{"down, not asked for", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "1.0-1", false) }, "", fault.Invalid, "gyrum-prober=1.1-1"},
		{"down", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "1.0-1", true) }, "gyrum-prober=1.0-1", "", "gyrum-prober=1.0-1"},
		{"up", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "2.0-1", false) }, "gyrum-prober=2.0-1", "", "gyrum-prober=2.0-1"},
		{"no such version", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "9", false) }, "", fault.NotAvailable, "gyrum-prober=2.0-1"},
		{"a pattern", func() ([]string, error) { return m.Install(ctx, "ti.y-a", "", false) }, "", fault.NotAvailable, ""},
		{"a virtual name", func() ([]string, error) { return m.Install(ctx, "tiny-virtual", "", false) }, "", fault.Virtual, ""},
		{"with what it needs", func() ([]string, error) { return m.Install(ctx, "tiny-b", "", false) }, "tiny-a=1.0 tiny-b=1:0.5", "", "tiny-b=1:0.5"},
		{"needed by another", func() ([]string, error) { return m.Remove(ctx, "tiny-a") }, "", fault.WouldRemove, "tiny-a=1.0"},
		{"needed by another that leaves too", func() ([]string, error) { return m.Remove(ctx, "tiny-a", "tiny-b") }, "tiny-a- tiny-b-", "", ""},
		{"both again", func() ([]string, error) { return m.Install(ctx, "tiny-b", "", false) }, "tiny-a=1.0 tiny-b=1:0.5", "", "tiny-b=1:0.5"},
		{"remove", func() ([]string, error) { return m.Remove(ctx, "tiny-b") }, "tiny-b-", "", "tiny-a=1.0"},
		{"remove again", func() ([]string, error) { return m.Remove(ctx, "tiny-b") }, "", "", ""},
		{"hold", func() ([]string, error) { return nil, exec.Command("apt-mark", "hold", "gyrum-prober").Run() }, "", "", ""},
		{"held", func() ([]string, error) { return m.Install(ctx, "gyrum-prober", "1.0-1", true) }, "", fault.Held, "gyrum-prober=2.0-1"},
		{"held, remove", func() ([]string, error) { return m.Remove(ctx, "gyrum-prober") }, "", fault.Held, "gyrum-prober=2.0-1"},
		{"release", func() ([]string, error) { return nil, exec.Command("apt-mark", "unhold", "gyrum-prober").Run() }, "", "", ""},
		{"configuration files", func() ([]string, error) { return m.Install(ctx, "tiny-conf", "", false) }, "tiny-conf=1.0", "", "tiny-conf=1.0"},
		{"edit", func() ([]string, error) { return nil, os.WriteFile("/etc/tiny-conf.conf", []byte("mine\n"), 0o644) }, "", "", ""},
		{"they stay", func() ([]string, error) { return m.Remove(ctx, "tiny-conf") }, "tiny-conf-", "", ""},
		{"and are kept", func() ([]string, error) { return m.Install(ctx, "tiny-conf", "", false) }, "tiny-conf=1.0", "", "tiny-conf=1.0"},
	}
	for _, s := range steps {
		changed, err := s.do()
		if strings.Join(changed, " ") != s.changed || code(err) != s.code {
			t.Errorf("%s: %v, %v", s.name, changed, err)
		} else if err != nil {
			t.Logf("%s: %v", s.name, err)
		}
		if name, version, ok := strings.Cut(s.installed, "="); ok {
			m.Forget()
			if st, err := m.Package(ctx, name); err != nil || !st.Installed || st.Version != version {
				t.Errorf("%s: afterwards %+v %v", s.name, st, err)
			}
		}
	}
	if raw, _ := os.ReadFile("/etc/tiny-conf.conf"); string(raw) != "mine\n" {
		t.Errorf("the edited configuration file reads %q", raw)
	}
	if m.refreshed != true {
		t.Error("the lists were not fetched for an unknown name")
	}
}

func TestRealListsAreFetchedWhenMissing(t *testing.T) {
	ctx := context.Background()
	clean(t)
	lists, _ := filepath.Glob(listsDir + "/*Packages*")
	for _, l := range lists {
		_ = os.Remove(l)
	}
	var m Manager
	s, err := m.Simulate(ctx, host.PackageChange{Name: "tiny-a", State: "present"})
	if err != nil || s.Reason == nil || s.Reason.Code != ListsMissing {
		t.Errorf("%+v %v", s, err)
	}
	if changed, err := m.Install(ctx, "tiny-a", "", false); err != nil || !slices.Equal(changed, []string{"tiny-a=1.0"}) {
		t.Errorf("%v %v", changed, err)
	}
}

func TestRealASourceThatCameSince(t *testing.T) {
	ctx := context.Background()
	clean(t)
	repo := t.TempDir()
	if err := os.Chmod(repo, 0o755); err != nil {
		t.Fatal(err)
	}
	sh := "mkdir -p " + repo + "/d/DEBIAN && cd " + repo + " && printf 'Package: late\nVersion: 1\nArchitecture: all\nMaintainer: T <t@e.org>\nDescription: t\n' >d/DEBIAN/control && dpkg-deb -b d late.deb && " +
		"{ dpkg-deb -f late.deb; printf 'Filename: ./late.deb\nSize: %s\nSHA256: %s\n\n' $(stat -c %s late.deb) $(sha256sum late.deb | cut -d' ' -f1); } >Packages"
	if out, err := exec.Command("sh", "-c", sh).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	change := host.PackageChange{Name: "late", State: "present"}
	var m Manager
	if s, err := m.Simulate(ctx, change); err != nil || s.Reason == nil || s.Reason.Code != fault.NotAvailable {
		t.Errorf("%+v %v", s.Reason, err)
	}
	write(t, "/etc/apt/sources.list.d/late.list", "deb [trusted=yes] file:"+repo+" ./\n")
	t.Cleanup(func() { _ = os.Remove("/etc/apt/sources.list.d/late.list") })
	m.Forget()
	if s, err := m.Simulate(ctx, change); err != nil || s.Reason == nil || s.Reason.Code != ListsMissing {
		t.Errorf("%+v %v", s.Reason, err)
	}
	if changed, err := m.Install(ctx, "late", "", false); err != nil || !slices.Equal(changed, []string{"late=1"}) {
		t.Errorf("%v %v", changed, err)
	}
	if changed, err := m.Remove(ctx, "late"); err != nil || len(changed) != 1 {
		t.Errorf("%v %v", changed, err)
	}
}

func TestRealLocks(t *testing.T) {
	ctx := context.Background()
	for _, lock := range []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/cache/apt/archives/lock"} {
		clean(t)
		f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o640)
		if err != nil {
			t.Fatal(err)
		}
		// A lock of this process does not hold back a child's, but fcntl locks are not inherited: apt meets it.
		if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
			t.Fatal(err)
		}
		m := Manager{LockTimeout: 3 * time.Second}
		if s, err := m.Simulate(ctx, host.PackageChange{Name: "tiny-a", State: "present"}); err != nil || !s.OK {
			t.Errorf("%s: a simulation needs it: %+v %v", lock, s, err)
		}
		begin := time.Now()
		changed, err := m.Install(ctx, "tiny-a", "", false)
		if d := time.Since(begin); code(err) != fault.Busy || len(changed) > 0 || d < 2*time.Second || d > 15*time.Second {
			t.Errorf("%s: %v %v after %v", lock, changed, err, d)
		} else {
			t.Log(d, err)
		}
		time.AfterFunc(2*time.Second, func() { _ = f.Close() })
		m.LockTimeout = 20 * time.Second
		if changed, err := m.Install(ctx, "tiny-a", "", false); err != nil || len(changed) != 1 {
			t.Errorf("%s: released: %v %v", lock, changed, err)
		}
		if _, err := os.Stat(lock); err != nil {
			t.Error(err)
		}
	}
}

// deb builds a small package into the repository and has apt know it.
func deb(t *testing.T, name, version, postinst string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "DEBIAN"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "DEBIAN", "control"), "Package: "+name+"\nVersion: "+version+"\nArchitecture: all\nMaintainer: T <t@e.org>\nDescription: t\n")
	if postinst != "" {
		p := filepath.Join(dir, "DEBIAN", "postinst")
		write(t, p, "#!/bin/sh\n"+postinst+"\n")
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, cmd := range []string{
		"dpkg-deb -b --root-owner-group " + dir + " /srv/repo/" + name + "_" + version + "_all.deb",
		`cd /srv/repo && for f in *.deb; do dpkg-deb -f "$f"; printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$f" "$(stat -c %s "$f")" "$(sha256sum "$f" | cut -d' ' -f1)"; done >Packages`,
		"apt-get -qq update",
	} {
		if out, err := exec.Command("sh", "-c", cmd).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", cmd, err, out)
		}
	}
}

func TestRealHalfStatesAreRepaired(t *testing.T) {
	ctx := context.Background()
	clean(t)
	flag := filepath.Join(t.TempDir(), "ok")
	deb(t, "half", "1", "test -e "+flag)
	var m Manager
	changed, err := m.Install(ctx, "half", "", false)
	s, qerr := m.Package(ctx, "half")
	if code(err) != fault.Failed || qerr != nil || !s.Half || s.Installed || strings.Join(changed, " ") != "half=1" {
		t.Fatalf("%v %v %+v", changed, err, s)
	}
	t.Log(err)
	write(t, flag, "")
	if _, err := m.Install(ctx, "half", "", false); err != nil {
		t.Errorf("repair: %v", err)
	}
	status := func(from, to string) {
		raw, err := os.ReadFile("/var/lib/dpkg/status")
		if err != nil {
			t.Fatal(err)
		}
		before, after := "Package: half\nStatus: "+from+"\n", "Package: half\nStatus: "+to+"\n"
		if !strings.Contains(string(raw), before) {
			t.Fatalf("half is not %s", from)
		}
		write(t, "/var/lib/dpkg/status", strings.Replace(string(raw), before, after, 1))
		m.Forget()
	}
	for _, half := range []string{"install reinstreq half-installed", "install ok half-installed", "install ok unpacked", "install reinstreq unpacked"} {
		status("install ok installed", half)
		if s, err := m.Package(ctx, "half"); err != nil || !s.Half {
			t.Fatalf("%s: %+v %v", half, s, err)
		}
		sim, err := m.Simulate(ctx, host.PackageChange{Name: "half", State: "present"})
		if err != nil || !sim.OK {
			t.Errorf("%s: %+v %v %v", half, sim, sim.Reason, err)
		}
		if _, err := m.Install(ctx, "half", "1", false); err != nil {
			t.Errorf("%s: %v", half, err)
		}
	}
	for _, half := range []string{"install reinstreq half-installed", "install ok unpacked"} {
		if _, err := m.Install(ctx, "half", "1", false); err != nil {
			t.Fatal(err)
		}
		status("install ok installed", half)
		if sim, err := m.Simulate(ctx, host.PackageChange{Name: "half", State: "absent"}); err != nil || !sim.OK {
			t.Errorf("%s: %+v %v %v", half, sim, sim.Reason, err)
		}
		if _, err := m.Remove(ctx, "half"); err != nil {
			t.Errorf("%s: %v", half, err)
		}
	}
}

func TestRealBackgroundChildrenAndChattyScripts(t *testing.T) {
	clean(t)
	deb(t, "chatty", "1", "i=0; while [ $i -lt 3000 ]; do echo line $i of noise; i=$((i+1)); done; cat; sleep 60 & exit 1")
	var m Manager
	begin := time.Now()
	_, err := m.Install(context.Background(), "chatty", "", false)
	if code(err) != fault.Failed || len(err.Error()) > 3000 || time.Since(begin) > 20*time.Second {
		t.Errorf("after %v: %.4000v", time.Since(begin), err)
	}
	t.Log(err)
}

// clean removes what the tests install.
func clean(t *testing.T) {
	t.Helper()
	_ = exec.Command("apt-mark", "unhold", "gyrum-prober").Run()
	out, err := exec.Command("dpkg", "--purge", "--force-all", "gyrum-prober", "tiny-a", "tiny-b", "tiny-conf", "tiny-virtual-provider", "half", "chatty").CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
}
