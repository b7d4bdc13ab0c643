package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/manifest"
)

// catalog writes files into a new folder; a name is a path, a text that begins with a newline loses it.
func catalog(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.TrimPrefix(text, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, dir string) *manifest.Catalog {
	t.Helper()
	c, err := manifest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// plan gives the plan of the host t, which has to be valid.
func plan(t testing.TB, dir string) *manifest.HostPlan {
	t.Helper()
	p, fs := open(t, dir).Host("t")
	for _, f := range fs {
		t.Errorf("finding: %s", f)
	}
	if p == nil {
		t.Fatal("no plan")
	}
	return p
}

// one gives a catalog whose host t carries the role r with these resources.
func one(t testing.TB, resources string) string {
	t.Helper()
	return catalog(t, map[string]string{
		"hosts/t.yaml":      "name: t\nroles: [r]\n",
		"host-roles/r.yaml": "role: r\nversion: 1\nresources:\n" + strings.TrimPrefix(resources, "\n"),
	})
}

// lines gives findings as text.
func lines(fs []manifest.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.String())
	}
	return out
}
