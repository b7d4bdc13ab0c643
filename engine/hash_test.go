package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gyrum.ai/engine/drift"
)

// hashed is a bench with something of everything.
func hashed(t *testing.T) *bench {
	conf := file("/etc/a", "1")
	b := newBench(t, "host", pkg("p"), dir("/a"), "web<host", conf, file("/a/x", "2"), unit("u.service", conf.ID), command("c", true))
	b.values[conf.ID] = "0"
	b.units["u.service"] = map[string]string{conf.ID: "0"}
	return b
}

func TestThePlanHashIsTheSameWhateverDoesNotMatter(t *testing.T) {
	want := hashed(t).check().PlanHash
	for name, set := range map[string]func(*bench){
		"time and run id": func(b *bench) {
			b.o.Clock = func() time.Time { return epoch.Add(1000 * time.Hour) }
			b.o.Random = nil
		},
		"time zone": func(b *bench) {
			b.o.Clock = func() time.Time { return epoch.In(time.FixedZone("IST", 19800)) }
		},
		"volatile fields":          func(b *bench) { b.noise = 7 },
		"order of the modules":     func(b *bench) { slices.Reverse(b.o.Modules) },
		"modules of other types":   func(b *bench) { b.o.Modules = append(b.o.Modules, Module{Type: "link", Observe: "o", Apply: "a"}) },
		"revision of the checkout": func(b *bench) { b.o.Target.Catalog.Revision = "abc+dirty" },
		"spelling of the selection": func(b *bench) {
			b.o.Selection = Selection{}
		},
		"spelling of what is declared": func(b *bench) {
			for i, r := range b.o.Target.Resources {
				var loose any
				_ = json.Unmarshal(r.Declared, &loose)
				b.o.Target.Resources[i].Declared, _ = json.MarshalIndent(loose, " ", "  ")
			}
		},
		"an apply that did nothing": func(b *bench) {
			b.o.Selection = Selection{Only: []string{"directory"}}
			b.values["directory:/a"] = "made"
			b.apply()
			delete(b.values, "directory:/a")
			b.o.Selection = Selection{}
		},
	} {
		b := hashed(t)
		set(b)
		if got := b.check().PlanHash; got != want {
			t.Errorf("%s: changes the hash", name)
		}
	}
}

func TestEachInputThatMattersChangesThePlanHash(t *testing.T) {
	redeclare := func(b *bench, id string, change func(*spec)) {
		for i, r := range b.o.Target.Resources {
			if r.ID == id {
				s := specOf(r)
				change(&s)
				b.o.Target.Resources[i] = s.resource(r.Role)
			}
		}
	}
	seen := map[string]string{hashed(t).check().PlanHash: "nothing"}
	for name, set := range map[string]func(*bench){
		"host":           func(b *bench) { b.o.Target.Host = "u" },
		"catalog":        func(b *bench) { b.o.Target.Catalog.Digest = "sha256:other" },
		"observe module": func(b *bench) { b.o.Modules[2].Observe = "sha256:other" },
		"apply module":   func(b *bench) { b.o.Modules[2].Apply = "sha256:other" },
		"only":           func(b *bench) { b.o.Selection.Only = []string{"host", "web"} },
		"skip":           func(b *bench) { b.o.Selection.Skip = []string{"command"} },
		"apply number": func(b *bench) {
			b.o.Selection = Selection{Only: []string{"package"}}
			b.apply()
			delete(b.values, "package:p")
			b.o.Selection = Selection{}
		},
		"declared":  func(b *bench) { redeclare(b, "file:/a/x", func(s *spec) { s.Want = "3" }) },
		"observed":  func(b *bench) { b.values["file:/a/x"] = "other" },
		"role":      func(b *bench) { b.o.Target.Resources[3].Role = "host" },
		"blocked":   func(b *bench) { redeclare(b, "package:p", func(s *spec) { s.Held = true }) },
		"an item":   func(b *bench) { b.values["directory:/a"] = "made" },
		"params":    func(b *bench) { delete(b.units, "u.service") },
		"its order": func(b *bench) { r := b.o.Target.Resources; r[0], r[1] = r[1], r[0] },
	} {
		b := hashed(t)
		set(b)
		hash := b.check().PlanHash
		if other, taken := seen[hash]; taken {
			t.Errorf("%s and %s: the same hash", name, other)
		}
		seen[hash] = name
	}
}

