package host_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/resource"
)

const access = `"mode":"%s","owner":"%s","group":"%s"`

func replace(id, path, mode, owner, group string) string {
	return fmt.Sprintf(`{"id":%q,"path":%q,`+access+`}`, id, path, mode, owner, group)
}

func TestFileReplace(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/etc/f","path":"/etc/f","content":"a\nb"}`)
	s := newStage(t, file)
	s.fs.AddFile("/etc/f", "old", 0o600)
	var seen []host.Effect
	s.w = host.NewWriter(s.r, host.WriteConfig{FS: s.fs}, func(_ string, e host.Effect, _ error) error {
		seen = append(seen, e)
		return nil
	})
	s.want(s.do("file_replace", replace("file:/etc/f", "/etc/f", "4750", "www-data", "12321")), `{}`)
	s.holds(s.ask("file_stat", `{"path":"/etc/f"}`), `"mode":"4750"`, `"owner":"www-data"`, `"group":"12321"`, `"size":3`)
	want := host.Effect{Resource: "file:/etc/f", Name: "file_replace", Target: "/etc/f", Before: canonical.Digest([]byte("old")), After: canonical.Digest([]byte("a\nb"))}
	if len(seen) != 2 || seen[0] != want || seen[1] != want {
		t.Errorf("told %+v", seen)
	}
}

func TestOwnersThatDoNotExist(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/f","path":"/f","content":"x"}`)
	s := newStage(t, file)
	s.holds(s.do("file_replace", replace("file:/f", "/f", "0644", "nosuchuser", "root")), `{"error":{"code":"invalid"`, "nosuchuser")
	s.holds(s.do("directory_make", fmt.Sprintf(`{"path":"/d",`+access+`}`, "0755", "root", "nosuchgroup")), `"error"`, "nosuchgroup")
	if _, ok := s.fs.Content("/f"); ok || len(s.effects) != 0 {
		t.Errorf("something happened: %q", s.effects)
	}
	// A command may have made the account meanwhile.
	s.fs.AddFile("/etc/passwd", "nosuchuser:x:7:7:::\n", 0o644)
	s.r.Forget()
	s.want(s.do("file_replace", replace("file:/f", "/f", "0644", "nosuchuser", "0")), `{}`)
}

func TestOtherEffectsOnFiles(t *testing.T) {
	s := newStage(t, declare(`{"type":"file","id":"file:/f","path":"/f","state":"absent"}`))
	s.fs.AddFile("/f", "x", 0o600)
	s.want(s.do("file_mode", `{"kind":"file","mode":"4711","path":"/f"}`), `{}`)
	s.want(s.do("file_owner", `{"group":"root","kind":"file","mode":"4711","owner":"33","path":"/f"}`), `{}`)
	s.holds(s.ask("file_stat", `{"path":"/f"}`), `"mode":"4711"`, `"owner":"www-data"`)
	s.want(s.do("directory_make", `{"group":"root","mode":"2775","owner":"www-data","path":"/d"}`), `{}`)
	s.holds(s.ask("file_stat", `{"path":"/d"}`), `"mode":"2775"`)
	s.fs.AddFile("/d/x", "", 0o644)
	s.holds(s.do("directory_remove", `{"path":"/d"}`), `"code":"invalid"`, "not empty")
	s.holds(s.do("file_remove", `{"path":"/d"}`), `"code":"invalid"`)
	s.want(s.do("file_remove", `{"path":"/d/x"}`), `{}`)
	s.want(s.do("directory_remove", `{"path":"/d"}`), `{}`)
	s.want(s.do("file_remove", `{"path":"/f"}`), `{}`)
	s.holds(s.effects[len(s.effects)-1], "after file_remove /f file:/f <nil>")
	if len(s.units.calls) != 0 {
		t.Errorf("systemd was told %q", s.units.calls)
	}
}

