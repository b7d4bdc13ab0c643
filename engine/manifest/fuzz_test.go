package manifest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/manifest"
)

// seeds adds the corpus that cue vet is held against, so that fuzzing starts from every rule.
func seeds(f *testing.F) {
	f.Helper()
	for _, pattern := range []string{"../../cue/testdata/*/*.yaml", "../../host-roles/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds in %s: %v", pattern, err)
		}
		for _, name := range files {
			raw, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
}

// Whatever a role's manifest holds, nothing panics, both ways of judging agree, every finding says where and what, and
// every record is canonical.
func FuzzRole(f *testing.F) {
	seeds(f)
	dir := f.TempDir()
	write(f, filepath.Join(dir, "hosts/t.yaml"), "name: t\nroles: [t]\n")
	f.Fuzz(func(t *testing.T, raw []byte) {
		write(t, filepath.Join(dir, "host-roles/t.yaml"), string(raw))
		c := open(t, dir)
		p, fs := c.Host("t")
		all := c.Validate()
		if (p == nil) != (len(all) > 0) {
			t.Fatalf("check and validate disagree: %v, %v", lines(fs), lines(all))
		}
		for _, x := range all {
			s := x.String()
			if x.Pos.File == "" || x.Rule == "" || x.Message == "" || strings.ContainsAny(s, "\n\r\x1b\x00") {
				t.Fatalf("a finding that cannot be read: %q", s)
			}
		}
		if p == nil {
			return
		}
		for _, r := range p.Resources {
			for _, doc := range []json.RawMessage{r.Declared, r.View} {
				if again, err := canonical.Transform(doc); err != nil || string(again) != string(doc) {
					t.Fatalf("not canonical: %s, %v", doc, err)
				}
			}
			if !strings.HasPrefix(r.ID, r.Type+":") || r.Role != "t" || r.Pos.Line == 0 {
				t.Fatalf("resource %+v", r)
			}
			if r.Content != nil {
				if text, err := r.Content.Open(); err != nil || int64(len(text)) != r.Content.Size {
					t.Fatalf("%s: %v", r.ID, err)
				}
			}
		}
	})
}

// Whatever a host's record and catalog.yaml hold, nothing panics, and what is accepted has an order of roles.
func FuzzHost(f *testing.F) {
	f.Add([]byte("name: t\nroles: [a, b]\nactivate: [c]\ndeactivate: [a]\nlabels: {x: y}\nx-z: [1]\n"), []byte("roles: [host, a, b, c]\ndefaults: [c]\n"))
	f.Add([]byte("name: u\nroles: b\n"), []byte("defaults: [zz]\n"))
	f.Add([]byte("name: t\nroles: [a, a]\n---\n"), []byte("{}"))
	dir := f.TempDir()
	for name, requires := range map[string]string{"host": "", "a": "b", "b": "", "c": "a, b"} {
		write(f, filepath.Join(dir, "host-roles", name+".yaml"), "role: "+name+"\nversion: 1\nrequires: ["+requires+"]\nresources: []\n")
	}
	f.Fuzz(func(t *testing.T, host, catalog []byte) {
		write(t, filepath.Join(dir, "hosts/t.yaml"), string(host))
		write(t, filepath.Join(dir, "catalog.yaml"), string(catalog))
		p, fs := open(t, dir).Host("t")
		if p == nil {
			if !manifest.HasErrors(fs) {
				t.Fatal("no plan and no error")
			}
			return
		}
		done := map[string]bool{}
		for _, u := range p.Roles {
			for _, q := range u.Requires {
				if !done[q] {
					t.Fatalf("%s comes before %s, which it requires", u.Name, q)
				}
			}
			done[u.Name] = true
		}
		if !done[manifest.BaseRole] || p.Roles[0].Name != manifest.BaseRole {
			t.Fatalf("roles %v", p.Roles)
		}
	})
}
