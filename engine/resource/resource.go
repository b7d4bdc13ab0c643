// Package resource holds what a manifest declares, one typed record a resource, in the order of apply.
// It knows nothing of hosts, plugins or files on disk.
package resource

import (
	"encoding/json"
	"fmt"
)

// Resource is one declared resource of a role, as it applies to one host.
type Resource struct {
	// Role is the role whose manifest lists the resource.
	Role string
	// Type is the resource type, one of a closed set.
	Type string
	// ID is "<type>:<name or path>", unique on the host.
	ID string
	// Declared is the whole record with defaults filled in, as canonical JSON (RFC 8785). It is what
	// a drift item shows as "declared", but for a content that is too large to print.
	Declared json.RawMessage
	// View is Declared as a plugin sees it: contents are replaced by {"sha256","size"} and never cross the
	// boundary; secrets are references. Canonical JSON.
	View json.RawMessage
	// Content is what a file is to hold; nil for a type without content, and for one whose content is a secret.
	Content *Content
	// Secrets maps a field path within Declared ("content", "vars.TOKEN") to the reference that stands there.
	Secrets map[string]SecretRef
	// Why is what the role's description says of why every apply runs the command, or that it does not say it, as the function
	// of that name has it. Empty for anything but a command that is declared idempotent: false.
	Why string
	// Pos is where the manifest lists the resource.
	Pos Position
}

// Content is the declared bytes of a file, by digest; the bytes are read when they are written.
type Content struct {
	// SHA256 is the digest in lower-case hexadecimal.
	SHA256 string
	// Size is in bytes.
	Size int64
	// Source is the path of the `source:` file, empty for an inline content.
	Source string
	// Open returns the bytes. It fails when a source no longer has the digest that was planned.
	Open func() ([]byte, error)
}

// SecretRef is a reference "provider:name" to a secret; the value never leaves the host side.
type SecretRef struct {
	// Provider is one of file, credential, age, exec.
	Provider string
	// Name is what the provider looks up: a path for file and age, a plain name otherwise.
	Name string
}

// String gives the reference as a manifest writes it.
func (r SecretRef) String() string { return r.Provider + ":" + r.Name }

// Position is a place in a file; Line and Column count from 1, 0 means unknown.
type Position struct {
	File   string
	Line   int
	Column int
}

// String gives file:line:column, as editors parse it.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}
