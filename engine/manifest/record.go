package manifest

import (
	"io/fs"
	"slices"

	"gyrum.ai/engine/resource"
)

// RoleRecord is one role's manifest as it was read, for tools that judge how it is written.
type RoleRecord struct {
	// File is the manifest, relative to the catalog's root.
	File        string
	Name        string
	Description string
	Version     int64
	// VersionAt is where the version stands; the manifest's beginning when it has none.
	VersionAt resource.Position
	// Requires are the roles that it names, whether they exist or not.
	Requires []string
	// Resources are those that can be used, in the manifest's order.
	Resources []resource.Resource
	// Complete says that nothing in the manifest is wrong by itself, so that no resource is missing here.
	Complete bool
}

// Role reads one role's manifest; nil when it is not there or cannot be used at all.
func (c *Catalog) Role(name string) *RoleRecord {
	if !has(c.roles, name) {
		return nil
	}
	ro, found := c.role(name)
	if ro == nil {
		return nil
	}
	out := &RoleRecord{File: ro.file, Name: ro.name, Description: ro.description, Version: ro.version, Requires: texts(ro.requires), Complete: !HasErrors(found)}
	out.VersionAt = resource.Position{File: ro.file, Line: 1, Column: 1}
	if v := ro.versionAt; v != nil {
		out.VersionAt.Line, out.VersionAt.Column = v.line, v.column
	}
	for i := range ro.resources {
		if d := &ro.resources[i]; len(d.wrong) == 0 {
			out.Resources = append(out.Resources, d.Resource)
		}
	}
	return out
}

// Files gives the catalog's files, read-only. Links in it are followed inside the catalog only.
func (c *Catalog) Files() fs.FS { return c.root.FS() }

// Readable says whether a file is a document that the strict reader takes (R12), whatever it holds.
func Readable(raw []byte) bool {
	r := &report{}
	return parse(r, raw) != nil && len(r.findings) == 0
}

// Equal says whether two files hold the same document: the same values of the same kinds, lists in the same order,
// mappings in any. Comments, quotes and layout do not count. It is false where one of the two cannot be read.
func Equal(a, b []byte) bool {
	ra, rb := &report{}, &report{}
	na, nb := parse(ra, a), parse(rb, b)
	return na != nil && nb != nil && len(ra.findings)+len(rb.findings) == 0 && equal(na, nb)
}

func equal(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.fields) != len(b.fields) {
		return false
	}
	other := make(map[string]*node, len(b.fields))
	for i := range b.fields {
		other[b.fields[i].name] = b.fields[i].value
	}
	for i := range a.fields {
		if o := other[a.fields[i].name]; o == nil || !equal(a.fields[i].value, o) {
			return false
		}
	}
	return slices.EqualFunc(a.items, b.items, equal)
}
