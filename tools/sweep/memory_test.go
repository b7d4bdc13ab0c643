package sweep

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gyrum.ai/engine"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/plugins"
	"gyrum.ai/tools/tests/needles"
)

// secretive declares secrets of every provider, in files and environment files.
var secretive = map[string]string{
	"file:/etc/gyrum/secrets/a": "Vq7xPZ-first-of-the-secrets", "credential:b": "Jw2mKd-second-of-the-secrets",
	"age:secrets/c.age": "Tb9rLs-third-of-the-secrets", "exec:d": "Hn4cYf-fourth-of-the-secrets",
}

const secretiveRole = `role: host
version: 1
description: base
requires: []
mutually_exclusive: []
resources:
  - {type: file, path: /etc/a, mode: "0600", content: {secret_ref: "file:/etc/gyrum/secrets/a"}}
  - {type: file, path: /etc/b, mode: "0600", content: {secret_ref: "credential:b"}}
  - {type: file, path: /etc/c, mode: "0600", content: {secret_ref: "age:secrets/c.age"}}
  - {type: file, path: /etc/d, mode: "0600", content: {secret_ref: "exec:d"}}
  - {type: env, path: /etc/new.env, vars: {LEVEL: "marked", A_TOKEN: {secret_ref: "file:/etc/gyrum/secrets/a"}, B_TOKEN: {secret_ref: "credential:b"}}}
  - {type: env, path: /etc/old.env, vars: {LEVEL: "marked", C_TOKEN: {secret_ref: "age:secrets/c.age"}, D_TOKEN: {secret_ref: "exec:d"}}}
`

// modular is the writing side by the built modules.
type modular struct {
	*plugin.Writing
	*host.Writer
}

// TestNoPluginEverHoldsASecret looks at the whole memory of every instance of a check, an apply and the check after it.
func TestNoPluginEverHoldsASecret(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"hosts/t.yaml": "name: t\nroles: [host]\n", "host-roles/host.yaml": secretiveRole} {
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
	target := engine.Target{Host: "t", Resources: plan.Resources, Roles: []engine.Role{{Name: "host"}}}

	h := hosttest.NewHost()
	var all []needles.Needles
	for ref, value := range secretive {
		h.Secrets[ref] = value
		all = append(all, needles.Of(value))
	}
	// Files that hold the secret already, in sync but for a mode, and one that holds it beside something else.
	h.FS.AddFile("/etc/a", secretive["file:/etc/gyrum/secrets/a"], 0o644)
	h.FS.AddFile("/etc/b", secretive["credential:b"]+" and more", 0o600)
	h.FS.AddFile("/etc/old.env", "LEVEL=other\nC_TOKEN="+secretive["age:secrets/c.age"]+"\nD_TOKEN=x\nEXTRA="+secretive["exec:d"]+"\n", 0o640)

	store, err := plugin.NewStore(plugins.Modules(), plugin.CacheConfig{}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var mu sync.Mutex
	instances, marked := 0, 0
	ctx := plugin.Inspect(t.Context(), func(memory []byte) {
		mu.Lock()
		defer mu.Unlock()
		instances++
		if bytes.Contains(memory, []byte("/etc/old.env")) && bytes.Contains(memory, []byte("marked")) {
			marked++ // what a plugin is given is found in this way
		}
		for _, n := range all {
			if forms := n.In(memory); len(forms) > 0 {
				t.Errorf("a plugin's memory holds a secret: %s", strings.Join(forms, ", "))
			}
		}
	})
	options := program(h, target)
	read, write := h.Configs()
	reader := host.NewReader(read, target.Resources)
	options.Plugins = store.Reading(ctx, reader, plugin.AlwaysRun())
	options.Look = func(ctx context.Context) engine.Observer {
		reader.Forget()
		return store.Reading(ctx, reader, plugin.AlwaysRun())
	}
	options.NewHand = func(ctx context.Context, on host.EffectFunc) (engine.Hand, error) {
		w := host.NewWriter(reader, write, on)
		return modular{store.Writing(ctx, reader, w), w}, nil
	}
	result, err := engine.Apply(ctx, options)
	if err != nil || result.ExitCode() != 0 || len(result.Executed.Items) != 6 {
		t.Fatalf("apply: %v\n%s", err, results(result.Executed))
	}
	if marked < 3 || instances < 10 {
		t.Errorf("looked at %d instances, %d of which knew what is declared: the search finds nothing", instances, marked)
	}
	if got, _ := h.FS.Content("/etc/d"); got != secretive["exec:d"] {
		t.Errorf("/etc/d holds %q", got)
	}
}
