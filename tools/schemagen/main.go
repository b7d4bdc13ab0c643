// Command schemagen writes what is generated from the CUE definitions: the table that engine/manifest judges by, and
// the JSON schemas of role manifests and host records for editors. With -check it writes nothing and fails, naming the
// files, when one of them is not what it would write.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	definitions "gyrum.ai/cue"
)

func main() {
	check := flag.Bool("check", false, "compare only, and fail where a file is out of date")
	root := flag.String("root", ".", "the repository")
	flag.Parse()
	files, err := generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
	stale := false
	for name, want := range files {
		path := filepath.Join(*root, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, want) {
			continue
		}
		if *check {
			stale = true
			fmt.Fprintf(os.Stderr, "%s is not what the definitions in cue/ say; run go run ./tools/schemagen\n", name)
			continue
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "schemagen:", err)
			os.Exit(1)
		}
	}
	if stale {
		os.Exit(1)
	}
}

// generate gives every generated file by its path in the repository.
func generate() (map[string][]byte, error) {
	r, err := read(definitions.Definitions)
	if err != nil {
		return nil, err
	}
	t, err := r.table()
	if err != nil {
		return nil, err
	}
	table, err := goFile(t)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"engine/manifest/table_gen.go": table}, nil
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
