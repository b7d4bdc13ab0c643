// Package schema finds the published JSON schemas of reports and manifests that travel within the program.
package schema

import (
	"io/fs"
	"strings"

	definitions "gyrum.ai/cue"
)

// Names lists the schemas by the name that a command takes, such as drift-report.v1, sorted.
func Names() []string {
	entries, err := fs.ReadDir(definitions.Schemas(), ".")
	if err != nil {
		panic(err) // the folder is in the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Read gives a schema by its name; the ending .json may stand there, and without a version it is the lowest, which is the
// one that a report names unless it holds items that need another.
func Read(name string) ([]byte, bool) {
	name = strings.TrimSuffix(name, ".json")
	if raw, err := fs.ReadFile(definitions.Schemas(), name+".json"); err == nil {
		return raw, true
	}
	for _, n := range Names() {
		if strings.HasPrefix(n, name+".v") {
			raw, err := fs.ReadFile(definitions.Schemas(), n+".json")
			return raw, err == nil
		}
	}
	return nil, false
}
