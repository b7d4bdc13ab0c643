package replay

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/plugin/tape"
	"gyrum.ai/tools/tests/needles"
)

// Whatever is declared, whatever the host is, whatever changes in between, whatever happens to the trace files and whoever else
// uses them: with traces, without them, and from a tape, a check comes to the same report and the same plan hash.
func TestEveryWayComesToTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	// Two processes share the traces; a third has none.
	remembering := []*plugin.Store{openStore(t, dir), openStore(t, dir)}
	plain := openStore(t, dir) // its compiled modules, and none of its traces
	whole, digests := needles.Of("Vq7xPZ-token"), needles.Digests("Vq7xPZ-token")
	asked, unknown := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		var resources []string
		for _, forms := range declarations {
			if rapid.IntRange(0, 2).Draw(rt, "declared") > 0 {
				resources = append(resources, rapid.SampledFrom(forms).Draw(rt, "form"))
			}
		}
		target := targetOf(t, resources...)
		h := newHost()
		for range rapid.IntRange(1, 3).Draw(rt, "looks") {
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(mutations)-1), 0, 5).Draw(rt, "mutations") {
				mutations[i](h)
			}
			if rapid.IntRange(0, 4).Draw(rt, "damage") == 0 {
				damage(t, filepath.Join(dir, "traces-1"), rapid.Uint64().Draw(rt, "where"))
			}
			traced := check(t, remembering[rapid.IntRange(0, 1).Draw(rt, "process")], h, target)
			without := check(t, plain, h, target, plugin.Untraced())
			if !reflect.DeepEqual(traced, without) {
				rt.Fatalf("with traces\n%s\nwithout\n%s", show(traced), show(without))
			}
			live, file := record(t, remembering[0], h, target)
			if !reflect.DeepEqual(live, without) {
				rt.Fatalf("recorded\n%s\nwithout\n%s", show(live), show(without))
			}
			for _, store := range []*plugin.Store{remembering[1], plain} {
				if played := replay(t, store, file, target); !reflect.DeepEqual(played, without) {
					rt.Fatalf("played\n%s\nwithout\n%s", show(played), show(without))
				}
			}
			recorded, err := tape.Read(bytes.NewReader(file))
			if err != nil {
				rt.Fatal(err)
			}
			asked += len(recorded.Exchanges)
			var text bytes.Buffer
			if err := recorded.WriteText(&text); err != nil {
				rt.Fatal(err)
			}
			for form, needle := range whole {
				// Where nobody declares that a file holds a secret, its digest is like any other.
				_, digest := digests[form]
				if bytes.Contains(text.Bytes(), needle) && (!digest || strings.Contains(strings.Join(resources, ""), "conf, content: {secret_ref")) {
					rt.Fatalf("the tape holds the secret: %s\n%s", form, text.String())
				}
			}
			if strings.Contains(text.String(), tape.NotOnTape) {
				unknown++
			}
		}
	})
	if asked == 0 || unknown > 0 {
		t.Errorf("%d questions, %d of them unknown", asked, unknown)
	}
}