// A value is in the file and nowhere else: no reply, effect, error, mark or digest that could be guessed from.
func TestSecretsAreWrittenAndNotTold(t *testing.T) {
	const value = "1234"
	file := declare(`{"type":"file","id":"file:/etc/s","path":"/etc/s","content":{"secret_ref":"file:/s"}}`)
	env := declare(`{"type":"env","id":"env:/etc/e","path":"/etc/e","vars":{"A":"x y","T":{"secret_ref":"file:/s"}}}`)
	s := newStage(t, file, env)
	s.secrets["file:/s"] = value
	var told strings.Builder
	s.w = host.NewWriter(s.r, host.WriteConfig{FS: s.fs}, func(phase string, e host.Effect, err error) error {
		fmt.Fprintf(&told, "%+v %v\n", e, err)
		return nil
	})
	told.WriteString(s.do("file_replace", replace("file:/etc/s", "/etc/s", "0600", "root", "root")))
	told.WriteString(s.do("env_replace", replace("env:/etc/e", "/etc/e", "0640", "root", "root")))
	told.WriteString(s.do("file_replace", replace("file:/etc/s", "/etc/s", "0600", "root", "root")))
	if c, _ := s.fs.Content("/etc/s"); c != value {
		t.Errorf("the file holds %q", c)
	}
	if c, _ := s.fs.Content("/etc/e"); c != "A=\"x y\"\nT=1234\n" {
		t.Errorf("the environment file holds %q", c)
	}
	s.fs.Inject = func(call, _ string) error {
		if call == "rename" {
			return syscall.EBUSY
		}
		return nil
	}
	told.WriteString(s.do("env_replace", replace("env:/etc/e", "/etc/e", "0640", "root", "root")))
	s.holds(told.String(), "hmac-sha256:", `"code":"busy"`)
	for _, leak := range []string{value, strings.TrimPrefix(canonical.Digest([]byte(value)), "sha256:"), strings.TrimPrefix(canonical.Digest([]byte("A=\"x y\"\nT=1234\n")), "sha256:")} {
		if strings.Contains(told.String(), leak) {
			t.Errorf("told %s", told.String())
		}
	}
	s.fs.Inject = nil
	delete(s.secrets, "file:/s")
	s.holds(s.do("file_replace", replace("file:/etc/s", "/etc/s", "0600", "root", "root")), `{"error":{"code":"secret-unresolved"`)
	s.holds(s.do("env_replace", replace("env:/etc/e", "/etc/e", "0640", "root", "root")), `{"error":{"code":"secret-unresolved"`)
}

func TestContentThatChangedSinceThePlan(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/f","path":"/f","content":"planned"}`)
	file.Content = &resource.Content{SHA256: file.Content.SHA256, Open: func() ([]byte, error) { return []byte("other"), nil }}
	s := newStage(t, file)
	s.holds(s.do("file_replace", replace("file:/f", "/f", "0644", "root", "root")), `"error"`, "plan again")
	if _, ok := s.fs.Content("/f"); ok {
		t.Error("written")
	}
}

// The journal has the last word: what it cannot record does not happen.
func TestEffectThatMayNotBegin(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/f","path":"/f","content":"x"}`)
	s := newStage(t, file)
	s.stop = errInjected
	for capability, request := range map[string]string{
		"file_replace": replace("file:/f", "/f", "0644", "root", "root"), "package_install": `{"downgrade":false,"name":"a"}`, "unit_start": `{"name":"a.service"}`,
		"directory_make": `{"group":"root","mode":"0755","owner":"root","path":"/d"}`,
	} {
		s.holds(s.do(capability, request), `"error":{"code":"interrupted"`)
	}
	if _, ok := s.fs.Content("/f"); ok || len(s.units.calls) != 0 {
		t.Errorf("something happened: %q", s.units.calls)
	}
}

func TestPackages(t *testing.T) {
	s := newStage(t)
	s.want(s.do("package_install", `{"downgrade":true,"name":"a","version":"1"}`), `{"changed":["a=1"]}`)
	s.write(host.WriteConfig{Packages: packageLog{fault.New(fault.WouldRemove, "would remove b")}})
	s.want(s.do("package_remove", `{"name":"a"}`), `{"changed":["a"],"error":{"code":"would-remove","text":"would remove b"}}`)
	s.want(s.ask("package_compare", `{"a":"1","b":"2"}`), `{"order":-1}`)
	s.holds(s.ask("package", `{"name":"a"}`), `"known":true`, `"providers":[]`)
	s.holds(s.ask("package_simulate", `{"name":"a","state":"present"}`), `"ok":true`, `"removes":[]`)
}

