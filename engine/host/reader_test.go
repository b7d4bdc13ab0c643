package host_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/secret"
)

func TestFileStatReplies(t *testing.T) {
	s := newStage(t)
	s.fs.Add("/d/f", fsys.Info{Kind: "file", Mode: 0o4755, UID: 33, GID: 12321}, "abc")
	s.fs.AddLink("/d/l", "f\xff", 0)
	s.fs.AddDir("/e", 0o1777, 0, 0)
	s.fs.Add("/d/p", fsys.Info{Kind: "fifo", Mode: 0o600}, "")
	for path, want := range map[string]string{
		"/d/f":   `{"exists":true,"gid":12321,"group":"12321","kind":"file","mode":"4755","nlink":1,"owner":"www-data","size":3,"uid":33}`,
		"/d/l":   `{"exists":true,"gid":0,"group":"root","kind":"symlink","mode":"0777","owner":"root","target":"f\\xff","uid":0}`,
		"/e":     `{"empty":true,"exists":true,"gid":0,"group":"root","kind":"directory","mode":"1777","owner":"root","uid":0}`,
		"/d/p":   `{"exists":true,"gid":0,"group":"root","kind":"fifo","mode":"0600","owner":"root","uid":0}`,
		"/none":  `{"exists":false}`,
		"/n/o":   `{"exists":false,"missing_parent":"/n"}`,
		"/d/f/c": `{"bad_parent":{"kind":"file","path":"/d/f"},"exists":false}`,
		"d/f":    `{"error":{"code":"invalid","text":"\"d/f\" is no absolute path"}}`,
	} {
		s.want(s.ask("file_stat", fmt.Sprintf(`{"path":%q}`, path)), want)
	}
}

func TestOtherQuestionsOfFiles(t *testing.T) {
	s := newStage(t)
	s.fs.AddFile("/f", "abc", 0o644)
	s.fs.AddDir("/d/x", 0o755, 0, 0)
	s.want(s.ask("file_digest", `{"path":"/f"}`), `{"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":3}`)
	s.holds(s.ask("file_digest", `{"path":"/d"}`), `"error"`)
	s.want(s.ask("path_exists", `{"path":"/f"}`), `{"exists":true,"kind":"file"}`)
	s.want(s.ask("path_exists", `{"path":"/f/"}`), `{"exists":false}`)
	s.want(s.ask("account", `{"group":"nosuch","user":"www-data"}`), `{"group":{"exists":false},"user":{"exists":true,"id":33}}`)
	s.want(s.ask("account", `{"user":"12321"}`), `{"user":{"exists":true,"id":12321}}`)
}

// Nothing is absent because it could not be seen.
func TestWhatCannotBeSeenIsAnError(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/d/f","path":"/d/f","content":{"secret_ref":"file:/s"}}`)
	env := declare(`{"type":"env","id":"env:/d/e","path":"/d/e","vars":{"A":"1"}}`)
	s := newStage(t, file, env)
	s.secrets["file:/s"] = "abc"
	s.fs.AddFile("/d/f", "abc", 0o600)
	s.fs.AddFile("/d/e", "A=1\n", 0o600)
	s.fs.AddFile("/d/plain", "x", 0o600)
	s.fs.Inject = func(call, name string) error {
		if name == "d" {
			return syscall.EACCES
		}
		return nil
	}
	for capability, request := range map[string]string{
		"file_stat": `{"path":"/d/f"}`, "file_digest": `{"path":"/d/plain"}`, "path_exists": `{"path":"/d/f"}`,
		"content_matches": `{"id":"file:/d/f"}`, "env_file": `{"id":"env:/d/e"}`,
	} {
		s.holds(s.ask(capability, request), `{"error":{"code":"permission-denied"`, "/d")
	}
	s.fs.Inject = func(call, name string) error {
		if call == "open" && name == "passwd" {
			return syscall.EIO
		}
		return nil
	}
	s.r.Forget()
	s.holds(s.ask("file_stat", `{"path":"/d/f"}`), `{"error":{"code":"io"`)
	s.holds(s.ask("account", `{"user":"nosuch"}`), `{"error":{"code":"io"`)
}

