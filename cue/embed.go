// Package cue carries the definitions of gyrum's catalogs and the JSON schemas, for generators, tests, `gyrum schema`
// and `gyrum init`. It evaluates nothing and imports no CUE.
package cue

import (
	"embed"
	"io/fs"
)

// Definitions holds the CUE package gyrum as its .cue files. A catalog has them in
// cue.mod/pkg/gyrum.ai/cue/, where plain cue finds them without a network.
//
//go:embed *.cue
var Definitions embed.FS

//go:embed embedded
var embedded embed.FS

// Schemas holds the JSON schemas by file name, such as drift-item.v1.json.
func Schemas() fs.FS {
	sub, err := fs.Sub(embedded, "embedded/schemas")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}

// CatalogFile is catalog.cue, which lies in a catalog's root and applies the definitions to its files.
func CatalogFile() []byte {
	raw, err := embedded.ReadFile("embedded/catalog.cue.txt")
	if err != nil {
		panic(err) // the file is embedded
	}
	return raw
}