func TestCommands(t *testing.T) {
	shell := declare(`{"type":"command","id":"command:a","run":"echo $A | cat","timeout":"90s","env":{"A":"1"},"cwd":"/srv"}`)
	list := declare(`{"type":"command","id":"command:b","run":["/bin/echo","a b"],"timeout":"10m"}`)
	for _, c := range []struct {
		name    string
		outcome host.CommandOutcome
		err     error
		want    string
	}{
		{"success", host.CommandOutcome{Stdout: host.CommandOutput{Head: "x", Bytes: 1}}, nil, `{"duration_ms":0,"exit":0,"stderr":{"bytes":0,"head":"","tail":""},"stdout":{"bytes":1,"head":"x","tail":""}}`},
		{"status", host.CommandOutcome{Exit: 7}, nil, `{"duration_ms":0,"error":{"code":"failed","text":"exit status 7"},"exit":7,`},
		{"not found", host.CommandOutcome{Exit: 127}, nil, `"text":"exit status 127: a command was not found"`},
		{"signal", host.CommandOutcome{Exit: 137, Signal: "SIGKILL"}, nil, `"text":"was ended by SIGKILL"`},
		{"timeout", host.CommandOutcome{Exit: 143, Signal: "SIGTERM", TimedOut: true}, nil, `"code":"timeout","text":"did not end within 1m30s and was ended"`},
		{"no folder", host.CommandOutcome{}, fault.New(fault.IO, "working directory: gone"), `{"error":{"code":"io","text":"working directory: gone"}}`},
	} {
		s := newStage(t, shell, list)
		log := &commandLog{outcome: c.outcome, err: c.err}
		s.write(host.WriteConfig{Commands: log})
		s.holds(s.do("command_run", `{"id":"command:a"}`), c.want)
		if got := log.spec; !slices.Equal(got.Argv, []string{"/bin/sh", "-c", "echo $A | cat"}) || got.Dir != "/srv" || got.Timeout != 90*time.Second || !slices.Equal(got.Env, []string{"PATH=/bin", "A=1"}) {
			t.Errorf("%s: ran %+v", c.name, got)
		}
		s.do("command_run", `{"id":"command:b"}`)
		if got := log.spec; !slices.Equal(got.Argv, []string{"/bin/echo", "a b"}) || got.Dir != "/" {
			t.Errorf("%s: ran %+v", c.name, got)
		}
	}
}

const unitFile = "/etc/systemd/system/a.service"

func unitResources() []resource.Resource {
	return []resource.Resource{
		declare(`{"type":"file","id":"file:/etc/systemd/system/a.service","path":"/etc/systemd/system/a.service","content":"[Service]\n"}`),
		declare(`{"type":"file","id":"file:/lib/systemd/system/t@.service","path":"/lib/systemd/system/t@.service","content":"[Service]\n"}`),
		declare(`{"type":"file","id":"file:/etc/systemd/system/a.service.d/x.conf","path":"/etc/systemd/system/a.service.d/x.conf","content":"[Service]\n"}`),
		declare(`{"type":"file","id":"file:/etc/other","path":"/etc/other","content":"x"}`),
		declare(`{"type":"systemd_unit","id":"systemd_unit:a.timer","name":"a.timer","state":"started"}`),
	}
}

func (s *stage) writeAt(path string) string {
	return s.do("file_replace", replace("file:"+path, path, "0644", "root", "root"))
}

// A reload runs once, before the next action on a unit, and a failure that the old definition left goes with it.
func TestReloadBeforeTheNextUnitAction(t *testing.T) {
	s := newStage(t, unitResources()...)
	s.fs.AddDir("/etc/systemd/system/a.service.d", 0o755, 0, 0)
	s.fs.AddDir("/usr/lib/systemd/system", 0o755, 0, 0)
	s.fs.AddLink("/lib", "usr/lib", 0)
	s.units.failed = []string{"a.service", "t@1.service", "t@2.service", "u@1.service", "other.service"}
	s.want(s.writeAt(unitFile), `{}`)
	s.want(s.writeAt("/etc/systemd/system/a.service.d/x.conf"), `{}`)
	s.want(s.writeAt("/lib/systemd/system/t@.service"), `{}`)
	if len(s.units.calls) != 0 {
		t.Errorf("too early: %q", s.units.calls)
	}
	s.want(s.do("unit_start", `{"name":"a.timer"}`), `{}`)
	s.want(s.do("unit_enable", `{"name":"a.timer"}`), `{}`)
	if err := s.w.Finish(context.Background()); err != nil {
		t.Error(err)
	}
	want := []string{"reload", "reset-failed a.service", "reset-failed t@1.service", "reset-failed t@2.service", "start a.timer", "enable a.timer"}
	if !slices.Equal(s.units.calls, want) {
		t.Errorf("got %q", s.units.calls)
	}
	all := strings.Join(s.effects, "\n")
	s.holds(all, "before daemon_reload "+unitFile+" file:"+unitFile, "after reset_failed a.service file:"+unitFile+" <nil>", "reset_failed t@1.service file:/lib/systemd/system/t@.service")
	if _, marked := s.fs.Content("/var/lib/gyrum/reload-due.json"); marked {
		t.Error("the mark stayed")
	}
}

