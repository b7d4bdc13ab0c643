//go:build realhost

// Run as root on a host that may be thrown away, with systemd as its first process.

package systemd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

type memory struct{ raw []byte }

func (m *memory) Load() ([]byte, error) {
	if m.raw == nil {
		return nil, fs.ErrNotExist
	}
	return m.raw, nil
}
func (m *memory) Save(raw []byte) error { m.raw = raw; return nil }

type noPackages struct{}

func (noPackages) Package(context.Context, string) (host.PackageState, error) {
	return host.PackageState{}, nil
}

func look(p string) (host.InputFact, error) {
	st, err := os.Stat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return host.InputFact{}, nil
	}
	if err != nil {
		return host.InputFact{}, err
	}
	raw, _ := os.ReadFile(p)
	sys := st.Sys().(*syscall.Stat_t)
	return host.InputFact{Exists: true, Kind: "file", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256(raw)), MTime: st.ModTime().UnixNano(), CTime: sys.Ctim.Nano()}, nil
}

type rig struct {
	t   *testing.T
	u   *Units
	w   *Writer
	mem *memory
}

func newRig(t *testing.T) *rig {
	bus := &Bus{}
	t.Cleanup(bus.Close)
	mem := &memory{}
	u := NewUnits(bus, Config{Packages: noPackages{}, Records: mem, Installed: func(string, string) []string { return nil }, Glob: filepath.Glob})
	return &rig{t, u, NewWriter(u, bus, mem, RealClock{}), mem}
}