// Any host and any declaration: a check is the same twice, an apply converges or says why not, and a second one does
// nothing.
func TestAnyHostConverges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBench(t)
		var declared []any
		var ids []string
		roles := rapid.IntRange(1, 3).Draw(r, "roles")
		for role := range roles {
			name := string(rune('a' + role))
			if role > 0 && rapid.Bool().Draw(r, "requires") {
				name += "<a"
			}
			declared = append(declared, name)
			for i := range rapid.IntRange(0, 5).Draw(r, "resources") {
				key := name[:1] + string(rune('0'+i))
				var s spec
				switch rapid.SampledFrom([]string{"file", "directory", "package", "unit", "command", "absent", "nested"}).Draw(r, "type") {
				case "file":
					s = file("/"+key, rapid.SampledFrom([]string{"1", "2"}).Draw(r, "want"))
				case "absent":
					s = file("/"+key, "")
					s.State = "absent"
				case "nested":
					s = file("/"+name[:1]+"0/"+key, "1")
				case "directory":
					s = dir("/" + key)
				case "package":
					s = pkg(key)
				case "unit":
					s = unit(key+".service", rapid.SliceOfNDistinct(rapid.SampledFrom(append(ids, "file:/none")), 0, 2, rapid.ID).Draw(r, "inputs")...)
				case "command":
					s = command(key, false)
				}
				declared = append(declared, s)
				ids = append(ids, s.ID)
				if rapid.Bool().Draw(r, "exists") {
					b.values[s.ID] = rapid.SampledFrom([]string{"1", "2", "made", "ran"}).Draw(r, "is")
				}
				if s.Type == "systemd_unit" && rapid.Bool().Draw(r, "runs") {
					b.units[s.Name] = map[string]string{}
				}
			}
		}
		b.declare(declared...)
		b.o.Parallel = rapid.IntRange(1, 3).Draw(r, "parallel")
		first, second := b.check(), b.check()
		if first.PlanHash != second.PlanHash || !slices.Equal(entries(first), entries(second)) {
			r.Fatalf("two checks differ: %v, %v", entries(first), entries(second))
		}
		if got := first.Stats.InSync + len(first.Items); got != len(b.o.Target.Resources) {
			r.Fatalf("%d resources in sync or drifted, of %d", got, len(b.o.Target.Resources))
		}
		blocked := slices.ContainsFunc(first.Items, func(it drift.Item) bool { return it.Blocked != "" })
		result, err := Apply(context.Background(), b.o)
		if err != nil {
			r.Fatal(err)
		}
		code := result.ExitCode()
		if left := entries(result.After); !blocked && code == ExitOK != (len(left) == 0) {
			r.Fatalf("exit code %d, left %v", code, left)
		}
		// Whatever is not there afterwards has a reason in the reports.
		if code == ExitOK && len(result.After.Items) > 0 || code != ExitOK && len(result.After.Items) == 0 && !hasFailed(result) {
			r.Fatalf("exit code %d with %v and %v", code, results(result.Executed), entries(result.After))
		}
		if code != ExitOK {
			return
		}
		b.did = nil
		if again, err := Apply(context.Background(), b.o); err != nil || len(b.did) > 0 || again.ExitCode() != ExitOK {
			r.Fatalf("a second apply did %v, %v", b.did, err)
		}
	})
}

func hasFailed(r *ApplyResult) bool {
	return slices.ContainsFunc(results(r.Executed), func(s string) bool { return strings.HasSuffix(s, "failed") || strings.HasSuffix(s, "blocked") })
}