func TestReloadAtTheEnd(t *testing.T) {
	s := newStage(t, unitResources()...)
	s.fs.AddFile(unitFile, "x", 0o644)
	s.want(s.do("file_remove", fmt.Sprintf(`{"path":%q}`, unitFile)), `{}`)
	for range 2 {
		if err := s.w.Finish(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(s.units.calls, []string{"reload"}) {
		t.Errorf("got %q", s.units.calls)
	}
}

func TestNoReloadWithoutAChange(t *testing.T) {
	s := newStage(t, unitResources()...)
	s.fs.AddDir("/etc/systemd/system", 0o755, 0, 0)
	s.want(s.writeAt("/etc/other"), `{}`)
	s.fs.Inject = func(call, name string) error {
		if call == "rename" && name == "a.service" {
			return syscall.EROFS
		}
		return nil
	}
	s.holds(s.writeAt(unitFile), `"code":"read-only"`)
	s.fs.Inject = nil
	if err := s.w.Finish(context.Background()); err != nil || len(s.units.calls) != 0 {
		t.Errorf("%v, %q", err, s.units.calls)
	}
	if s.units.query.Name != "a.timer" {
		t.Error("what the unit runs from was not recorded")
	}
}

func TestReloadThatAnItemAsksFor(t *testing.T) {
	s := newStage(t, unitResources()...)
	s.want(s.do("unit_reload", `{"name":"a.timer"}`), `{}`)
	s.holds(strings.Join(s.effects, "\n"), "after daemon_reload a.timer systemd_unit:a.timer <nil>")
	s.units.err = fault.New(fault.Unavailable, "no systemd")
	s.holds(s.do("unit_reload", `{"name":"a.timer"}`), `{"error":{"code":"unavailable"`, "daemon-reload")
}

// A unit action waits for a reload that fails, and the mark stays for the next run.
func TestReloadThatFails(t *testing.T) {
	s := newStage(t, unitResources()...)
	s.fs.AddDir("/etc/systemd/system", 0o755, 0, 0)
	s.want(s.writeAt(unitFile), `{}`)
	s.units.err = fault.New(fault.Unavailable, "no systemd")
	s.holds(s.do("unit_start", `{"name":"a.timer"}`), `"unavailable"`, "daemon-reload")
	s.units.err, s.units.calls = nil, nil
	s.begin(unitResources()...)
	if err := s.w.Finish(context.Background()); err != nil || !slices.Equal(s.units.calls, []string{"reload"}) {
		t.Errorf("%v, %q", err, s.units.calls)
	}
}

// Wherever a run is cut, and whatever of it is lost, a unit file that is there in the end has been loaded.
func TestReloadSurvivesPowerCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t, unitResources()...)
		s.fs.AddDir("/etc/systemd/system", 0o755, 0, 0)
		s.power.Cut(rapid.IntRange(0, 40).Draw(rt, "cut"))
		s.do("file_replace", replace("file:"+unitFile, unitFile, "0644", "root", "root"))
		_ = s.w.Finish(context.Background())
		s.fs.Crash(func(n int, c hosttest.Change) bool {
			return rapid.Bool().Draw(rt, fmt.Sprintf("lose %d %s", n, c.Call))
		})
		_, written := s.fs.Content(unitFile)

		s.begin(unitResources()...)
		if err := s.w.Finish(context.Background()); err != nil {
			rt.Fatal(err)
		}
		if written && !slices.Contains(s.units.calls, "reload") {
			rt.Fatal("the file is there and was never loaded")
		}
		s.units.calls = nil
		if err := s.w.Finish(context.Background()); err != nil || len(s.units.calls) != 0 {
			rt.Fatalf("the next run reloads again: %v, %q", err, s.units.calls)
		}
	})
}
