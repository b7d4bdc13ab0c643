package sweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/manifest"
)

// The roles use every verb: install, upgrade, remove, write, chmod, chown, start, stop, enable, disable and run.
var catalog = map[string]string{
	"hosts/t.yaml": "name: t\nroles: [web, jobs, beyond]\n",
	"host-roles/host.yaml": `role: host
version: 1
description: base
requires: []
mutually_exclusive: []
resources:
  - {type: package, name: tool, version: "2.0"}
  - {type: package, name: old, state: absent}
  - {type: file, path: /etc/motd, content: "hello\n", mode: "0644"}
  - {type: file, path: /etc/issue, content: "hello\n", mode: "0600", owner: "7", group: "7"}
  - {type: file, path: /etc/legacy, state: absent}
  - {type: directory, path: /etc/empty, state: absent}
`,
	"host-roles/web.yaml": `role: web
version: 1
description: a service with its package, its files and its environment
requires: [host]
mutually_exclusive: []
resources:
  - {type: package, name: app}
  - {type: directory, path: /etc/web, mode: "0750", group: app}
  - {type: file, path: /etc/web/conf, content: "new\n", group: app}
  - {type: file, path: /etc/systemd/system/web.service, content: "[Service]\nExecStart=/usr/bin/web --new\nEnvironmentFile=/etc/web.env\n[Install]\nWantedBy=multi-user.target\n"}
  - {type: systemd_unit, name: web.service, state: started, enabled: true, unit_file: /etc/systemd/system/web.service, restart_on: ["file:/etc/web/conf", "package:tool"]}
  - {type: env, path: /etc/web.env, vars: {PORT: "81", TOKEN: {secret_ref: "file:/etc/gyrum/secrets/token"}}}
  - {type: systemd_unit, name: app.service, state: stopped, enabled: false}
`,
	"host-roles/jobs.yaml": `role: jobs
version: 1
description: |
  command:again has no mark to go by; running it twice does no harm.
requires: []
mutually_exclusive: []
resources:
  - {type: systemd_unit, name: on.service, enabled: true}
  - {type: systemd_unit, name: off.service, enabled: false}
  - {type: systemd_unit, name: quiet.service, state: stopped}
  - {type: command, id: "command:once", run: once, creates: /var/lib/once}
  - {type: command, id: "command:again", run: again, idempotent: false}
`,
	"host-roles/beyond.yaml": `role: beyond
version: 1
description: the types beyond the first six, after the package that makes a group, so that groups have one order
requires: [web]
mutually_exclusive: []
resources:
  - {type: group, name: workers, gid: 700}
  - {type: group, name: moved, gid: 701}
  - {type: user, name: worker, uid: 700, group: workers, groups: [moved], system: true}
  - {type: user, name: kept, shell: /bin/false, groups: []}
  - {type: user, name: gone, state: absent}
  - {type: group, name: gone, state: absent}
  - {type: file, path: /etc/owned, content: "mine\n", owner: worker, group: workers}
  - {type: symlink, path: /etc/link, target: new, owner: worker}
  - {type: symlink, path: /etc/dead, target: x, state: absent}
  - {type: line, path: /etc/defs, key: a, line: "A 2", match: "^A "}
  - {type: line, path: /etc/defs, key: b, line: "B 1", after: "^A "}
  - {type: line, path: /etc/defs, key: c, line: "C", state: absent}
`,
}

