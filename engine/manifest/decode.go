package manifest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
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
	sources *sources
}

// resource judges and decodes one item of the list; ok is false when it cannot be told what it is. What is wrong in one field
// keeps no rule about others from being asked.
func (d *decoder) resource(n *node, index int) (res declared, ok bool) {
	at := "resources[" + strconv.Itoa(index) + "]"
	d.base, d.wrong = at, nil
	defer func() { d.report.resource, d.base = "", "" }()
	if n.kind != kindMap {
		d.at(n, RuleType, at, "this is "+n.kind.article()+", not a resource", "write - type: ... and the type's fields")
		return res, false
	}
	typ := n.get("type")
	if typ == nil {
		d.at(n, RuleMissing, at, "the field type is missing", "give type: "+strings.Join(d.types(), ", ")+" (one of them)")
		return res, false
	}
	def := d.catalog.typ(typ.text)
	if def == nil && typ.kind == kindString && strings.HasPrefix(typ.text, OwnPrefix) {
		message, hint := d.catalog.noOwnType(typ.text)
		d.at(typ, RuleValue, at+".type", message, hint)
		return res, false
	}
	if def == nil || typ.kind != kindString {
		d.value(typ, &definitions.Resource.field("type").value, at+".type")
		if len(d.wrong) == 0 {
			d.at(typ, RuleValue, at+".type", "this resource type has no definition", "")
		}
		return res, false
	}
	d.report.resource = called(n)
	d.structure(n, def, at)
	res = declared{node: n, index: index}
	res.Role, res.Type = d.role.name, typ.text
	res.Pos = resource.Position{File: d.role.file, Line: n.line, Column: n.column}
	if rules := across[res.Type]; rules != nil { // a catalog's own type has none
		rules(&fields{d, n, def, at})
	}
	key, ok := d.identify(&res, def, at)
	switch {
	case ok && len(d.wrong) == 0:
		d.decode(&res, def, key)
		if v := n.get("idempotent"); res.Type == "command" && v != nil && strings.EqualFold(v.text, "false") {
			res.Why, _ = resource.Why(d.role.description, res.ID)
		}
	case ok && def.field("source") != nil && right(d.wrong, "source"):
		d.content(&res) // the file behind a source is judged also where the mode is wrong
	}
	res.wrong = d.wrong
	return res, ok
}

// called gives what messages call a resource that may be wrong: its id as far as it can be told.
func called(n *node) string {
	typ := n.str("type")
	for _, key := range []string{"path", "name"} {
		if v := n.str(key); v != "" && clip(v) == v {
			return typ + ":" + v
		}
	}
	if id := n.str("id"); id != "" && clip(id) == id {
		return id
	}
	return ""
}

// types lists the resource types in the order of the definitions.
func (d *decoder) types() []string { return definitions.Resource.field("type").Alts[0].Enum }

