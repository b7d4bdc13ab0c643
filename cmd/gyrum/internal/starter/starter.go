// Package starter holds what a new catalog begins with, and what gyrum keeps up to date in a catalog: the definitions
// and schemas that let plain CUE and editors judge it without gyrum. It writes into the one folder that it is given and
// knows nothing of the command line.
package starter

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	definitions "gyrum.ai/cue"
)

//go:embed all:files all:example
var embedded embed.FS

// The folders of a catalog that decide whether it is one already.
const (
	hostsDir = "hosts"
	rolesDir = "host-roles"
)

// What makes the folder a CUE module and package: the definitions are found through the first, and the second applies them.
const (
	moduleCUE  = "cue.mod/module.cue"
	catalogCUE = "catalog.cue"
)

// File is a file of a catalog.
type File struct {
	// Path is relative to the catalog's root, with slashes.
	Path string
	Data []byte
	// Program is set for what is executed.
	Program bool
	// Yield is set for what gives way to a file that is there already: what forges make along with a repository.
	Yield bool
}

// vendored are the definitions, the file that applies them, and the schemas.
func vendored() ([]File, error) {
	out := []File{{Path: catalogCUE, Data: definitions.CatalogFile()}}
	names, err := fs.Glob(definitions.Definitions, "*.cue")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		raw, err := fs.ReadFile(definitions.Definitions, name)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Path: path.Join(definitionsDir, name), Data: raw})
	}
	for _, name := range editorSchemas {
		raw, err := fs.ReadFile(definitions.Schemas(), name)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Path: "schemas/" + name, Data: raw})
	}
	return out, nil
}

// editorSchemas are those that the editor's settings name.
var editorSchemas = []string{"host.v1.json", "role-manifest.v1.json"}

// definitionsDir is where plain CUE finds the package gyrum.ai/cue without a network.
const definitionsDir = "cue.mod/pkg/gyrum.ai/cue"

// around are the files beside the manifests: hooks, CI, editors, README.
func around() ([]File, error) {
	out, err := tree("files")
	for i := range out {
		f := &out[i]
		f.Program = strings.HasPrefix(f.Path, "ci/")
		f.Yield = f.Path == "README.md" || f.Path == ".gitignore"
	}
	return out, err
}

// example are manifests that declare nothing but what every host has, for a host of this name.
func example(host string) ([]File, error) {
	out, err := tree("example")
	for i := range out {
		f := &out[i]
		if strings.HasPrefix(f.Path, hostsDir+"/") {
			f.Path = strings.ReplaceAll(f.Path, "NAME", host)
			f.Data = []byte(strings.ReplaceAll(string(f.Data), "NAME", scalar(host)))
		}
	}
	return out, err
}

// closedList is catalog.yaml for a catalog that has roles and no such file yet.
func closedList(roles []string) File {
	list := slices.Sorted(slices.Values(roles))
	for i, role := range list {
		list[i] = scalar(role)
	}
	return File{Path: "catalog.yaml", Data: fmt.Appendf(nil, "# The closed list of role names: each has a manifest, and no other manifest exists.\nroles: [%s]\n", strings.Join(list, ", "))}
}

// words are what YAML, of one version or another, takes for something else than a string.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// scalar writes a name of a host or a role for YAML: in quotes where it would be a number, a date, a truth value or null.
func scalar(name string) string {
	if slices.Contains(words, name) || name != "" && name[0] >= '0' && name[0] <= '9' {
		return strconv.Quote(name)
	}
	return name
}

// tree reads an embedded folder.
func tree(dir string) ([]File, error) {
	var out []File
	err := fs.WalkDir(embedded, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := embedded.ReadFile(p)
		out = append(out, File{Path: strings.TrimPrefix(p, dir+"/"), Data: raw})
		return err
	})
	return out, err
}
