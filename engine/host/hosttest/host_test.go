package hosttest_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/resource"
)

const (
	unitPath = "/etc/systemd/system/app.service"
	unitText = "[Service]\nExecStart=/usr/bin/app\nEnvironmentFile=/etc/app.env\n[Install]\nWantedBy=multi-user.target\n"
)

// replaceEnv writes the environment file as declared.
const replaceEnv = `{"id":"file:/etc/app.env","path":"/etc/app.env","mode":"0644","owner":"root","group":"root"}`

// session is one program on a model host.
type session struct {
	t *testing.T
	r *host.Reader
	w *host.Writer
}

func begin(t *testing.T, h *hosttest.Host, content string) *session {
	read, write := h.Configs()
	r := host.NewReader(read, resources(content))
	return &session{t, r, host.NewWriter(r, write, nil)}
}

func resources(content string) []resource.Resource {
	file := func(p, text string) resource.Resource {
		raw := []byte(text)
		return resource.Resource{
			Type: "file", ID: "file:" + p, Declared: mustJSON(map[string]any{"type": "file", "id": "file:" + p, "path": p}),
			Content: &resource.Content{SHA256: fmt.Sprintf("%x", sha256.Sum256(raw)), Size: int64(len(raw)), Open: func() ([]byte, error) { return raw, nil }},
		}
	}
	unit := map[string]any{"type": "systemd_unit", "id": "systemd_unit:app.service", "name": "app.service", "restart_on": []string{"package:lib"}}
	return []resource.Resource{
		file(unitPath, unitText), file("/etc/app.env", content),
		{Type: "systemd_unit", ID: "systemd_unit:app.service", Declared: mustJSON(unit)},
	}
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func (s *session) unit() host.UnitState {
	s.t.Helper()
	raw, err := s.r.Ask(context.Background(), "unit", []byte(`{"id":"systemd_unit:app.service","name":"app.service"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	var u host.UnitState
	if err := json.Unmarshal(raw, &u); err != nil || strings.HasPrefix(string(raw), `{"error"`) {
		s.t.Fatalf("%s %v", raw, err)
	}
	return u
}

// do performs one effect; it reports the first error, of the call or in the reply.
func (s *session) do(capability, request string) error {
	raw, err := s.w.Do(context.Background(), capability, []byte(request))
	if err != nil {
		return err
	}
	var reply struct {
		Error *struct{ Code, Text string } `json:"error"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return err
	}
	if reply.Error != nil {
		return fmt.Errorf("%s: %s", reply.Error.Code, reply.Error.Text)
	}
	return nil
}

func newHost() *hosttest.Host {
	h := hosttest.NewHost()
	h.Packages.Offer(
		hosttest.Package{Name: "app", Version: "1.0-1", Depends: []string{"lib"}, Files: map[string]string{"/usr/bin/app": "app 1"}, Groups: []string{"app"}},
		hosttest.Package{Name: "lib", Version: "1", Files: map[string]string{"/usr/lib/lib.so": "lib 1"}},
		hosttest.Package{Name: "lib", Version: "2", Files: map[string]string{"/usr/lib/lib.so": "lib 2"}},
	)
	h.Packages.Set("base", "1")
	h.Packages.Set("lib", "1")
	return h
}

// converge does what an apply would do, whatever state it finds; a step that holds already does nothing.
func (s *session) converge(h *hosttest.Host) error {
	if !strings.Contains(h.Packages.State()["app"], "installed") {
		if err := s.do("package_install", `{"name":"app","downgrade":false}`); err != nil {
			return err
		}
	}
	for id, p := range map[string]string{"file:" + unitPath: unitPath, "file:/etc/app.env": "/etc/app.env"} {
		content, _ := h.FS.Content(p)
		want := unitText
		if p != unitPath {
			want = "A=1\n"
		}
		if content == want {
			continue
		}
		if err := s.do("file_replace", fmt.Sprintf(`{"id":%q,"path":%q,"mode":"0644","owner":"root","group":"app"}`, id, p)); err != nil {
			return err
		}
	}
	u := s.unit()
	switch {
	case u.ActiveState != "active":
		if err := s.do("unit_start", `{"name":"app.service"}`); err != nil {
			return err
		}
	case u.Freshness != "fresh":
		if err := s.do("unit_restart", `{"name":"app.service"}`); err != nil {
			return err
		}
	}
	if u.UnitFileState != "enabled" {
		if err := s.do("unit_enable", `{"name":"app.service"}`); err != nil {
			return err
		}
	}
	return s.w.Finish(context.Background())
}

func TestAModelHostConverges(t *testing.T) {
	h := newHost()
	s := begin(t, h, "A=1\n")
	if err := s.converge(h); err != nil {
		t.Fatal(err)
	}
	u := begin(t, h, "A=1\n").unit()
	if u.ActiveState != "active" || u.UnitFileState != "enabled" || u.Freshness != "fresh" || u.NeedDaemonReload {
		t.Errorf("%+v", u)
	}
	if got, _ := h.Units.RunsFrom("app.service", "/etc/app.env"); got != "A=1\n" {
		t.Errorf("it runs from %q", got)
	}
	// Once more: nothing is left to do, not even in the state folder.
	before := h.Power.Count()
	if err := begin(t, h, "A=1\n").converge(h); err != nil || h.Power.Count() != before {
		t.Errorf("%d more effects, %v", h.Power.Count()-before, err)
	}
	h.FS.AddFile("/etc/app.env", "A=2\n", 0o644)
	if u := begin(t, h, "A=1\n").unit(); u.Freshness != "stale" || strings.Join(u.StaleInputs, " ") != "/etc/app.env" {
		t.Errorf("%+v", u)
	}
	h.FS.AddFile("/etc/app.env", "A=1\n", 0o644)
	if u := begin(t, h, "A=1\n").unit(); u.Freshness != "fresh" {
		t.Errorf("a mere touch: %+v", u)
	}
	s = begin(t, h, "A=1\n")
	if err := s.do("package_install", `{"name":"lib","version":"2","downgrade":false}`); err == nil {
		if u := s.unit(); u.Freshness != "stale" || strings.Join(u.StaleInputs, " ") != "package:lib" {
			t.Errorf("%+v", u)
		}
	}
	h.FS.AddFile(unitPath, unitText+"# more\n", 0o644)
	if u := begin(t, h, "A=1\n").unit(); !u.NeedDaemonReload || u.Freshness != "stale" {
		t.Errorf("%+v", u)
	}
}

// A run that dies after any effect is completed by the next one, and the unit runs from what is there.
func TestACutRunIsCompleted(t *testing.T) {
	whole := newHost()
	if err := begin(t, whole, "A=1\n").converge(whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Power.Count() {
		h := newHost()
		h.Power.Cut(n)
		if err := begin(t, h, "A=1\n").converge(h); err == nil {
			t.Fatalf("cut after %d of %d effects and nobody noticed", n, whole.Power.Count())
		}
		h.Power.Restore()
		if err := begin(t, h, "A=1\n").converge(h); err != nil {
			t.Fatalf("after effect %d: %v", n, err)
		}
		if !maps.Equal(h.Units.State(), whole.Units.State()) || !maps.Equal(h.Packages.State(), whole.Packages.State()) {
			t.Errorf("after effect %d: %v %v", n, h.Units.State(), h.Packages.State())
		}
		if !maps.Equal(h.FS.Dump(hosttest.StateDir), whole.FS.Dump(hosttest.StateDir)) {
			t.Errorf("after effect %d the files differ", n)
			for p, text := range h.FS.Dump(hosttest.StateDir) {
				if whole.FS.Dump()[p] != text {
					t.Error(p, text)
				}
			}
		}
		if u := begin(t, h, "A=1\n").unit(); u.Freshness != "fresh" || u.NeedDaemonReload {
			t.Errorf("after effect %d: %+v", n, u)
		}
		for _, p := range []string{unitPath, "/etc/app.env"} {
			now, _ := h.FS.Content(p)
			if then, running := h.Units.RunsFrom("app.service", p); !running || then != now {
				t.Errorf("after effect %d it runs from another %s", n, p)
			}
		}
	}
}

func TestModelPackages(t *testing.T) {
	ctx := context.Background()
	h := newHost()
	h.Packages.Offer(
		hosttest.Package{Name: "mta", Version: "1", Provides: []string{"mail"}, Conflicts: []string{"base"}},
		hosttest.Package{Name: "sad", Version: "1", Breaks: true},
		hosttest.Package{Name: "d", Version: "1", Files: map[string]string{"/usr/lib/systemd/system/d.service": "[Service]\nExecStart=/usr/bin/d\n[Install]\nWantedBy=x\n"}, Starts: []string{"d.service"}},
		hosttest.Package{Name: "conf", Version: "1", Conffiles: map[string]string{"/etc/conf": "default\n"}},
	)
	p := h.Packages
	for _, tt := range []struct{ name, version, code string }{
		{"app", "", ""}, {"mta", "", "would-remove"}, {"mail", "", "virtual"}, {"app", "9", "not-available"}, {"nosuch", "", "not-available"},
	} {
		s, err := p.Simulate(ctx, host.PackageChange{Name: tt.name, Version: tt.version, State: "present"})
		if err != nil || s.OK != (tt.code == "") || !s.OK && s.Reason.Code != tt.code {
			t.Errorf("%+v: %+v %v %v", tt, s, s.Reason, err)
		}
	}
	if _, err := p.Install(ctx, "sad", "", false); err == nil {
		t.Error("a failing script was not noticed")
	}
	if s, _ := p.Package(ctx, "sad"); !s.Half || s.Installed {
		t.Errorf("%+v", s)
	}
	if _, err := p.Install(ctx, "d", "", false); err != nil || h.Units.State()["d.service"] != "running enabled " {
		t.Errorf("%v %v", err, h.Units.State())
	}
	if _, err := p.Install(ctx, "app", "", false); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Simulate(ctx, host.PackageChange{Name: "lib", State: "absent"}); err != nil || s.OK || strings.Join(s.Removes, " ") != "app lib" {
		t.Errorf("%+v %v", s, err)
	}
	p.Hold("app", true)
	if _, err := p.Remove(ctx, "app"); err == nil {
		t.Error("a held package was removed")
	}
	if _, err := p.Install(ctx, "conf", "", false); err != nil {
		t.Fatal(err)
	}
	h.FS.AddFile("/etc/conf", "mine\n", 0o644)
	if _, err := p.Remove(ctx, "conf"); err != nil {
		t.Fatal(err)
	}
	if s, _ := p.Package(ctx, "conf"); !s.Known || s.Installed || s.Status != "deinstall ok config-files" {
		t.Errorf("%+v", s)
	}
	if _, err := p.Install(ctx, "conf", "", false); err != nil {
		t.Fatal(err)
	}
	if got, _ := h.FS.Content("/etc/conf"); got != "mine\n" {
		t.Errorf("the configuration reads %q", got)
	}
}

// Each package has systemd read its unit files and starts its own; the second one hides when that was for the first, in
// another transaction as with a and b, and in the same one as with d and c.
func TestUnitsThatPackagesStartAreKnownFresh(t *testing.T) {
	h := newHost()
	var rs []resource.Resource
	needs := map[string][]string{"c": {"d"}}
	for _, n := range []string{"a", "b", "c", "d"} {
		text := "[Service]\nExecStart=/usr/bin/" + n + "\n[Install]\nWantedBy=multi-user.target\n"
		h.Packages.Offer(hosttest.Package{
			Name: n, Version: "1", Depends: needs[n], Files: map[string]string{"/usr/lib/systemd/system/" + n + ".service": text}, Starts: []string{n + ".service"},
		})
		id := "systemd_unit:" + n + ".service"
		rs = append(rs, resource.Resource{Type: "systemd_unit", ID: id, Declared: mustJSON(map[string]any{"type": "systemd_unit", "id": id, "name": n + ".service"})})
	}
	read, write := h.Configs()
	r := host.NewReader(read, rs)
	s := &session{t, r, host.NewWriter(r, write, nil)}
	for _, n := range []string{"a", "b", "c"} {
		if err := s.do("package_install", `{"name":"`+n+`","downgrade":false}`); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.w.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	read, _ = h.Configs()
	r = host.NewReader(read, rs)
	for _, n := range []string{"a", "b", "c", "d"} {
		raw, err := r.Ask(context.Background(), "unit", []byte(`{"id":"systemd_unit:`+n+`.service","name":"`+n+`.service"}`))
		if err != nil || !strings.Contains(string(raw), `"freshness":"fresh"`) || !strings.Contains(string(raw), `"unit_file_present":true`) {
			t.Errorf("%s: %s %v", n, raw, err)
		}
	}
}

// A package that ships a unit file and leaves it at that makes a reload due, which comes before the next unit action.
func TestAUnitFileFromAPackageIsRead(t *testing.T) {
	h := newHost()
	const dropIn = "/usr/lib/systemd/system/app.service.d/10-app.conf"
	h.FS.AddFile(unitPath, unitText, 0o644)
	h.FS.AddFile("/etc/app.env", "A=1\n", 0o644)
	if err := h.Units.Set("app.service", true); err != nil {
		t.Fatal(err)
	}
	h.Packages.Offer(hosttest.Package{Name: "tuning", Version: "1", Files: map[string]string{dropIn: "[Service]\nNice=1\n"}})
	s := begin(t, h, "A=1\n")
	if err := s.do("package_install", `{"name":"tuning","downgrade":false}`); err != nil {
		t.Fatal(err)
	}
	if err := s.do("unit_restart", `{"name":"app.service"}`); err != nil {
		t.Fatal(err)
	}
	if got, _ := h.Units.RunsFrom("app.service", dropIn); got != "[Service]\nNice=1\n" {
		t.Errorf("it runs without the drop-in: %q", got)
	}
	if u := s.unit(); u.NeedDaemonReload || u.Freshness != "fresh" {
		t.Errorf("%+v", u)
	}
}

// A service that does not run has another file than the declared one; a package starts it from that, and then the declared
// one comes back, which an older record knows.
func TestARecordOfWhatWasThereBeforeVouchesForNothing(t *testing.T) {
	h := newHost()
	h.FS.AddFile(unitPath, unitText, 0o644)
	h.Packages.Offer(hosttest.Package{Name: "starter", Version: "1", Starts: []string{"app.service"}})
	s := begin(t, h, "A=1\n")
	for _, step := range [][2]string{{"file_replace", replaceEnv}, {"unit_start", `{"name":"app.service"}`}} {
		if err := s.do(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.w.Finish(t.Context()); err != nil || s.unit().Freshness != "fresh" {
		t.Fatalf("after the first apply: %+v, %v", s.unit(), err)
	}
	if err := h.Units.Set("app.service", false); err != nil {
		t.Fatal(err)
	}
	h.FS.AddFile("/etc/app.env", "A=packaged\n", 0o644)
	s = begin(t, h, "A=1\n")
	for _, step := range [][2]string{{"package_install", `{"name":"starter","downgrade":false}`}, {"file_replace", replaceEnv}} {
		if err := s.do(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.unit().Freshness; got != "stale" {
		t.Errorf("it runs from another file and counts as %s", got)
	}
}
