// Package conformance holds the six built plugins against the engine's conformance suite, on hosts that are put
// together from the golden cases of each type.
package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
			h := &caseHost{own: map[int]map[string]string{}, shared: map[string]string{}}
			conformance.Run(t, conformance.Subject{
				Modules:   plugins.Modules(),
				Type:      typ,
				Resources: h.take(typ, cases),
				Host:      func() host.Asker { return h },
				Cache:     cache,
			})
		})
	}
}

// caseHost is one host on which every case's resource lies under a name of its own.
type caseHost struct {
	// own holds the replies of each resource, by its case.
	own map[int]map[string]string
	// shared answers what names no resource, such as an account.
	shared map[string]string
}

// mark is what the name of the resource of case i contains.
func mark(i int) string { return fmt.Sprintf("-case%04d-", i) }

// take gives the resources of some forty cases a name of their own each.
func (h *caseHost) take(typ string, cases []corpus.Case) (rs []resource.Resource) {
	for i := 0; i < len(cases); i += 1 + len(cases)/40 {
		c := cases[i]
		var record map[string]any
		if err := json.Unmarshal(guest.Encode(c.Declared), &record); err != nil {
			continue
		}
		id, _ := record["id"].(string)
		_, key, _ := strings.Cut(id, ":")
		for _, field := range []string{"path", "name"} {
			if record[field] == key {
				record[field] = rename(key, i)
			}
		}
		record["id"] = typ + ":" + rename(key, i)
		if creates, ok := record["creates"].(string); ok {
			record["creates"] = rename(creates, i)
		}
		view, err := json.Marshal(record)
		if err != nil {
			panic(err)
		}
		replies := map[string]string{}
		for capability, reply := range c.Replies {
			replies[capability] = string(guest.Encode(reply))
			h.shared[capability] = replies[capability]
		}
		h.own[i] = replies
		rs = append(rs, resource.Resource{Role: "role", Type: typ, ID: record["id"].(string), View: view, Declared: view})
	}
	return rs
}

func rename(key string, i int) string {
	dir, name := filepath.Split(key)
	return dir + "x" + mark(i) + name
}

func (h *caseHost) Ask(_ context.Context, capability string, request []byte) ([]byte, error) {
	for i, replies := range h.own {
		if strings.Contains(string(request), mark(i)) {
			if reply, ok := replies[capability]; ok {
				return []byte(reply), nil
			}
		}
	}
	if reply, ok := h.shared[capability]; ok {
		return []byte(reply), nil
	}
	return []byte(`{"error":{"code":"unavailable","text":"the case has no reply"}}`), nil
}
