package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/resource"
)

// decoder turns one role's resources into typed records.
type decoder struct {
	*checker
	catalog *Catalog
	role    *role
	table   *table
	sources *sources
}

// resource judges and decodes one item of the list; ok is false when it cannot be used.
func (d *decoder) resource(n *node, index int) (res declared, ok bool) {
	at := "resources[" + strconv.Itoa(index) + "]"
	before := len(d.findings)
	if n.kind != kindMap {
		d.at(n, RuleType, at, "this is "+n.kind.article()+", not a resource", "write - type: ... and the type's fields")
		return res, false
	}
	typ := n.get("type")
	if typ == nil {
		d.at(n, RuleMissing, at, "the field type is missing", "give type: "+strings.Join(d.types(), ", ")+" (one of them)")
		return res, false
	}
	def := d.table.Types[typ.text]
	if def == nil || typ.kind != kindString {
		d.value(typ, &d.table.Resource.field("type").value, at+".type")
		if len(d.findings) == before {
			d.at(typ, RuleValue, at+".type", "this resource type has no definition", "")
		}
		return res, false
	}
	d.structure(n, def, at)
	if len(d.findings) > before {
		return res, false
	}
	res = declared{node: n, index: index}
	res.Role, res.Type = d.role.name, typ.text
	res.Pos = resource.Position{File: d.role.file, Line: n.line, Column: n.column}
	rules[res.Type](d, n, at)
	key := d.identify(&res, def, at)
	if len(d.findings) > before {
		return res, false
	}
	d.decode(&res, def, key)
	return res, len(d.findings) == before
}

// types lists the resource types in the order of the definitions.
func (d *decoder) types() []string { return d.table.Resource.field("type").Alts[0].Enum }

// identify fills the id, the cleaned paths, and what the resource owns; it returns the field that the id is made of.
func (d *decoder) identify(res *declared, def *alt, at string) string {
	n := res.node
	id := def.field("id")
	key := id.Alts[0].ID
	res.present = n.str("state") != "absent"
	if key == "" { // a command: its id is its own
		res.ID = n.str("id")
		res.owns = []string{res.ID}
		return ""
	}
	name := n.str(key)
	if got := n.get("id"); got != nil && got.text != res.Type+":"+name {
		d.at(got, RuleValue, at+".id", strconv.Quote(clip(got.text))+" is not the id of this resource", "write "+res.Type+":"+clip(name)+", or leave the id out")
		return key
	}
	if key == "path" {
		res.path = cleanPath(name)
		res.ID = res.Type + ":" + res.path
		res.owns = []string{"path " + res.path}
		d.reserved(n.get(key), res.path, at+".path")
		return key
	}
	res.ID = res.Type + ":" + name
	switch res.Type {
	case "package":
		res.owns = []string{"package " + name}
	case "systemd_unit":
		res.owns = []string{"unit " + name}
	default:
		res.owns = []string{res.ID}
	}
	if f := n.str("unit_file"); f != "" {
		res.unitFile = cleanPath(f)
	}
	return key
}

// reserved refuses paths in gyrum's own folders.
func (d *decoder) reserved(n *node, p, at string) {
	for _, r := range d.catalog.reserved {
		if p == r || strings.HasPrefix(p, r+"/") {
			d.at(n, "R7", at, p+" lies in gyrum's own folder "+r, "choose a path outside; gyrum keeps its state and its cache there")
		}
	}
}

// cleanPath takes //, /./ and a trailing / from an absolute path; .. elements were refused before.
func cleanPath(p string) string { return path.Clean(p) }

// decode builds the declared record and the plugin's view of it.
func (d *decoder) decode(res *declared, def *alt, key string) {
	n := res.node
	record := make(map[string]any, len(def.Fields))
	for i := range def.Fields {
		f := &def.Fields[i]
		v := n.get(f.Name)
		switch {
		case f.Name == "id":
			record["id"] = res.ID
		case v == nil:
			if f.Default != nil {
				record[f.Name] = f.Default
			}
		case f.Name == "mode":
			record["mode"] = fourDigits(v.text)
		case f.Name == key && key == "path":
			record[key] = res.path
		case f.Name == "unit_file":
			record["unit_file"] = res.unitFile
		case f.Name == "restart_on":
			record["restart_on"] = d.references(v)
		default:
			record[f.Name] = d.plain(res, v, f.Name)
		}
	}
	if def.field("mode") != nil && n.get("mode") == nil {
		record["mode"] = fourDigits(def.defaultText("mode"))
	}
	view := record
	if res.Type == "file" {
		view = d.content(res, record)
	}
	var err error
	if res.Declared, err = canonical.Marshal(record); err != nil {
		d.at(n, RuleValue, "resources["+strconv.Itoa(res.index)+"]", "the record has no canonical form: "+err.Error(), "")
		return
	}
	if res.Type != "file" {
		res.View = res.Declared
	} else if res.View, err = canonical.Marshal(view); err != nil {
		d.at(n, RuleValue, "resources["+strconv.Itoa(res.index)+"]", "the record has no canonical form: "+err.Error(), "")
	}
}

