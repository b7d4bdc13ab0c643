// Package conformance holds the built plugins against the engine's conformance suite, on hosts that are put
// together from the golden cases of each type.
package conformance

import (
	"os"
	"path/filepath"
	"testing"

	"gyrum.ai/engine/conformance"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
	"gyrum.ai/plugins"
	"gyrum.ai/plugins/corpus"
	"gyrum.ai/plugins/guest"
)

func TestEveryPlugin(t *testing.T) {
	manifests, err := filepath.Glob("../../../plugins/*/plugin.cue")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no plugins: %v", err)
	}
	cache := filepath.Join(t.TempDir(), "cache")
	for _, m := range manifests {
		dir := filepath.Dir(m)
		typ := filepath.Base(dir)
		t.Run(typ, func(t *testing.T) {
			if _, err := plugins.Modules().Open(typ + ".observe.wasm"); err != nil {
				t.Fatalf("%v: run make plugins", err)
			}
			cases, err := corpus.Load(os.DirFS(filepath.Join(dir, "testdata", "cases")))
			if err != nil {
				t.Fatal(err)
			}
			h, records := corpus.NewStage(typ, cases, 40)
			var rs []resource.Resource
			for _, record := range records {
				raw := guest.Encode(record)
				rs = append(rs, resource.Resource{Role: "role", Type: typ, ID: record.GetText("id"), View: raw, Declared: raw})
			}
			conformance.Run(t, conformance.Subject{
				Modules:   plugins.Modules(),
				Type:      typ,
				Resources: rs,
				Host:      func() host.Asker { return h },
				Cache:     cache,
			})
		})
	}
}