// target reads the catalog.
func target(t testing.TB) engine.Target {
	t.Helper()
	root := t.TempDir()
	for name, text := range catalog {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := manifest.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	plan, findings := c.Host("t")
	if plan == nil {
		t.Fatalf("catalog: %v", findings)
	}
	out := engine.Target{Host: plan.Host, Catalog: drift.Catalog{Digest: plan.Digest}, Resources: plan.Resources}
	for _, r := range plan.Roles {
		out.Roles = append(out.Roles, engine.Role{Name: r.Name, Requires: r.Requires})
	}
	return out
}

// managed are the files whose every state is either the old one or the declared one.
var managed = []string{"/etc/motd", "/etc/issue", "/etc/legacy", "/etc/web/conf", "/etc/systemd/system/web.service", "/etc/web.env", "/etc/owned"}

// scene is a host on which everything has drifted.
func scene(t testing.TB) *hosttest.Host {
	h := hosttest.NewHost()
	h.Secrets["file:/etc/gyrum/secrets/token"] = "s3cret"
	service := func(exec string) string {
		return "[Service]\nExecStart=" + exec + "\n[Install]\nWantedBy=multi-user.target\n"
	}
	h.Packages.Offer(
		hosttest.Package{Name: "tool", Version: "1.0"}, hosttest.Package{Name: "tool", Version: "2.0"},
		hosttest.Package{Name: "app", Version: "1", Groups: []string{"app"}, Starts: []string{"app.service"},
			Files: map[string]string{"/usr/lib/systemd/system/app.service": service("/usr/bin/app")}})
	h.Packages.Set("tool", "1.0")
	h.Packages.Set("old", "1")
	h.FS.AddFile("/etc/motd", "hello\n", 0o600)
	h.FS.AddFile("/etc/issue", "hello\n", 0o600)
	h.FS.AddFile("/etc/legacy", "old\n", 0o644)
	h.FS.AddDir("/etc/empty", 0o755, 0, 0)
	h.FS.AddFile("/etc/systemd/system/web.service", service("/usr/bin/web --old"), 0o644)
	h.FS.AddFile("/etc/web.env", "PORT=80\n", 0o640)
	for _, name := range []string{"on", "off", "quiet"} {
		h.FS.AddFile("/usr/lib/systemd/system/"+name+".service", service("/usr/bin/"+name), 0o644)
	}
	h.Units.SetEnabled("off.service", true)
	for _, name := range []string{"web.service", "quiet.service"} {
		if err := h.Units.Set(name, true); err != nil {
			t.Fatal(err)
		}
	}
	h.FS.AddFile("/etc/passwd", "root:x:0:0::/root:/bin/sh\nkept:x:900:900::/home/kept:/bin/sh\ngone:x:901:901::/home/gone:/bin/sh\n", 0o644)
	h.FS.AddFile("/etc/group", "root:x:0:\nkept:x:900:\ngone:x:901:\nmoved:x:902:kept,gone\n", 0o644)
	h.FS.AddLink("/etc/link", "old", 0)
	h.FS.AddLink("/etc/dead", "x", 0)
	h.FS.AddFile("/etc/defs", "# theirs\nA 1\nC\n", 0o600)
	return scripted(h)
}

// scripted gives a host the commands that change it.
func scripted(h *hosttest.Host) *hosttest.Host {
	h.Commands.Scripts = map[string]func([]string) (host.CommandOutcome, error){
		"once": func([]string) (host.CommandOutcome, error) {
			return host.CommandOutcome{}, touch(h.FS, "var", "lib", "once")
		},
	}
	return h
}

// touch makes an empty file, durably; the steps lead to it from the root.
func touch(system fsys.FS, steps ...string) error {
	at, err := system.WritableRoot()
	if err != nil {
		return err
	}
	last := len(steps) - 1
	for _, step := range steps[:last] {
		if at, err = at.OpenWritable(step); err != nil {
			return err
		}
	}
	f, err := at.Create(steps[last], 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), at.Sync())
}

// lock is the apply lock of one host; it dies with the program, that is with the value.
type lock struct {
	mu   sync.Mutex
	held *journal.Owner
}

func (l *lock) Lock(p string, o journal.Owner) (func() error, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return nil, &journal.LockedError{Path: p, Owner: *l.held}
	}
	l.held = &o
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held = nil
		return nil
	}, nil
}

func (l *lock) Peek(p string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return &journal.LockedError{Path: p, Owner: *l.held}
	}
	return nil
}

// moment is when everything happens: ids and order do not hang on the clock.
func moment() time.Time { return time.Date(2026, 5, 6, 10, 0, 0, 0, time.UTC) }

// program is one run of the program on the host: whatever another run remembered is gone.
func program(h *hosttest.Host, target engine.Target) engine.ApplyOptions {
	read, write := h.Configs()
	reader := host.NewReader(read, target.Resources)
	only := &lock{}
	return engine.ApplyOptions{
		CheckOptions: engine.CheckOptions{
			Target: target, Modules: modules(), Plugins: observer{reader}, State: fsys.ReadOnly(h.FS), StateDir: hosttest.StateDir,
			Resolve: reader.Resolve, Running: only, Clock: moment, Random: rand.NewChaCha8([32]byte{}),
		},
		Look: func(context.Context) engine.Observer {
			reader.Forget()
			return observer{reader}
		},
		StateFS: h.FS, Locker: only, AutoConfirm: true,
		NewHand: func(_ context.Context, on host.EffectFunc) (engine.Hand, error) {
			return hand{observer{reader}, host.NewWriter(reader, write, on)}, nil
		},
	}
}

// results shows an executed report.
func results(r *drift.Report) string {
	var b strings.Builder
	for _, it := range r.Items {
		b.WriteString(it.Resource.ID + " " + string(it.Action.Verb) + " " + string(it.Action.Params))
		if it.Result != nil {
			b.WriteString(" " + string(it.Result.Status) + " " + it.Result.Error)
		}
		b.WriteString("\n")
	}
	return b.String()
}
