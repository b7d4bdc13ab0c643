package host_test

import (
	"strings"
	"testing"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/resource"
)

// model is a model host with the resources declared on it.
type model struct {
	t *testing.T
	*hosttest.Host
	r *host.Reader
	w *host.Writer
}

func newModel(t *testing.T, rs ...resource.Resource) *model {
	m := &model{t: t, Host: hosttest.NewHost()}
	m.FS.AddFile("/etc/passwd", "root:x:0:0::/root:/bin/sh\nbob:x:1000:1000::/home/bob:/bin/sh\n", 0o644)
	m.FS.AddFile("/etc/group", "root:x:0:\nbob:x:1000:\nstaff:x:50:bob\nsudo:x:27:\n", 0o644)
	read, write := m.Configs()
	m.r = host.NewReader(read, rs)
	m.w = host.NewWriter(m.r, write, nil)
	return m
}

func (m *model) ask(capability, request, want string) {
	m.t.Helper()
	raw, err := m.r.Ask(m.t.Context(), capability, []byte(request))
	if got := said(raw, err); got != want {
		m.t.Errorf("%s %s\n got %s\nwant %s", capability, request, got, want)
	}
}

func (m *model) do(capability, request, want string) {
	m.t.Helper()
	raw, err := m.w.Do(m.t.Context(), capability, []byte(request))
	if got := said(raw, err); !strings.Contains(got, want) {
		m.t.Errorf("%s %s\n got %s\nwant %s", capability, request, got, want)
	}
}

func said(raw []byte, err error) string {
	if err != nil {
		return "misuse: " + err.Error()
	}
	return string(raw)
}

func TestAccountEntries(t *testing.T) {
	m := newModel(t)
	m.Accounts.Running[1000] = true
	m.ask("user_entry", `{"name":"bob"}`, `{"exists":true,"gid":1000,"group":"bob","groups":["staff"],"home":"/home/bob","local":true,"shell":"/bin/sh","uid":1000}`)
	m.ask("user_entry", `{"name":"bob","processes":true}`, `{"busy":true,"exists":true,"gid":1000,"group":"bob","groups":["staff"],"home":"/home/bob","local":true,"shell":"/bin/sh","uid":1000}`)
	m.ask("user_entry", `{"name":"eve","uid":1000}`, `{"exists":false,"local":false,"taken_by":"bob"}`)
	m.ask("user_entry", `{"name":"eve","uid":1001}`, `{"exists":false,"local":false}`)
	m.ask("user_entry", `{"name":"a:b"}`, `{"exists":false,"local":false}`)
	m.ask("group_entry", `{"name":"staff","gid":50}`, `{"exists":true,"gid":50,"local":true}`)
	m.ask("group_entry", `{"gid":27,"name":"bob"}`, `{"exists":true,"gid":1000,"local":true,"primary_of":["bob"],"taken_by":"sudo"}`)
	m.ask("group_entry", `{"name":"eve"}`, `{"exists":false,"local":false}`)
}

// TestAccountsComeFromTheDeclaredRecord shows that a plugin cannot say what an account becomes.
func TestAccountsComeFromTheDeclaredRecord(t *testing.T) {
	m := newModel(t,
		declare(`{"type":"user","id":"user:bob","name":"bob","groups":["staff"],"shell":"/bin/bash","state":"present"}`),
		declare(`{"type":"user","id":"user:app","name":"app","uid":600,"system":true,"state":"present"}`),
		declare(`{"type":"user","id":"user:root","name":"root","state":"absent"}`),
		declare(`{"type":"group","id":"group:web","name":"web","gid":700,"state":"present"}`),
	)
	m.do("user_change", `{"fields":["groups","uid"],"id":"user:bob","name":"bob"}`, "misuse")
	m.do("user_change", `{"fields":["groups"],"groups":["sudo"],"id":"user:bob","name":"bob"}`, "misuse")
	m.do("user_change", `{"fields":["shell"],"id":"user:bob","name":"root"}`, "misuse")
	m.do("user_remove", `{"id":"group:web","name":"web"}`, "misuse")
	m.do("user_remove", `{"id":"user:root","name":"root"}`, `"code":"invalid"`)
	m.do("user_change", `{"fields":["shell"],"id":"user:bob","name":"bob"}`, "{}")
	m.do("group_add", `{"id":"group:web","name":"web"}`, "{}")
	m.do("user_add", `{"id":"user:app","name":"app"}`, "{}")
	passwd, _ := m.FS.Content("/etc/passwd")
	group, _ := m.FS.Content("/etc/group")
	if !strings.Contains(passwd, "bob:x:1000:1000::/home/bob:/bin/bash\n") || !strings.Contains(passwd, "app:x:600:999::/nonexistent:/usr/sbin/nologin\n") ||
		group != "root:x:0:\nbob:x:1000:\nstaff:x:50:bob\nsudo:x:27:\nweb:x:700:\napp:x:999:\n" {
		t.Errorf("passwd\n%sgroup\n%s", passwd, group)
	}
	// What was looked up before is not remembered.
	m.ask("account", `{"user":"app"}`, `{"user":{"exists":true,"id":600}}`)
}

