// Command schemagen writes what is generated from the CUE definitions: the table that engine/manifest judges by, the
// JSON schemas of role manifests and host records for editors, and the copies that programs embed. With -check it
// writes nothing and fails, naming the files, when one of them is not what it would write. With -catalog it writes what is
// exported of a catalog's own types instead: plugins/x_<type>/plugin.json and type.json, and the vendored definitions.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	check := flag.Bool("check", false, "compare only, and fail where a file is out of date")
	root := flag.String("root", ".", "the repository")
	catalog := flag.String("catalog", "", "export the own types of the catalog in this folder")
	flag.Parse()
	make, again := func() (map[string][]byte, error) { return generate(*root) }, "the definitions in cue/ say; run go run ./tools/schemagen"
	if *catalog != "" {
		*root = *catalog
		make, again = func() (map[string][]byte, error) { return ownTypes(*catalog) }, "the catalog's own types say; run tools/schemagen -catalog"
	}
	stale, err := run(*root, *check, make)
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
	for _, name := range stale {
		fmt.Fprintf(os.Stderr, "%s is not what %s\n", name, again)
	}
	if len(stale) > 0 {
		os.Exit(1)
	}
}

// run writes the generated files, or with check only names those that differ.
func run(root string, check bool, generate func() (map[string][]byte, error)) (stale []string, err error) {
	files, err := generate()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, files[name]) {
			continue
		}
		if check {
			stale = append(stale, name)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return nil, err
		}
	}
	return stale, nil
}

// generate gives every generated file by its path in the repository.
func generate(root string) (map[string][]byte, error) {
	files, err := sources()
	if err != nil {
		return nil, err
	}
	r, err := read(files)
	if err != nil {
		return nil, err
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	if out["engine/manifest/table_gen.go"], err = goFile(t); err != nil {
		return nil, err
	}
	if out["cue/"+judgedFile], err = r.judged(); err != nil {
		return nil, err
	}
	for name, s := range map[string]object{"role-manifest.v1.json": roleSchema(t), "host.v1.json": hostSchema(t)} {
		if out["schemas/"+name], err = encode(s); err != nil {
			return nil, err
		}
	}
	// what programs embed lies in the module cue, since a module embeds only what lies in it
	for _, name := range []string{"drift-item.v1.json", "drift-item.v2.json", "drift-report.v1.json", "drift-report.v2.json"} {
		raw, err := os.ReadFile(filepath.Join(root, "schemas", name))
		if err != nil {
			return nil, err
		}
		out["cue/embedded/schemas/"+name] = raw
	}
	for _, name := range []string{"role-manifest.v1.json", "host.v1.json"} {
		out["cue/embedded/schemas/"+name] = out["schemas/"+name]
	}
	if out["cue/embedded/catalog.cue.txt"], err = os.ReadFile(filepath.Join(root, "catalog.cue")); err != nil {
		return nil, err
	}
	return out, nil
}

// encode writes JSON as people read it, with one newline at the end.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