// identify fills the id, the cleaned paths, and what the resource owns; it returns the field that the id is made of. It is not
// ok where that field is missing or wrong.
func (d *decoder) identify(res *declared, def *alt, at string) (key string, ok bool) {
	n := res.node
	id := def.field("id")
	key, second, _ := strings.Cut(id.Alts[0].ID, "#")
	for _, field := range []string{cmp.Or(key, "id"), second} {
		if v := n.get(field); field != "" && (v == nil || v.kind != kindString || !right(d.wrong, field)) {
			return key, false
		}
	}
	res.present = n.str("state") != "absent"
	if key == "" { // a command: its id is its own
		res.ID = n.str("id")
		res.owns = []string{res.ID}
		return "", true
	}
	name, part := n.str(key), ""
	if second != "" {
		part = "#" + n.str(second)
	}
	if got := n.get("id"); got != nil && right(d.wrong, "id") && got.text != res.Type+":"+name+part {
		d.at(got, RuleValue, at+".id", strconv.Quote(clip(got.text))+" is not the id of this resource", "write "+res.Type+":"+clip(name+part)+", or leave the id out")
	}
	if key == "path" {
		res.path = cleanPath(name)
		res.ID = res.Type + ":" + res.path + part
		res.owns = []string{"path " + res.path}
		if part != "" { // it owns a part of what stands there
			res.owns = []string{res.Type + " " + res.path + part}
		}
		d.reserved(n.get(key), res.path, at+".path")
		return key, true
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
	if f := n.str("unit_file"); f != "" && right(d.wrong, "unit_file") {
		res.unitFile = cleanPath(f)
	}
	return key, true
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

// decode builds the declared record and the plugin's view of it, both canonical JSON.
func (d *decoder) decode(res *declared, def *alt, key string) {
	n := res.node
	var content []byte // what stands for the content in the view: its digest and size
	if res.Type == "file" || strings.HasPrefix(res.Type, OwnPrefix) && def.field("content") != nil {
		content = d.content(res)
	}
	record := make([]byte, 0, 256)
	view := make([]byte, 0, 256)
	split := content != nil
	both := func(name string, value []byte) {
		record = appendField(record, name, value)
		if split {
			view = appendField(view, name, value)
		}
	}
	scratch := make([]byte, 0, 128)
	for _, f := range def.byName() {
		v := n.get(f.Name)
		switch {
		case f.Name == "content" && split:
			view = appendField(view, "content", content)
			switch {
			case v != nil && res.Content.Size <= MaxInline:
				record = appendField(record, "content", canonical.AppendString(scratch, v.text))
			case v != nil:
				record = appendField(record, "content", content)
			}
		case f.Name == "source" && split:
			if v != nil {
				record = appendField(record, "sha256", canonical.AppendString(scratch, res.Content.SHA256))
				record = appendField(record, "source", canonical.AppendString(scratch, v.text))
			}
		case f.Name == "id":
			both("id", canonical.AppendString(scratch, res.ID))
		case f.Name == "mode":
			mode, _ := f.Default.(string)
			if v != nil {
				mode = v.text
			}
			both("mode", canonical.AppendString(scratch, fourDigits(mode)))
		case v == nil:
			switch value := f.Default.(type) {
			case string:
				both(f.Name, canonical.AppendString(scratch, value))
			case bool:
				both(f.Name, strconv.AppendBool(scratch, value))
			}
		case f.Name == key && key == "path":
			both(key, canonical.AppendString(scratch, res.path))
		case f.Name == "unit_file":
			both(f.Name, canonical.AppendString(scratch, res.unitFile))
		case f.Name == "restart_on":
			ids := append(scratch, '[')
			for i, item := range v.items {
				if i > 0 {
					ids = append(ids, ',')
				}
				ids = canonical.AppendString(ids, cleanID(item.text))
			}
			both(f.Name, append(ids, ']'))
		default:
			both(f.Name, d.plain(scratch, res, v, f.Name))
		}
	}
	res.Declared = append(record, '}')
	res.View = res.Declared
	if split {
		res.View = append(view, '}')
	}
}

// appendField appends a name and its value to an object that is being written.
func appendField(dst []byte, name string, value []byte) []byte {
	if len(dst) == 0 {
		dst = append(dst, '{')
	} else {
		dst = append(dst, ',')
	}
	return append(append(canonical.AppendString(dst, name), ':'), value...)
}

// cleanID cleans the path in an id.
func cleanID(id string) string {
	typ, name, ok := strings.Cut(id, ":")
	if ok && strings.HasPrefix(name, "/") {
		return typ + ":" + cleanPath(name)
	}
	return id
}

// plain appends a judged node as canonical JSON and notes the secret references in it.
func (d *decoder) plain(dst []byte, res *declared, n *node, at string) []byte {
	switch n.kind {
	case kindBool:
		return strconv.AppendBool(dst, strings.EqualFold(n.text, "true"))
	case kindInt:
		i, _ := integer(n.text) // judged before
		return strconv.AppendInt(dst, i, 10)
	case kindList:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = d.plain(dst, res, item, at+"["+strconv.Itoa(i)+"]")
		}
		return append(dst, ']')
	case kindMap:
		if ref := n.get("secret_ref"); ref != nil && len(n.fields) == 1 {
			if res.Secrets == nil {
				res.Secrets = map[string]resource.SecretRef{}
			}
			provider, name, _ := strings.Cut(ref.text, ":")
			res.Secrets[at] = resource.SecretRef{Provider: provider, Name: name}
		}
		sorted := slices.SortedFunc(slices.Values(n.fields), func(a, b field) int { return strings.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for i, f := range sorted {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(canonical.AppendString(dst, f.name), ':')
			dst = d.plain(dst, res, f.value, at+"."+f.name)
		}
		return append(dst, '}')
	}
	return canonical.AppendString(dst, n.text)
}

// content fills res.Content and gives what stands for it in the view; nil when the content is a secret or there is none.
func (d *decoder) content(res *declared) []byte {
	n := res.node
	if c := n.get("content"); c != nil && c.kind == kindString {
		text := c.text
		sum := sha256.Sum256([]byte(text))
		res.Content = &resource.Content{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text)), Open: func() ([]byte, error) { return []byte(text), nil }}
	}
	if s := n.get("source"); s != nil {
		if d.sources == nil {
			d.sources = d.catalog.openSources(d.role.name)
		}
		content, problem := d.sources.content(s.text)
		if problem != "" {
			d.at(s, "R10", "resources["+strconv.Itoa(res.index)+"].source", problem, fmt.Sprintf("put the file into %s/%s/%s/", rolesDir, d.role.name, filesDir))
			return nil
		}
		res.Content = content
	}
	if res.Content == nil {
		return nil
	}
	out := append(make([]byte, 0, 96), `{"sha256":"`...)
	out = append(append(out, res.Content.SHA256...), `","size":`...)
	return append(strconv.AppendInt(out, res.Content.Size, 10), '}')
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
