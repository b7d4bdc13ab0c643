package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A plugin.cue says what #Plugin wants, no more and no less.
func TestShape(t *testing.T) {
	for name, c := range map[string]struct {
		from, to, want string
	}{
		"a field that there is not": {`abi:      1`, "abi:      1\n\tdanger:   true", "plugin.danger: field not allowed"},
		"another boundary":          {`abi:      1`, `abi:      2`, "plugin.abi: conflicting values"},
		"no version":                {"\tversion:  1\n", "", "plugin.version: field is required"},
		"a scope that is no list":   {`scope: ["path"]`, `scope: "path"`, "plugin.observe.file_stat.scope: conflicting values"},
	} {
		t.Run(name, func(t *testing.T) {
			r := copied(t)
			r.edit("plugins/file/plugin.cue", c.from, c.to)
			var all []string
			for _, f := range r.check() {
				all = append(all, f.String())
			}
			if got := strings.Join(all, "\n"); !strings.Contains(got, "plugins/file/plugin.cue: "+RuleType+": ") || !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant %s", got, c.want)
			}
		})
	}
}

// A module that is built imports what its manifest grants, all of it, and nothing else.
func TestModules(t *testing.T) {
	r := copied(t)
	built := filepath.Join("../..", "plugins/dist")
	for _, name := range []string{"directory.json", "directory.observe.wasm", "directory.apply.wasm"} {
		raw, err := os.ReadFile(filepath.Join(built, name))
		if err != nil {
			t.Fatalf("the modules are not built, run make plugins: %v", err)
		}
		r.write("plugins/dist/"+name, string(raw))
	}
	if found := r.check(); len(found) > 0 {
		t.Fatalf("as built: %v", found)
	}
	r.edit("plugins/dist/directory.json", `"directory_make"`, `"file_replace"`)
	var all []string
	for _, f := range r.check() {
		all = append(all, f.String())
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"the module would not be loaded", "directory_make", "grants file_replace to apply, which does not import it"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
}