// references gives the ids of restart_on with their paths cleaned, as ids are.
func (d *decoder) references(list *node) []any {
	out := make([]any, 0, len(list.items))
	for _, i := range list.items {
		out = append(out, cleanID(i.text))
	}
	return out
}

// cleanID cleans the path in an id.
func cleanID(id string) string {
	typ, name, ok := strings.Cut(id, ":")
	if ok && strings.HasPrefix(name, "/") {
		return typ + ":" + cleanPath(name)
	}
	return id
}

// plain turns a judged node into what canonical.Marshal takes, and notes the secret references in it.
func (d *decoder) plain(res *declared, n *node, at string) any {
	switch n.kind {
	case kindBool:
		return n.text == "true" || n.text == "True" || n.text == "TRUE"
	case kindList:
		out := make([]any, 0, len(n.items))
		for i, item := range n.items {
			out = append(out, d.plain(res, item, at+"["+strconv.Itoa(i)+"]"))
		}
		return out
	case kindMap:
		if ref := n.get("secret_ref"); ref != nil && len(n.fields) == 1 {
			if res.Secrets == nil {
				res.Secrets = map[string]resource.SecretRef{}
			}
			provider, name, _ := strings.Cut(ref.text, ":")
			res.Secrets[at] = resource.SecretRef{Provider: provider, Name: name}
		}
		out := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			out[f.name] = d.plain(res, f.value, at+"."+f.name)
		}
		return out
	}
	return n.text
}

// content fills res.Content, shortens the declared record where the content is long, and returns the view.
func (d *decoder) content(res *declared, record map[string]any) map[string]any {
	n := res.node
	view := make(map[string]any, len(record))
	for k, v := range record {
		view[k] = v
	}
	delete(view, "source")
	if c := n.get("content"); c != nil && c.kind == kindString {
		text := c.text
		sum := sha256.Sum256([]byte(text))
		res.Content = &resource.Content{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text)), Open: func() ([]byte, error) { return []byte(text), nil }}
		view["content"] = map[string]any{"sha256": res.Content.SHA256, "size": res.Content.Size}
		if len(text) > MaxInline {
			record["content"] = view["content"]
		}
	}
	if s := n.get("source"); s != nil {
		if d.sources == nil {
			d.sources = d.catalog.openSources(d.role.name)
		}
		content, problem := d.sources.content(s.text)
		if problem != "" {
			d.at(s, "R10", "resources["+strconv.Itoa(res.index)+"].source", problem, fmt.Sprintf("put the file into %s/%s/%s/", rolesDir, d.role.name, filesDir))
			return view
		}
		res.Content = content
		record["sha256"] = content.SHA256
		view["content"] = map[string]any{"sha256": content.SHA256, "size": content.Size}
	}
	return view
}

// fourDigits gives a mode its one form, such as 0644.
func fourDigits(mode string) string {
	switch len(mode) {
	case 3:
		return "0" + mode
	case 5:
		return mode[1:]
	}
	return mode
}

// rules are what spans several fields of a type. cue/types.cue says the same.
var rules = map[string]func(d *decoder, n *node, at string){
	"package": func(d *decoder, n *node, at string) {
		if v := n.get("version"); v != nil && v.text != "present" && n.str("state") == "absent" {
			d.at(v, RuleFields, at+".version", "a version together with state: absent", "leave the version out")
		}
	},
	"file": func(d *decoder, n *node, at string) {
		content, source := n.get("content"), n.get("source")
		switch {
		case content != nil && source != nil:
			d.at(source, RuleFields, at+".source", "content and source together", "keep one")
		case content == nil && source == nil && n.str("state") != "absent":
			d.at(n, RuleMissing, at, "content or source is required", `give content: "..." or source: a path in the role's files folder; an empty file is content: ""`)
		}
	},
	"directory": func(*decoder, *node, string) {},
	"systemd_unit": func(d *decoder, n *node, at string) {
		if n.get("state") == nil && n.get("enabled") == nil {
			d.at(n, RuleMissing, at, "state, enabled or both are required", "give state: started or stopped, enabled: true or false")
		}
		if name := n.get("name"); n.str("state") == "started" && templateName(name.text) {
			d.at(name, RuleFields, at+".name", "a template cannot be started", "name an instance, such as "+strings.Replace(name.text, "@.", "@instance.", 1))
		}
	},
	"env": func(d *decoder, n *node, at string) {
		if n.get("vars") == nil && n.str("state") != "absent" {
			d.at(n, RuleMissing, at, "vars is required", "give vars: {NAME: value}; a file without variables is vars: {}")
		}
	},
	"command": func(d *decoder, n *node, at string) {
		if v := n.get("idempotent"); n.get("creates") == nil && (v == nil || strings.EqualFold(v.text, "true")) {
			d.at(n, RuleMissing, at, "creates is required, unless idempotent is false", "name the path that exists once the command has run")
		}
	},
}

// templateName says whether a unit name is a bare template, name@.suffix.
func templateName(name string) bool {
	stem := name[:strings.LastIndexByte(name, '.')]
	return strings.HasSuffix(stem, "@")
}
