// Package gate keeps the set of resource types closed: a type exists when its plugin, its definition, its schema, its
// documentation page and an accepted decision record all agree. It names what is missing where one does not.
//
// It judges the repository of gyrum itself, and knows nothing of catalogs or hosts.
package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// The rules of the findings.
const (
	// RuleType is broken where the places that name a type disagree.
	RuleType = "closed-types"
	// RuleRecord is broken by a decision record that is not as docs/adr/README.md wants it.
	RuleRecord = "decision-record"
)

// Rules describes them, for formats that list their rules.
func Rules() []manifest.Rule {
	return []manifest.Rule{
		{ID: RuleType, Title: "resource types are a closed set", Doc: "A type has a plugin, an accepted decision record that names it, a CUE definition, its place in the schema's enumeration, a page in docs/types, golden cases, and a name in every list of types; the record was accepted before the type came in, which the git history shows."},
		{ID: RuleRecord, Title: "decision records are in order", Doc: "A record has a number of its own, a status of those in docs/adr/README.md, and a line in the list there."},
	}
}

// first are the types that the requirement itself names; every other one enters by a decision record.
var first = []string{"package", "file", "directory", "systemd_unit", "env", "command"}

// Is says whether a folder is the repository that the gate judges.
func Is(root string) bool {
	for _, p := range []string{"plugins/guest", "engine", "docs/adr", "cue/role.cue"} {
		if _, err := os.Stat(filepath.Join(root, p)); err != nil {
			return false
		}
	}
	return true
}

// Check judges the repository at root. The notes say in a line each what could not be judged there, and why.
func Check(root string) (found []manifest.Finding, notes []string, err error) {
	g := &gate{root: root}
	if err := g.read(); err != nil {
		return nil, nil, err
	}
	g.records()
	for _, typ := range g.all() {
		g.typ(typ)
	}
	for _, judge := range []func() error{g.copies, g.shapes, g.modules, g.history} {
		if err := judge(); err != nil {
			return nil, nil, err
		}
	}
	manifest.Sort(g.findings)
	return g.findings, g.notes, nil
}

type gate struct {
	root     string
	findings []manifest.Finding
	notes    []string

	plugins map[string]*plugin // by type
	// listed are the types of #Type, defined those of #types.
	listed, defined []string
	// enum are the types of the newest schema of drift items, file is where it stands; v1 are those of the first.
	enum, v1 []string
	file     string
	pages    []string
	adr      map[string]*record // by stem
	index    string             // docs/adr/README.md
}

func (g *gate) say(file, rule, hint, format string, args ...any) {
	g.findings = append(g.findings, manifest.Finding{Pos: resource.Position{File: file}, Rule: rule, Severity: manifest.SeverityError,
		Message: fmt.Sprintf(format, args...), Hint: hint})
}

// all are the types that any place names.
func (g *gate) all() []string {
	var out []string
	for typ := range g.plugins {
		out = append(out, typ)
	}
	for _, list := range [][]string{g.listed, g.defined, g.enum, g.pages} {
		out = append(out, list...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// typ judges one type in every place.
func (g *gate) typ(typ string) {
	dir := "plugins/" + typ
	p := g.plugins[typ]
	if p == nil {
		g.say(dir, RuleType, "gyrum plugin new "+typ+" makes one", "the type %s is named elsewhere and has no plugin", typ)
	} else {
		g.plugin(typ, p)
	}
	if !slices.Contains(g.listed, typ) {
		g.say("cue/role.cue", RuleType, `add "`+typ+`" to #Type, and to the words of its error`, "#Type does not name the type %s", typ)
	}
	if !slices.Contains(g.defined, typ) {
		g.say("cue/types.cue", RuleType, "add "+typ+" to #types", "#types does not define the type %s", typ)
	}
	if !slices.Contains(g.enum, typ) {
		g.say(g.file, RuleType, "name it there as long as no release has this version, and run go run ./tools/schemagen; else begin the next version, as docs/plugin-guide.md says", "the newest schema of drift items does not name the type %s", typ)
	}
	if !slices.Contains(g.pages, typ) {
		g.say("docs/types/"+typ+".md", RuleType, "go run ./tools/typedocs writes its tables", "the type %s has no page", typ)
	}
	g.places(typ)
	if slices.Contains(g.v1, typ) != slices.Contains(first, typ) {
		g.say("schemas/drift-item.v1.json", RuleType, "types after the first six belong to a later version", "the first version names exactly the first six types, and %s is wrong there", typ)
	}
}

// plugin judges what a type's plugin says of itself.
func (g *gate) plugin(typ string, p *plugin) {
	file := "plugins/" + typ + "/plugin.cue"
	if p.Type != typ {
		g.say(file, RuleType, `write type: "`+typ+`"`, "the type is %q, the folder says %q", p.Type, typ)
	}
	for _, verb := range p.Verbs {
		if !slices.Contains(drift.Verbs(), drift.Verb(verb)) {
			g.say(file, RuleType, "the set of verbs is closed", "there is no verb %q", verb)
		}
	}
	for phase, grants := range map[string]map[string]struct{}{"observe": p.observe, "apply": p.apply} {
		for name := range grants {
			c := slices.IndexFunc(host.Capabilities(), func(c host.Capability) bool { return c.Name == name })
			switch {
			case c < 0:
				g.say(file, RuleType, "engine/host/table.go lists them", "%s grants the capability %s, which does not exist", phase, name)
			case phase == "observe" && host.Capabilities()[c].Side == host.Write:
				g.say(file, RuleType, "only apply changes anything", "observe grants the writing capability %s", name)
			}
		}
	}
	for _, phase := range []string{"observe", "apply"} {
		if !strings.Contains(p.sums, typ+"."+phase+".wasm\n") {
			g.say("plugins/dist/SHA256SUMS", RuleType, "run make plugins and commit it", "there is no digest of the %s module of %s", phase, typ)
		}
		if _, err := os.Stat(filepath.Join(g.root, "plugins", typ, phase, "main.go")); err != nil {
			g.say("plugins/"+typ+"/"+phase+"/main.go", RuleType, "a type is two modules", "the %s module of %s has no source", phase, typ)
		}
	}
	switch rec := g.adr[p.Decision]; {
	case p.Decision == "":
		g.say(file, RuleType, "name the record in docs/adr as decision", "it names no decision record")
	case rec == nil:
		g.say(file, RuleType, "write docs/adr/"+p.Decision+".md", "its decision record %s does not exist", p.Decision)
	case rec.status != "Accepted":
		g.say("docs/adr/"+p.Decision+".md", RuleType, "have it reviewed; a type enters once its record is accepted", "the type %s rests on a record that is %s", typ, strings.ToLower(rec.status))
	case !rec.names(typ):
		g.say("docs/adr/"+p.Decision+".md", RuleType, "let its title be NNNN: Type "+typ+": …, and its decision begin with: Type `"+typ+"` declares", "the record of %s does not name the type", typ)
	}
}