func (r *rig) state(name string) host.UnitState {
	r.t.Helper()
	s, err := r.u.Unit(context.Background(), host.UnitQuery{Name: name, Look: look})
	if err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	return s
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	p := name
	if !strings.HasPrefix(name, "/") {
		p = "/etc/systemd/system/" + name
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func sh(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
}

func TestRealWords(t *testing.T) {
	r := newRig(t)
	file(t, "w-plain.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	file(t, "w-static.service", "[Service]\nExecStart=/bin/sleep 1000\n")
	file(t, "w-also.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nAlso=w-plain.service\n")
	file(t, "w-t@.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	file(t, `w-a\x2db.service`, "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	file(t, "w-named.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nAlias=w-alias.service\n")
	file(t, "w-bad.service", "garbage\n")
	file(t, "w-empty.service", "")
	file(t, "/opt/w-linked.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	sh(t, "systemctl link -q /opt/w-linked.service;  systemctl mask -q w-masked.service; systemctl daemon-reload; systemctl enable -q w-t@a.service w-named.service; cp /etc/systemd/system/w-plain.service /etc/systemd/system/w-run.service; systemctl enable -q --runtime w-run.service; ln -s w-loop.service /etc/systemd/system/w-loop.service || true")
	tests := []struct{ name, load, active, file string }{
		{"w-plain.service", "loaded", "inactive", "disabled"},
		{"w-static.service", "loaded", "inactive", "static"},
		{"w-also.service", "loaded", "inactive", "indirect"},
		{"w-t@.service", "template", "inactive", "indirect"},
		{"w-t@a.service", "loaded", "inactive", "enabled"},
		{"w-t@b.service", "loaded", "inactive", "disabled"},
		{`w-a\x2db.service`, "loaded", "inactive", "disabled"},
		{"w-bad.service", "bad-setting", "inactive", "static"},
		{"w-empty.service", "masked", "inactive", "masked"},
		{"w-masked.service", "masked", "inactive", "masked"},
		{"w-linked.service", "loaded", "inactive", "linked"},
		{"w-alias.service", "loaded", "inactive", "alias"},
		{"w-run.service", "loaded", "inactive", "enabled-runtime"},
		{"w-none.service", "not-found", "inactive", ""},
		{"W-PLAIN.service", "not-found", "inactive", ""},
		{"w-loop.service", "not-found", "inactive", "bad"},
		{"-.mount", "loaded", "active", ""},
		{"multi-user.target", "loaded", "active", "static"},
		{"system.slice", "loaded", "active", ""},
		{"init.scope", "loaded", "active", ""},
		{"systemd-tmpfiles-clean.timer", "loaded", "active", "static"},
		{"dbus.socket", "loaded", "active", "static"},
	}
	for _, tt := range tests {
		s := r.state(tt.name)
		if s.LoadState != tt.load || s.ActiveState != tt.active || s.UnitFileState != tt.file {
			t.Errorf("%s: %s %s %s %q, fragment %s", tt.name, s.LoadState, s.ActiveState, s.SubState, s.UnitFileState, s.Fragment)
		}
		if s.ActiveState == "active" && s.Freshness != Fresh {
			t.Errorf("%s: %s %s", tt.name, s.Freshness, s.FreshnessText)
		}
	}
	if s := r.state("w-alias.service"); s.AliasOf != "w-named.service" || s.AliasState != "enabled" {
		t.Errorf("%+v", s)
	}
	if err := os.Remove("/etc/systemd/system/w-loop.service"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"w-plain", "-l", "*.service"} {
		if _, err := r.u.Unit(context.Background(), host.UnitQuery{Name: bad, Look: look}); fault.Of(err).Code != fault.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestRealStarts(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	tests := []struct {
		name, text string
		after      string // active state
		err        string // "" for success
		least      time.Duration
	}{
		{"s-ok.service", "[Service]\nExecStart=/bin/sleep 1000", "active", "", settle},
		{"s-exit0.service", "[Service]\nExecStart=/bin/true", "inactive", "ended by itself", 0},
		{"s-exit3.service", "[Service]\nExecStart=/bin/sh -c 'sleep 0.5; exit 3'", "failed", "exit status 3", 0},
		{"s-signal.service", "[Service]\nExecStart=/bin/sh -c 'kill -9 $$$$'", "failed", "signal 9", 0},
		{"s-noexec.service", "[Service]\nExecStart=/no/such", "failed", "exit status 203", 0},
		{"s-execno.service", "[Service]\nType=exec\nExecStart=/no/such", "failed", "exit-code", 0},
		{"s-loop.service", "[Service]\nExecStart=/bin/sh -c 'exit 3'\nRestart=always\nRestartSec=30", "activating", "again and again", 0},
		{"s-fastloop.service", "[Service]\nExecStart=/bin/sh -c 'sleep 0.3'\nRestart=always\nRestartSec=0", "", "again", 0},
		{"s-once.service", "[Service]\nType=oneshot\nExecStart=/bin/true", "inactive", "oneshot", 0},
		{"s-remain.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sleep 1", "active", "", time.Second},
		{"s-oncefail.service", "[Service]\nType=oneshot\nExecStart=/bin/false", "failed", "exit status 1", 0},
		{"s-cond.service", "[Unit]\nConditionPathExists=/no/such\n[Service]\nExecStart=/bin/sleep 1000", "inactive", "ConditionPathExists=/no/such", 0},
		{"s-assert.service", "[Unit]\nAssertPathExists=!/etc\n[Service]\nExecStart=/bin/sleep 1000", "inactive", "AssertPathExists=!/etc", 0},
		{"s-dep.service", "[Unit]\nRequires=s-oncefail.service\nAfter=s-oncefail.service\n[Service]\nExecStart=/bin/sleep 1000", "inactive", "requires", 0},
		{"s-notify.service", "[Service]\nType=notify\nNotifyAccess=all\nExecStart=/bin/sh -c 'sleep 1; systemd-notify --ready; sleep 1000'", "active", "", time.Second},
		{"s-late.service", "[Service]\nType=notify\nTimeoutStartSec=1\nExecStart=/bin/sleep 1000", "failed", "start timeout", time.Second},
		{"s-forking.service", "[Service]\nType=forking\nExecStart=/bin/sh -c 'sleep 1000 &'", "active", "", settle},
		{"s-forkdie.service", "[Service]\nType=forking\nExecStart=/bin/sh -c 'sleep 0.5 &'", "inactive", "did not stay up", 0},
		{"s-timer.timer", "[Timer]\nOnCalendar=yearly\nUnit=s-once.service", "active", "", 0},
		{"s-sock.socket", "[Socket]\nListenStream=/run/s-sock\nAccept=yes", "active", "", 0},
		{"s-gone.service", "", "inactive", "masked", 0},
		{"s-bad.service", "garbage", "inactive", "bad unit file setting", 0},
		{"s-none.service", "-", "inactive", "not found", 0},
		{"s-manual.service", "[Unit]\nRefuseManualStart=yes\n[Service]\nExecStart=/bin/sleep 1000", "inactive", "", 0},
	}
	for _, tt := range tests {
		if tt.text != "-" {
			file(t, tt.name, tt.text)
		}
	}
	file(t, "s-sock@.service", "[Service]\nExecStart=/bin/true\n")
	sh(t, "systemctl daemon-reload")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			err := r.w.Start(ctx, tt.name)
			took := time.Since(begin)
			t.Logf("%v: %v", took, err)
			if tt.name == "s-manual.service" {
				if err == nil {
					t.Error("started by hand")
				}
			} else if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %v", err)
			}
			if took < tt.least || took > 8*time.Second {
				t.Errorf("took %v", took)
			}
			s := r.state(tt.name)
			if tt.after != "" && s.ActiveState != tt.after {
				t.Errorf("it is %s (%s)", s.ActiveState, s.SubState)
			}
			if err := r.w.Stop(ctx, tt.name); err != nil {
				t.Errorf("stop: %v", err)
			}
			if s := r.state(tt.name); s.ActiveState != "inactive" && s.ActiveState != "failed" {
				t.Errorf("after stop it is %s", s.ActiveState)
			}
		})
	}
}

func TestRealEnable(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	file(t, "e-plain.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	file(t, "e-t@.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	file(t, "e-static.service", "[Service]\nExecStart=/bin/sleep 1000\n")
	file(t, "e-also.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nAlso=e-plain.service\n")
	file(t, "e-run.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n")
	sh(t, "systemctl daemon-reload; systemctl mask -q e-masked.service; systemctl enable -q --runtime e-run.service")
	for name, want := range map[string]string{
		"e-plain.service": "", "e-t@x.service": "", "e-run.service": "", "e-static.service": "no [Install]", "e-also.service": "calls it indirect",
		"e-masked.service": "masked", "e-none.service": "does not exist",
	} {
		err := r.w.Enable(ctx, name)
		t.Logf("%s: %v", name, err)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if want != "" {
			continue
		}
		if s := r.state(name); s.UnitFileState != "enabled" {
			t.Errorf("%s is %s", name, s.UnitFileState)
		}
		if err := r.w.Disable(ctx, name); err != nil {
			t.Errorf("%s: disable: %v", name, err)
		}
		if s := r.state(name); s.UnitFileState == "enabled" {
			t.Errorf("%s is %s", name, s.UnitFileState)
		}
	}
}

func TestRealFreshness(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	const unit = "f-a.service"
	q := host.UnitQuery{Name: unit, Look: look, RestartOn: []host.UnitInput{{ID: "file:/etc/f-a.conf", Path: "/etc/f-a.conf"}}}
	state := func() string {
		t.Helper()
		s, err := r.u.Unit(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(s.Freshness + " " + strings.Join(s.StaleInputs, " "))
	}
	expect := func(what, want string) {
		t.Helper()
		if got := state(); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	pause := func() { time.Sleep(20 * time.Millisecond) }
	p := file(t, unit, "[Service]\nExecStart=/bin/sleep 1000\nEnvironmentFile=-/etc/f-a.env\nEnvironmentFile=-/etc/f-a.d/*.env\n")
	file(t, "/etc/f-a.conf", "1")
	file(t, "/etc/f-a.d/x.env", "X=1")
	pause()
	expect("not started", "not-running")
	if err := r.w.Start(ctx, unit); err != nil {
		t.Fatal(err)
	}
	expect("came in without a reload", "fresh")
	sh(t, "systemctl daemon-reload")
	expect("reloaded since, but we started it", "fresh")
	fresh := newRig(t)
	s, err := fresh.u.Unit(ctx, q)
	if err != nil || s.Freshness != Unknown {
		t.Errorf("nobody knows: %+v %v", s, err)
	}
	if strings.Join(s.Inputs, " ") != p+" /etc/f-a.env /etc/f-a.d/x.env file:/etc/f-a.conf" {
		t.Errorf("inputs %v", s.Inputs)
	}
	if err := r.w.Remember(ctx, q); err != nil || r.mem.raw == nil {
		t.Fatal(err)
	}
	t.Log(string(r.mem.raw))
	kept := string(r.mem.raw)
	sh(t, "touch /etc/f-a.conf "+p+" /etc/f-a.d/x.env")
	expect("touched", "fresh")
	if err := r.w.Remember(ctx, q); err != nil || string(r.mem.raw) != kept {
		t.Errorf("written again: %v", err)
	}
	r = newRig(t)
	expect("touched, no record", "stale /etc/f-a.d/x.env "+p+" file:/etc/f-a.conf")
	if err := r.w.Remember(ctx, q); err != nil || r.mem.raw != nil {
		t.Errorf("a stale unit was recorded: %v", err)
	}
	r.mem.raw = []byte(kept)
	r.u.Forget()
	file(t, "/etc/f-a.env", "A=1")
	expect("an environment file came", "stale /etc/f-a.env")
	_ = os.Remove("/etc/f-a.env")
	expect("and went", "fresh")
	file(t, "f-a.service.d/x.conf", "[Service]\nNice=5\n")
	if s := r.state(unit); !s.NeedDaemonReload {
		t.Error("a drop-in needs no reload")
	}
	pause()
	if err := r.w.Reload(ctx); err != nil {
		t.Fatal(err)
	}
	if s := r.state(unit); s.NeedDaemonReload {
		t.Error("still needs a reload")
	}
	expect("a drop-in came", "stale /etc/systemd/system/f-a.service.d/x.conf")
	sh(t, "systemctl restart "+unit)
	expect("restarted by hand", "fresh")
	r = newRig(t)
	expect("restarted by hand, no record", "fresh")
	file(t, "/etc/f-a.conf", "2")
	sh(t, "touch -d '2020-01-01' /etc/f-a.conf")
	expect("an old mtime", "unknown file:/etc/f-a.conf")
	pause()
	if err := r.w.Restart(ctx, unit); err != nil {
		t.Fatal(err)
	}
	expect("restarted", "fresh")
	_ = os.Remove(p)
	_ = os.RemoveAll("/etc/systemd/system/f-a.service.d")
	sh(t, "systemctl daemon-reload")
	if s := r.state(unit); s.LoadState != "not-found" || s.ActiveState != "active" || s.Freshness != Unknown {
		t.Errorf("its file is gone: %+v", s)
	}
	if err := r.w.Stop(ctx, unit); err != nil {
		t.Errorf("stop: %v", err)
	}
	if s := r.state(unit); s.ActiveState != "inactive" || s.LoadState != "not-found" {
		t.Errorf("%+v", s)
	}
}

func TestRealTriggersAndFailures(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	file(t, "g-s.socket", "[Socket]\nListenStream=/run/g-s\n")
	file(t, "g-s.service", "[Service]\nExecStart=/bin/sleep 1000\n")
	file(t, "g-t@.service", "[Service]\nExecStart=/bin/false\n")
	file(t, `g-e\x2df.service`, "[Service]\nExecStart=/bin/false\n")
	sh(t, `systemctl daemon-reload; systemctl start g-s.socket g-s.service g-t@a g-t@b 'g-e\x2df.service'; sleep 0.3`)
	if s := r.state("g-s.service"); strings.Join(s.TriggeredBy, " ") != "g-s.socket" {
		t.Errorf("%+v", s)
	}
	for name, want := range map[string]string{"g-t@a.service": "g-t@a.service", "g-t@.service": "g-t@a.service g-t@b.service", "g-s.service": "", `g-e\x2df.service`: `g-e\x2df.service`} {
		names, err := r.w.Failed(ctx, name)
		if err != nil || strings.Join(names, " ") != want {
			t.Errorf("%s: %v %v", name, names, err)
		}
	}
	if err := r.w.ResetFailed(ctx, "g-t@a.service"); err != nil {
		t.Error(err)
	}
	if s := r.state("g-t@a.service"); s.ActiveState != "inactive" {
		t.Error(s.ActiveState)
	}
	sh(t, "systemctl stop g-s.socket g-s.service")
}

func BenchmarkUnit(b *testing.B) {
	bus := &Bus{}
	defer bus.Close()
	u := NewUnits(bus, Config{Packages: noPackages{}, Records: &memory{}, Installed: func(string, string) []string { return nil }, Glob: filepath.Glob})
	for b.Loop() {
		if _, err := u.Unit(context.Background(), host.UnitQuery{Name: "dbus.service", Look: look}); err != nil {
			b.Fatal(err)
		}
	}
}
