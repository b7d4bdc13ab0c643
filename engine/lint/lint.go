// Package lint judges how a catalog is written, beyond whether it is valid: layout, names, files that nothing uses,
// orders that need a second apply, versions that should have been raised. It also rewrites what can be rewritten
// without changing what the catalog says.
//
// It must not know hosts, plugins or CUE; the repository's own gates are elsewhere.
package lint

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"gyrum.ai/engine/lint/layout"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// The rules beside those of the manifest reader and of package layout.
const (
	RuleStray    = "stray-file"
	RuleUnused   = "unused-source"
	RuleLink     = "dangling-link"
	RuleMode     = "file-mode"
	RuleSpelling = "spelling"
	RuleOrder    = "order"
	RuleReason   = "no-reason"
	RuleVersion  = "version"
)

// Rules describes every rule that a finding of Catalog can name, those of validation included.
func Rules() []manifest.Rule {
	return slices.Concat(manifest.Rules(), layout.Rules(), []manifest.Rule{
		{ID: RuleStray, Title: "every file has a reader", Doc: "hosts/ and host-roles/ hold manifests, and a folder host-roles/<role>/ holds files/ beside the manifest of that role. Files that begin with a dot and *.md are let be."},
		{ID: RuleUnused, Title: "every file in files/ is a source", Doc: "A file in host-roles/<role>/files/ is named by source: in that role; else it is left over, or its resource is missing."},
		{ID: RuleLink, Title: "links in files/ lead to files in it", Doc: "A symlink in files/ leads to a file that is there and inside the folder."},
		{ID: RuleMode, Title: "modes in the catalog", Doc: "Nothing in a catalog is writable by everybody, and manifests are not executable. A source's own mode is not taken to the host: one that is executable and declared without execute bits is probably meant to have them."},
		{ID: RuleSpelling, Title: "one way to write a name", Doc: "The name in a command's id is lower-case letters and digits with hyphens between."},
		{ID: RuleOrder, Title: "resources stand in an order that one apply can follow", Doc: "Resources are applied as listed. A unit comes after the package, files and env files that it is made of or restarted by, and a file after the directory that it lies in."},
		{ID: RuleReason, Title: "a command that runs at every apply says why", Doc: "Of every command with idempotent: false, the description of its role says why: in a sentence that names the command, by its id (command:sync-keys) or by its name as a word of its own (sync-keys), and says more than the name. Each such sentence is the reason that check and apply show. Line breaks within a sentence do not count. A command named apply, check, command, host, role or run is named by its id."},
		{ID: RuleVersion, Title: "a changed role has a higher version", Doc: "When the resources of a role differ from those in git (HEAD, or the commit before it when nothing is changed since; with --since the commit where the branches parted), its version is higher too."},
	})
}

// Options say what is compared.
type Options struct {
	// Since is a git revision; roles are compared with the commit where it and HEAD parted. Empty is HEAD, or the
	// commit before it when host-roles/ is as in HEAD.
	Since string
}

// Catalog gives everything that is wrong or badly written in a catalog, sorted: the findings of validation, its
// warnings, and those of the rules here, which are warnings. It fails when Since cannot be compared with.
func Catalog(c *manifest.Catalog, o Options) ([]manifest.Finding, error) {
	l := &linter{catalog: c, files: c.Files()}
	for _, name := range l.manifests() {
		l.layout(name)
	}
	l.folders()
	for _, name := range c.RoleNames() {
		if r := c.Role(name); r != nil {
			l.sources(r)
			l.resources(r)
		}
	}
	err := l.versions(o.Since)
	found := slices.Concat(c.Validate(), c.Warnings(), l.found)
	manifest.Sort(found)
	return found, err
}

// linter gathers the findings of one catalog.
type linter struct {
	catalog *manifest.Catalog
	files   fs.FS
	found   []manifest.Finding
}

func (l *linter) warn(at resource.Position, rule, message, hint string) {
	l.found = append(l.found, manifest.Finding{Pos: at, Rule: rule, Severity: manifest.SeverityWarn, Message: manifest.Conceal(message), Hint: manifest.Conceal(hint)})
}

// manifests lists the catalog's YAML files that are there as regular files.
func (l *linter) manifests() []string {
	var out []string
	if info, err := fs.Lstat(l.files, "catalog.yaml"); err == nil && info.Mode().IsRegular() {
		out = append(out, "catalog.yaml")
	}
	for _, dir := range []string{"hosts", "host-roles"} {
		entries, err := fs.ReadDir(l.files, dir)
		if err != nil {
			continue // a catalog may have only one of the two; what cannot be read is a finding of validation
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".yaml") && !strings.HasPrefix(e.Name(), ".") {
				out = append(out, path.Join(dir, e.Name()))
			}
		}
	}
	return out
}

// layout judges how one manifest is written.
func (l *linter) layout(name string) {
	raw, err := readManifest(l.files, name)
	if err != nil {
		return // a finding of validation
	}
	for _, p := range layout.Problems(raw) {
		l.warn(resource.Position{File: name, Line: p.Line, Column: p.Column}, p.Rule, p.Message, p.Hint)
	}
}