// What no working plugin asks is no reply but an error of the caller's.
func TestMisuse(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/f","path":"/f","content":{"secret_ref":"file:/s"}}`)
	plain := declare(`{"type":"file","id":"file:/p","path":"/p","content":"x"}`)
	unit := declare(`{"type":"systemd_unit","id":"systemd_unit:a.service","name":"a.service","state":"started"}`)
	s := newStage(t, file, plain, unit)
	for _, c := range []struct{ capability, request string }{
		{"no_such", `{}`}, {"file_replace", `{}`}, {"file_stat", `{"path":"/f","more":1}`}, {"file_stat", `{"path":1}`},
		{"file_stat", `{"path":"/f"} {}`}, {"file_stat", `nonsense`}, {"file_digest", `{"path":"/f"}`}, {"content_matches", `{"id":"file:/p"}`},
		{"content_matches", `{"id":"file:/none"}`}, {"env_file", `{"id":"file:/f"}`}, {"unit", `{"id":"systemd_unit:a.service","name":"b.service"}`},
	} {
		s.holds(s.ask(c.capability, c.request), "misuse: ")
	}
	for _, c := range []struct{ capability, request string }{
		{"file_stat", `{"path":"/f"}`}, {"file_replace", `{"id":"file:/p","path":"/f","mode":"0644","owner":"root","group":"root"}`},
		{"env_replace", `{"id":"file:/p","path":"/p","mode":"0644","owner":"root","group":"root"}`},
		{"file_mode", `{"path":"/p","mode":"644","kind":"file"}`}, {"file_mode", `{"path":"/p","mode":"0644","kind":"fifo"}`},
		{"file_owner", `{"path":"/p","mode":"9999","owner":"root","group":"root","kind":"file"}`}, {"command_run", `{"id":"file:/p"}`},
	} {
		s.holds(s.do(c.capability, c.request), "misuse: ")
	}
	if len(s.effects) != 0 {
		t.Errorf("effects: %q", s.effects)
	}
}

func TestContentMatches(t *testing.T) {
	file := declare(`{"type":"file","id":"file:/f","path":"/f","content":{"secret_ref":"file:/s"}}`)
	for _, c := range []struct{ name, have, secret, want string }{
		{"same", "1234", "1234", `{"match":"match"}`},
		{"other", "1235", "1234", `{"match":"differs"}`},
		{"longer", "1234\n", "1234", `{"match":"differs"}`},
		{"missing", "-", "1234", `{"match":"absent"}`},
		{"unresolved", "1234", "-", `{"error":{"code":"secret-unresolved","text":"secret file:/s: not there"}}`},
		{"unresolved and missing", "-", "-", `{"error":{"code":"secret-unresolved","text":"secret file:/s: not there"}}`},
	} {
		s := newStage(t, file)
		if c.secret != "-" {
			s.secrets["file:/s"] = c.secret
		}
		if c.have != "-" {
			s.fs.AddFile("/f", c.have, 0o600)
		}
		s.want(s.ask("content_matches", `{"id":"file:/f"}`), c.want)
	}
	s := newStage(t, file)
	s.secrets["file:/s"] = "1234"
	s.fs.AddFile("/real", "1234", 0o600)
	s.fs.AddLink("/f", "real", 0)
	s.want(s.ask("content_matches", `{"id":"file:/f"}`), `{"match":"differs"}`)
	s.fs.AddFile("/f", "1234", 0o600)
	s.want(s.ask("file_stat", `{"path":"/f"}`), `{"exists":true,"gid":0,"group":"root","kind":"file","mode":"0600","nlink":1,"owner":"root","uid":0}`)
}

func TestEnvFileReplies(t *testing.T) {
	env := declare(`{"type":"env","id":"env:/e","path":"/e","vars":{"PLAIN":"a b","TOKEN":{"secret_ref":"exec:t"}}}`)
	for _, c := range []struct{ name, have, want string }{
		{"as declared", "PLAIN='a b'\nTOKEN=s3cret\n", `"readable":true,"same":true,"uid":0,"vars":{"PLAIN":"a b","TOKEN":"match"}}`},
		{"secret differs", "PLAIN='a b'\nTOKEN=other\n", `"readable":true,"same":false,"uid":0,"vars":{"PLAIN":"a b","TOKEN":"differs"}}`},
		{"secret missing", "PLAIN=x\n", `"readable":true,"same":false,"uid":0,"vars":{"PLAIN":"x","TOKEN":"absent"}}`},
		{"one more", "PLAIN='a b'\nTOKEN=s3cret\nOLD=hidden\n", `"same":false,"uid":0,"vars":{"OLD":"present","PLAIN":"a b","TOKEN":"match"}}`},
		{"dropped name", "PLAIN='a b'\nTOKEN=s3cret\nMY-VAR=hidden\n", `"ignored":1,"kind":"file","mode":"0640","nlink":1,"owner":"root","readable":true,"same":false`},
		{"byte order mark", "\xef\xbb\xbfPLAIN='a b'\nTOKEN=s3cret\n", `"damage":"it begins with a byte order mark`},
		{"Latin-1", "PLAIN='a b'\nTOKEN=s3cret\nX=\xe9\n", `"damage":"line 3 is not UTF-8`},
		{"joined comment", "# x \\\nPLAIN='a b'\nPLAIN='a b'\nTOKEN=s3cret\n", `"same":true`},
		{"ambiguous comment", "PLAIN='a b'\nTOKEN=s3cret\n# x \\\nY=1\n", `"damage":"a comment ends in a backslash`},
		{"unterminated", "PLAIN='a b'\nTOKEN=\"s3cret", `"same":true`},
	} {
		s := newStage(t, env)
		s.secrets["exec:t"] = "s3cret\n"
		s.fs.AddFile("/e", c.have, 0o640)
		got := s.ask("env_file", `{"id":"env:/e"}`)
		s.holds(got, c.want)
		for _, hidden := range []string{"s3cret", "hidden", "other", `"size"`} {
			if strings.Contains(got, hidden) {
				t.Errorf("%s: the reply holds %s: %s", c.name, hidden, got)
			}
		}
	}
	s := newStage(t, env)
	s.want(s.ask("env_file", `{"id":"env:/e"}`), `{"exists":false,"readable":false,"same":false,"unresolved":"secret exec:t: not there"}`)
	s.fs.AddFile("/e", "PLAIN='a b'\nTOKEN=x\n", 0o640)
	s.holds(s.ask("env_file", `{"id":"env:/e"}`), `"unresolved":"secret exec:t: not there"`, `"TOKEN":"unresolved"`, `"same":false`)
	s.secrets["exec:t"] = "nul\x00nul"
	s.holds(s.ask("env_file", `{"id":"env:/e"}`), `"unresolved":"secret exec:t: the value of TOKEN has bytes`)
}

