// Package replay holds the built plugins to what traces and tapes promise, on model hosts: whatever is declared and whatever
// the host is, a check comes to the same with traces, without them, and from a tape of it.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/plugin/tape"
	"gyrum.ai/plugins"
)

// A draw costs some ten runs of each module, so there are fewer of them than rapid makes; -rapid.checks asks for more.
func TestMain(m *testing.M) {
	checks := flag.Lookup("rapid.checks")
	checks.DefValue = "20"
	if err := checks.Value.Set(checks.DefValue); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

const secretRef = "file:/etc/gyrum/secrets/token"

// declarations are the resources that manifests are drawn from; each list is of one resource in several forms.
var declarations = [][]string{
	{`{type: package, name: tool}`, `{type: package, name: tool, version: "2.0"}`, `{type: package, name: tool, state: absent}`},
	{`{type: package, name: app}`},
	{`{type: directory, path: /etc/web, mode: "0750", group: app}`, `{type: directory, path: /etc/web}`, `{type: directory, path: /etc/web, state: absent}`},
	{`{type: file, path: /etc/web/conf, content: "new\n"}`, `{type: file, path: /etc/web/conf, content: "new\n", mode: "0600", owner: "7"}`,
		`{type: file, path: /etc/web/conf, state: absent}`, `{type: file, path: /etc/web/conf, content: {secret_ref: "` + secretRef + `"}}`},
	{`{type: file, path: /etc/motd, content: "hello\n"}`, `{type: file, path: /etc/motd, content: ""}`},
	{`{type: file, path: /etc/link/conf, content: "new\n"}`},
	{`{type: env, path: /etc/web.env, vars: {PORT: "81", TOKEN: {secret_ref: "` + secretRef + `"}}}`, `{type: env, path: /etc/web.env, vars: {PORT: "80"}}`},
	{`{type: file, path: /etc/systemd/system/web.service, content: "[Service]\nExecStart=/usr/bin/web\nEnvironmentFile=/etc/web.env\n[Install]\nWantedBy=multi-user.target\n"}`},
	{`{type: systemd_unit, name: web.service, state: started, enabled: true}`, `{type: systemd_unit, name: web.service, state: stopped}`,
		`{type: systemd_unit, name: web.service, enabled: false}`},
	{`{type: command, id: "command:once", run: once, creates: /var/lib/once}`, `{type: command, id: "command:once", run: again, idempotent: false}`},
}

// mutations are what may happen to a host between two checks.
var mutations = []func(*hosttest.Host){
	func(h *hosttest.Host) { h.FS.AddFile("/etc/motd", "hello\n", 0o644) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/motd", "other\n", 0o600) },
	func(h *hosttest.Host) { h.FS.AddDir("/etc/web", 0o750, 0, 0) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/web/conf", "new\n", 0o644) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/web/conf", "Vq7xPZ-token", 0o644) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/web", "a file", 0o644) },
	func(h *hosttest.Host) { h.FS.AddLink("/etc/motd", "/etc/issue", 0) },
	func(h *hosttest.Host) { h.FS.AddLink("/etc/link", "/etc/web", 0) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/web.env", "PORT=81\nTOKEN=Vq7xPZ-token\n", 0o640) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/web.env", "PORT=80\nEXTRA=Vq7xPZ-token\n", 0o640) },
	func(h *hosttest.Host) { h.FS.AddFile("/var/lib/once", "", 0o644) },
	func(h *hosttest.Host) { h.FS.AddFile("/etc/group", "root:x:0:\napp:x:7:\n", 0o644) },
	func(h *hosttest.Host) { h.Packages.Set("tool", "1.0") },
	func(h *hosttest.Host) { h.Packages.Set("tool", "2.0") },
	func(h *hosttest.Host) { h.Packages.Set("tool", "1.0"); h.Packages.Hold("tool", true) },
	func(h *hosttest.Host) { h.Secrets[secretRef] = "Vq7xPZ-token" },
	func(h *hosttest.Host) { delete(h.Secrets, secretRef) },
	func(h *hosttest.Host) { h.Units.SetEnabled("web.service", true) },
	func(h *hosttest.Host) {
		h.FS.AddFile("/etc/systemd/system/web.service", "[Service]\nExecStart=/usr/bin/web\nEnvironmentFile=/etc/web.env\n[Install]\nWantedBy=multi-user.target\n", 0o644)
		_ = h.Units.Reload(context.Background())
	},
	func(h *hosttest.Host) { _ = h.Units.Set("web.service", true) },
	func(h *hosttest.Host) { _ = h.Units.Set("web.service", false) },
}

func newHost() *hosttest.Host {
	h := hosttest.NewHost()
	h.Secrets[secretRef] = "Vq7xPZ-token"
	h.Packages.Offer(hosttest.Package{Name: "tool", Version: "1.0"}, hosttest.Package{Name: "tool", Version: "2.0"},
		hosttest.Package{Name: "app", Version: "1", Groups: []string{"app"}})
	return h
}

// targetOf reads a catalog of one host with these resources.
func targetOf(t testing.TB, resources ...string) engine.Target {
	t.Helper()
	root := t.TempDir()
	role := "role: host\nversion: 1\ndescription: twice does no harm\nresources:\n"
	for _, r := range resources {
		role += "  - " + r + "\n"
	}
	if len(resources) == 0 {
		role = strings.Replace(role, "resources:\n", "resources: []\n", 1)
	}
	for name, text := range map[string]string{"hosts/t.yaml": "name: t\nroles: []\n", "host-roles/host.yaml": role} {
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
		t.Fatalf("catalog: %v\n%s", findings, role)
	}
	return engine.Target{Host: "t", Catalog: drift.Catalog{Digest: plan.Digest}, Resources: plan.Resources, Roles: []engine.Role{{Name: "host"}}}
}

func openStore(t testing.TB, dir string) *plugin.Store {
	t.Helper()
	if _, err := plugins.Modules().Open("file.observe.wasm"); err != nil {
		t.Fatalf("%v: run make plugins", err)
	}
	s, err := plugin.NewStore(plugins.Modules(), plugin.CacheConfig{Dir: dir}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ready gives the options of a check that always happens at the same moment.
func ready(store *plugin.Store, target engine.Target) engine.CheckOptions {
	o := engine.CheckOptions{
		Target: target, Clock: func() time.Time { return time.Unix(1e9, 0) }, Random: bytes.NewReader(make([]byte, 64)), Speculate: true,
	}
	for _, info := range store.Types() {
		o.Modules = append(o.Modules, engine.Module{Type: info.Type, Observe: info.Observe, Apply: info.Apply})
	}
	return o
}

// check looks at a host, as a new process would.
func check(t testing.TB, store *plugin.Store, h *hosttest.Host, target engine.Target, options ...plugin.Option) *drift.Report {
	t.Helper()
	read, _ := h.Configs()
	reader := host.NewReader(read, target.Resources)
	o := ready(store, target)
	o.State, o.StateDir, o.Resolve = fsys.ReadOnly(h.FS), hosttest.StateDir, reader.Resolve
	return run(t, store, o, reader, options...)
}

func run(t testing.TB, store *plugin.Store, o engine.CheckOptions, asker host.Asker, options ...plugin.Option) *drift.Report {
	t.Helper()
	reading := store.Reading(t.Context(), asker, options...)
	defer reading.Close()
	o.Plugins = reading
	report, err := engine.Check(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// record checks a host and gives the tape's file too.
func record(t testing.TB, store *plugin.Store, h *hosttest.Host, target engine.Target) (*drift.Report, []byte) {
	t.Helper()
	read, _ := h.Configs()
	reader := host.NewReader(read, target.Resources)
	recorder := tape.NewRecorder(reader, target.Resources)
	o := ready(store, target)
	o.State, o.StateDir, o.Resolve = fsys.ReadOnly(h.FS), hosttest.StateDir, recorder.Resolve(reader.Resolve)
	report := run(t, store, o, recorder)
	var b bytes.Buffer
	if err := recorder.Tape(tape.Header{Host: "t", Catalog: report.Catalog}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return report, b.Bytes()
}

// replay checks the host of a tape's file.
func replay(t testing.TB, store *plugin.Store, file []byte, target engine.Target) *drift.Report {
	t.Helper()
	recorded, err := tape.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	player := recorded.Player(target.Resources)
	o := ready(store, target)
	o.Standing, o.Resolve = func() engine.Standing { return engine.Standing{} }, player.Resolve
	return run(t, store, o, player, plugin.Untraced())
}

func show(r *drift.Report) string {
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(raw)
}