// damage cuts, changes or swaps trace files.
func damage(t *testing.T, dir string, seed uint64) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) == 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for range 1 + random.IntN(4) {
		at := files[random.IntN(len(files))]
		raw, err := os.ReadFile(at)
		if err != nil || len(raw) == 0 {
			continue
		}
		switch random.IntN(3) {
		case 0:
			raw = raw[:random.IntN(len(raw))]
		case 1:
			raw[random.IntN(len(raw))] ^= 1 << random.IntN(8)
		case 2:
			if raw, err = os.ReadFile(files[random.IntN(len(files))]); err != nil {
				continue
			}
		}
		if err := os.WriteFile(at, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// inSync declares what the host has, of four types.
func inSync() (*hosttest.Host, []string) {
	h := newHost()
	h.Packages.Set("tool", "2.0")
	h.FS.AddDir("/etc/web", 0o755, 0, 0)
	h.FS.AddFile("/etc/motd", "hello\n", 0o644)
	h.FS.AddFile("/var/lib/once", "", 0o644)
	return h, []string{`{type: package, name: tool}`, `{type: directory, path: /etc/web}`, `{type: file, path: /etc/motd, content: "hello\n"}`,
		`{type: command, id: "command:once", run: once, creates: /var/lib/once}`}
}

func TestADriftedResourceLoadsItsOwnModuleOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	h, resources := inSync()
	target := targetOf(t, resources...)
	first := openStore(t, dir)
	if r := check(t, first, h, target); len(r.Items) > 0 {
		t.Fatalf("the scene is not in sync: %s", show(r))
	}
	if got, want := first.Loaded(), []string{"command.observe", "directory.observe", "file.observe", "package.observe"}; !slices.Equal(got, want) {
		t.Errorf("without traces: loaded %v, want %v", got, want)
	}
	again := openStore(t, dir)
	if check(t, again, h, target); len(again.Loaded()) > 0 {
		t.Errorf("in sync: loaded %v", again.Loaded())
	}
	for change, want := range map[string]string{"file": "file.observe", "package": "package.observe", "directory": "directory.observe"} {
		h, _ := inSync()
		switch change {
		case "file":
			h.FS.AddFile("/etc/motd", "drifted\n", 0o644)
		case "package":
			h.Packages.Set("tool", "1.0")
			h.Packages.Hold("tool", true)
		case "directory":
			h.FS.AddDir("/etc/web", 0o700, 0, 0)
		}
		drifted := openStore(t, dir)
		check(t, drifted, h, target)
		if got := drifted.Loaded(); !slices.Equal(got, []string{want}) {
			t.Errorf("a drifted %s: loaded %v, want %s alone", change, got, want)
		}
		remembered := openStore(t, dir)
		if check(t, remembered, h, target); len(remembered.Loaded()) > 0 {
			t.Errorf("the same drift again: loaded %v", remembered.Loaded())
		}
	}
}

// Processes that use one cache at the same time, while its traces are damaged.
func TestProcessesSideBySide(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	h, resources := inSync()
	target := targetOf(t, resources...)
	want := check(t, openStore(t, dir), h, target, plugin.Untraced())
	var group sync.WaitGroup
	for p := range 4 {
		store := openStore(t, dir)
		group.Go(func() {
			for round := range 8 {
				// Each process has a reader of its own; the model host is safe to be asked by several.
				if got := check(t, store, h, target); !reflect.DeepEqual(got, want) {
					t.Errorf("process %d: %s", p, show(got))
				}
				damage(t, filepath.Join(dir, "traces-1"), uint64(p*100+round))
			}
		})
	}
	group.Wait()
}

// A tape is played to another catalog as far as it tells.
func TestAnotherCatalog(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "cache"))
	h := newHost()
	h.FS.AddFile("/etc/motd", "hello\n", 0o644)
	h.FS.AddFile("/etc/web.env", "PORT=80\n", 0o640)
	motd, env := `{type: file, path: /etc/motd, content: "hello\n"}`, `{type: env, path: /etc/web.env, vars: {PORT: "80"}}`
	live, file := record(t, store, h, targetOf(t, motd, env))
	if len(live.Items) != 0 {
		t.Fatal(show(live))
	}
	for name, c := range map[string]struct {
		resources []string
		want      map[string]bool // by id: whether the tape does not tell
	}{
		"another content": {[]string{strings.Replace(motd, "hello", "bye", 1), env}, map[string]bool{"file:/etc/motd": false}},
		"another mode":    {[]string{strings.TrimSuffix(motd, "}") + `, mode: "0600"}`, env}, map[string]bool{"file:/etc/motd": false}},
		"one less":        {[]string{env}, map[string]bool{}},
		"a new file":      {[]string{motd, env, `{type: file, path: /etc/new, content: x}`}, map[string]bool{"file:/etc/new": true}},
		// What was replied of a file of variables is about those that were declared.
		"other variables":      {[]string{motd, strings.Replace(env, "80", "81", 1)}, map[string]bool{"env:/etc/web.env": true}},
		"a secret for a value": {[]string{strings.Replace(motd, `"hello\n"`, `{secret_ref: "`+secretRef+`"}`, 1), env}, map[string]bool{"file:/etc/motd": true}},
		"another mode of env":  {[]string{motd, strings.TrimSuffix(env, "}") + `, mode: "0600"}`}, map[string]bool{"env:/etc/web.env": false}},
	} {
		r := replay(t, store, file, targetOf(t, c.resources...))
		if len(r.Items) != len(c.want) {
			t.Errorf("%s: %s", name, show(r))
		}
		for _, it := range r.Items {
			unknown, expected := c.want[it.Resource.ID]
			if !expected || unknown != tape.Unknown(it) {
				t.Errorf("%s: %s", name, show(r))
			}
			if unknown && (it.Severity != drift.SeverityError || it.Reason.Code != "unobservable" || engine.ExitCode(r) != engine.ExitError) {
				t.Errorf("%s: what is unknown must be unobservable: %s", name, show(r))
			}
		}
	}
}