func TestSymlinksAreThemselves(t *testing.T) {
	m := newModel(t,
		declare(`{"type":"symlink","id":"symlink:/etc/l","path":"/etc/l","target":"conf.d/a","owner":"root","group":"root","state":"present"}`),
		declare(`{"type":"symlink","id":"symlink:/etc/f","path":"/etc/f","target":"x","owner":"root","group":"root","state":"present"}`),
	)
	m.FS.AddFile("/etc/f", "kept", 0o644)
	m.do("symlink_make", `{"group":"root","id":"symlink:/etc/l","owner":"bob","path":"/etc/f"}`, "misuse")
	m.do("symlink_make", `{"group":"root","id":"symlink:/etc/f","owner":"root","path":"/etc/f"}`, "only a symlink is replaced")
	m.do("symlink_remove", `{"path":"/etc/f"}`, "not a symlink")
	m.do("symlink_owner", `{"group":"root","owner":"bob","path":"/etc/f"}`, `"code":"invalid"`)
	if text, _ := m.FS.Content("/etc/f"); text != "kept" {
		t.Errorf("the file holds %q", text)
	}
	m.do("symlink_make", `{"group":"staff","id":"symlink:/etc/l","owner":"bob","path":"/etc/l"}`, "{}")
	if got := m.FS.Dump()["/etc/l"]; got != `symlink 0777 1000:50 ""conf.d/a` {
		t.Errorf("the link is %s", got)
	}
	m.do("symlink_owner", `{"group":"root","owner":"root","path":"/etc/l"}`, "{}")
	if got := m.FS.Dump()["/etc/l"]; got != `symlink 0777 0:0 ""conf.d/a` {
		t.Errorf("the link is %s", got)
	}
	m.do("symlink_remove", `{"path":"/etc/l"}`, "{}")
	m.do("symlink_remove", `{"path":"/etc/l"}`, "{}")
	if _, there := m.FS.Dump()["/etc/l"]; there {
		t.Error("the link is still there")
	}
}

func TestOneLineOfAFile(t *testing.T) {
	m := newModel(t,
		declare(`{"type":"line","id":"line:/etc/login.defs#umask","path":"/etc/login.defs","key":"umask","line":"UMASK 027","match":"^UMASK ","state":"present"}`),
		declare(`{"type":"line","id":"line:/etc/no#a","path":"/etc/no","key":"a","line":"a","state":"present"}`),
	)
	m.FS.AddFile("/etc/login.defs", "# hi\nUMASK 022\nX y", 0o640)
	m.ask("line_state", `{"id":"line:/etc/login.defs#umask"}`, `{"anchors":0,"managed":1,"same":0}`)
	m.do("line_write", `{"id":"line:/etc/login.defs#umask","path":"/etc/passwd"}`, "misuse")
	m.do("line_write", `{"id":"line:/etc/no#a","path":"/etc/no"}`, "does not exist")
	m.do("line_write", `{"id":"line:/etc/login.defs#umask","path":"/etc/login.defs"}`, "{}")
	if got := m.FS.Dump()["/etc/login.defs"]; got != `file 0640 0:0 "# hi\nUMASK 027\nX y"` {
		t.Errorf("the file is %s", got)
	}
	m.ask("line_state", `{"id":"line:/etc/login.defs#umask"}`, `{"anchors":0,"managed":1,"same":1}`)
	m.do("line_remove", `{"id":"line:/etc/login.defs#umask","path":"/etc/login.defs"}`, "{}")
	if got, _ := m.FS.Content("/etc/login.defs"); got != "# hi\nX y" {
		t.Errorf("the file holds %q", got)
	}
	m.FS.AddFile("/etc/login.defs", strings.Repeat("x\n", 3<<20), 0o640)
	m.ask("line_state", `{"id":"line:/etc/login.defs#umask"}`, `{"anchors":0,"managed":0,"same":0,"too_large":true}`)
}
