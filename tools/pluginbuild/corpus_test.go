package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/resource"
	"gyrum.ai/plugins/corpus"
	"gyrum.ai/plugins/guest"
)

// host answers with what the case at hand says.
type host struct{ ask corpus.Ask }

func (h *host) Ask(_ context.Context, capability string, request []byte) ([]byte, error) {
	return h.ask(capability, request), nil
}

func (h *host) Do(_ context.Context, capability string, request []byte) ([]byte, error) {
	return h.ask(capability, request), nil
}

// TestCorpus plays the golden cases of every type with the built modules, in the engine's own sandbox: they decide as
// the same logic does natively, and plugin.cue grants what each case needs and scopes it right.
func TestCorpus(t *testing.T) {
	b, err := newBuild("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.run(2, false); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	store, err := plugin.NewStore(os.DirFS(b.dist), plugin.CacheConfig{Dir: cache}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, m := range b.types {
		t.Run(m.Type, func(t *testing.T) {
			cases, err := corpus.Load(os.DirFS(filepath.Join(b.plugins, m.Type, "testdata", "cases")))
			if err != nil {
				t.Fatal(err)
			}
			h := &host{}
			reading := store.Reading(t.Context(), h, plugin.AlwaysRun())
			defer reading.Close()
			writing := store.Writing(t.Context(), h, h)
			p := corpus.Plugin{
				Observe: func(ask corpus.Ask, request []byte) ([]byte, int32) {
					h.ask = ask
					return observed(t, reading, m.Type, request)
				},
				Diff:  func(request []byte) ([]byte, int32) { return decided(t, reading, m.Type, request) },
				Apply: func(ask corpus.Ask, request []byte) ([]byte, int32) { h.ask = ask; return applied(t, writing, request) },
			}
			for _, c := range cases {
				for _, wrong := range corpus.Play(p, c) {
					t.Errorf("plugins/%s/testdata/cases/%s:%d: %s: %s", m.Type, c.File, c.Line, c.Name, wrong)
				}
			}
		})
	}
}

// one is the only resource of a request of the corpus.
type one struct {
	Resources []struct {
		Declared json.RawMessage `json:"declared"`
		asked
	} `json:"resources"`
}

type asked struct {
	Observed json.RawMessage `json:"observed"`
	Facts    json.RawMessage `json:"facts"`
	Changing drift.Changing  `json:"changing"`
}

func declared(t *testing.T, view json.RawMessage) resource.Resource {
	t.Helper()
	var key struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	if err := json.Unmarshal(view, &key); err != nil {
		t.Fatal(err)
	}
	return resource.Resource{Role: "r", Type: key.Type, ID: key.ID, Declared: view, View: view}
}

func results(t *testing.T, result any) ([]byte, int32) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"results": []any{result}})
	if err != nil {
		t.Fatal(err)
	}
	return raw, guest.StatusAnswer
}

func observed(t *testing.T, r *plugin.Reading, typ string, request []byte) ([]byte, int32) {
	t.Helper()
	var in struct {
		Resources []json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(request, &in); err != nil {
		t.Fatal(err)
	}
	got, err := r.Observe(t.Context(), typ, []resource.Resource{declared(t, in.Resources[0])})
	if err != nil {
		t.Fatal(err)
	}
	return results(t, got[0])
}

func decided(t *testing.T, r *plugin.Reading, typ string, request []byte) ([]byte, int32) {
	t.Helper()
	var in one
	if err := json.Unmarshal(request, &in); err != nil {
		t.Fatal(err)
	}
	a := in.Resources[0]
	got, err := r.Diff(t.Context(), typ, []drift.DiffInput{{
		Resource: declared(t, a.Declared), Changing: a.Changing,
		Observation: drift.Observation{Observed: a.Observed, Facts: a.Facts},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return results(t, got[0])
}

func applied(t *testing.T, w *plugin.Writing, request []byte) ([]byte, int32) {
	t.Helper()
	var in struct {
		Declared json.RawMessage `json:"declared"`
		Action   drift.Action    `json:"action"`
		asked
	}
	if err := json.Unmarshal(request, &in); err != nil {
		t.Fatal(err)
	}
	output, err := w.Apply(t.Context(), declared(t, in.Declared), drift.Observation{Observed: in.Observed, Facts: in.Facts}, in.Action)
	if err == nil {
		raw, _ := json.Marshal(map[string]any{"output": output})
		return raw, guest.StatusAnswer
	}
	var failed *plugin.ActionError
	if !errors.As(err, &failed) {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(map[string]any{"error": map[string]string{"code": failed.Code, "text": failed.Text}})
	return raw, guest.StatusError
}
