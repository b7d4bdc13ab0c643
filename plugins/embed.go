// Package plugins carries the built modules of the resource types, with the manifest of each. The modules are built and
// not committed: a tree without them compiles as well, and the program then says what to run.
//
// It knows nothing of how a module is loaded.
package plugins

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

//go:embed */plugin.cue
var manifests embed.FS

// Modules holds <type>.observe.wasm, <type>.apply.wasm and <type>.json of every type that was built, and SHA256SUMS.
func Modules() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant and valid
	}
	return sub
}

// Manifests holds the source of every type's manifest, as <type>/plugin.cue.
func Manifests() fs.FS { return manifests }