func TestUnitQuestions(t *testing.T) {
	unit := declare(`{"type":"systemd_unit","id":"systemd_unit:a.service","name":"a.service","unit_file":"/etc/systemd/system//a.service","restart_on":["file:/etc/a","package:a"]}`)
	s := newStage(t, unit)
	s.holds(s.ask("unit", `{"id":"systemd_unit:a.service","name":"a.service"}`), `"load_state":"loaded"`, `"inputs":[]`, `"stale_inputs":[]`, `"triggered_by":[]`)
	q := s.units.query
	if q.Name != "a.service" || q.UnitFile != "/etc/systemd/system/a.service" || len(q.RestartOn) != 2 ||
		q.RestartOn[0] != (host.UnitInput{ID: "file:/etc/a", Path: "/etc/a"}) || q.RestartOn[1] != (host.UnitInput{ID: "package:a", Package: "a"}) {
		t.Errorf("asked %+v", q)
	}
}

func TestLook(t *testing.T) {
	env := declare(`{"type":"env","id":"env:/etc/e","path":"/etc/e","vars":{"T":{"secret_ref":"exec:t"}}}`)
	s := newStage(t, env)
	s.fs.AddFile("/etc/f", "abc", 0o644)
	s.fs.AddFile("/etc/e", "T=1234\n", 0o600)
	s.fs.AddDir("/etc/d", 0o755, 0, 0)
	s.fs.AddLink("/etc/l", "f", 0)
	s.fs.AddLink("/etc/le", "e", 0)
	s.fs.Add("/dev/null", fsys.Info{Kind: "char", Mode: 0o666}, "")
	s.fs.AddLink("/etc/masked", "/dev/null", 0)
	look := func(p string) host.InputFact {
		f, err := s.r.Look(p)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		return f
	}
	const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if f, l := look("/etc/f"), look("/etc/l"); f.Digest != abc || l.Digest != abc || f.MTime == 0 || l.CTime <= f.CTime || l.Kind != "file" {
		t.Errorf("got %+v and, through a link, %+v", f, l)
	}
	if f := look("/etc/none"); f.Exists || f.Digest != "" {
		t.Errorf("got %+v", f)
	}
	d := look("/etc/d")
	s.fs.AddFile("/etc/d/entry", "", 0o644)
	if again := look("/etc/d"); again.Digest != d.Digest || again.MTime != 0 {
		t.Errorf("an entry is no change of its directory: %+v, %+v", d, again)
	}
	s.do("file_mode", `{"path":"/etc/d","mode":"0700","kind":"directory"}`)
	if again := look("/etc/d"); again.Digest == d.Digest {
		t.Error("another mode has the same digest")
	}
	if f := look("/etc/masked"); f.Digest != "device" {
		t.Errorf("got %+v", f)
	}
	if f := look("/etc/e"); !f.Exists || f.Digest != "" || f.MTime == 0 {
		t.Errorf("without a key a secret has a digest: %+v", f)
	}
	key, err := secret.EnsureKey(files.NewWriteTree(s.fs, 0), "/var/lib/gyrum")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/etc/e", "/etc/le"} {
		if f := look(p); f.Digest != key.Digest([]byte("T=1234\n")) {
			t.Errorf("%s: got %+v", p, f)
		}
	}
}

func TestReaderReachesNoWriter(t *testing.T) {
	fs := fsys.ReadOnly(newStage(t).fs)
	root, err := fs.Root()
	if err != nil {
		t.Fatal(err)
	}
	sub, err := root.OpenDir("etc")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{fs, root, sub} {
		if _, ok := v.(fsys.FS); ok {
			t.Errorf("%T can be changed", v)
		}
		if _, ok := v.(fsys.Dir); ok {
			t.Errorf("%T can be changed", v)
		}
	}
	var _ host.Asker = (*host.Reader)(nil)
	var _ host.Doer = (*host.Writer)(nil)
}
