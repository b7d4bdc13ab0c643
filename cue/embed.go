// Package cue carries the definitions of gyrum's catalogs, for generators, tests and `gyrum init`. It evaluates
// nothing and imports no CUE.
package cue

import "embed"

// Definitions holds the package gyrum as its .cue files.
//
//go:embed *.cue
var Definitions embed.FS
