// Package manifest reads a catalog: host records and role manifests in strict YAML, judged by the definitions that
// cue/ holds (as the generated table.json) and by the links between files, and turned into the resources of one host
// in the order of apply.
//
// It must not know the host's state, plugins or CUE, and it writes nothing anywhere.
package manifest

// Limits that keep any input cheap to refuse. Payloads that are larger travel in packages.
const (
	// MaxFile bounds a manifest, in bytes.
	MaxFile = 8 << 20
	// MaxSource bounds a `source:` file, in bytes.
	MaxSource = 1 << 20
	// MaxInline is the largest content that a declared record shows; a larger one is shown by digest and size.
	MaxInline = 64 << 10
	// maxDepth bounds how deep values may nest; the definitions need six levels.
	maxDepth = 50
	// maxFindings bounds the findings of one file.
	maxFindings = 100
)

// The folders and files of a catalog.
const (
	hostsDir    = "hosts"
	rolesDir    = "host-roles"
	filesDir    = "files"
	catalogFile = "catalog.yaml"
	extension   = ".yaml"
	// BaseRole is the role that every host carries where the catalog has it.
	BaseRole = "host"
)
