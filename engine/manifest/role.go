package manifest

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"gyrum.ai/engine/resource"
)

// role is a role's manifest, decoded.
type role struct {
	file        string
	name        string
	version     int64
	versionAt   *node // nil without one
	description string
	requires    []*node
	excludes    []*node
	resources   []declared
	// lost are the items of the list that could not be told what they are.
	lost []lost
	owns map[string]int // what the role owns, by ownership key: the index of the resource
}

// declared is one resource of a role.
type declared struct {
	resource.Resource
	node *node
	// index is the resource's place in the manifest's list.
	index int
	// owns are the keys of what the resource alone may own on a host: a path, a package, a unit, a command's id.
	owns []string
	// path is the cleaned path of a file, directory or env.
	path string
	// unitFile is the cleaned unit_file.
	unitFile string
	present  bool
	// wrong are the fields that have a finding of their own, as the path below the resource; with one, the resource is there
	// only so that others can be judged by it.
	wrong []string
}

// right says whether nothing is wrong with a field, such as mode or restart_on[0]. One that is missing is right.
func (d *declared) right(field string) bool { return right(d.wrong, field) }

func right(wrong []string, field string) bool {
	return !slices.ContainsFunc(wrong, func(at string) bool {
		rest, of := strings.CutPrefix(at, "."+field)
		return of && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// lost is an item of a list that may be another resource's unit_file or restart_on once it is mended: what it is called, and
// its type where that is one.
type lost struct {
	index     int
	typ, name string
}

// lose notes an item that is no resource yet.
func (ro *role) lose(n *node, index int) {
	typ := n.str("type")
	if definitions.typ(typ) == nil {
		typ = ""
	}
	for _, key := range []string{"path", "name", "id"} {
		if name := n.str(key); name != "" {
			ro.lost = append(ro.lost, lost{index, typ, cleanID(name)})
		}
	}
	if typ == "" || typ == "package" {
		ro.lost = append(ro.lost, lost{index, typ, ""})
	}
}

// mayBe says whether an item that was lost may be a resource: one of a type by the name, any package where the name is empty.
func (ro *role) mayBe(typ, name string) bool {
	return slices.ContainsFunc(ro.lost, func(l lost) bool { return (l.typ == "" || l.typ == typ) && l.name == name })
}

// at gives the path of a field of the resource.
func (d *declared) at(field string) string {
	p := "resources[" + strconv.Itoa(d.index) + "]"
	if field == "" {
		return p
	}
	return p + "." + field
}

// readRole reads host-roles/<name>.yaml.
func (c *Catalog) readRole(name string) (*role, []Finding) {
	file := path.Join(rolesDir, name+extension)
	raw, r := c.read(file)
	if len(r.findings) > 0 {
		return nil, r.findings
	}
	n := parse(r, raw)
	if n == nil {
		return nil, r.findings
	}
	ck := &checker{report: r}
	ck.structure(n, definitions.Role, "")
	stem(r, n, "role", name)
	ro := &role{file: file, name: name, description: n.str("description"), requires: n.strings("requires"), excludes: n.strings("mutually_exclusive"), owns: map[string]int{}}
	if v := n.get("version"); v != nil && v.kind == kindInt {
		ro.versionAt = v
		ro.version, _ = strconv.ParseInt(v.text, 0, 64)
	}
	unique(r, "requires", ro.requires)
	unique(r, "mutually_exclusive", ro.excludes)
	list := n.get("resources")
	if list == nil || list.kind != kindList {
		return ro, r.findings
	}
	d := &decoder{checker: ck, catalog: c, role: ro}
	ro.resources = make([]declared, 0, len(list.items))
	for i, item := range list.items {
		res, ok := d.resource(item, i)
		if !ok {
			ro.lose(item, i)
			continue
		}
		at := len(ro.resources)
		ro.resources = append(ro.resources, res)
		for _, key := range res.owns {
			first, twice := ro.owns[key]
			if !twice {
				ro.owns[key] = at
				continue
			}
			other := &ro.resources[first]
			r.at(res.node, "R7", res.at(""), key+" is declared twice", fmt.Sprintf("line %d declares %s; keep one", other.node.line, other.ID))
			break
		}
	}
	architectures(ro, r)
	for _, q := range quarrels(ro.resources, ro.resources) {
		if q.a < q.b {
			r.at(ro.resources[q.b].node, "R7", ro.resources[q.b].at(""), q.text, fmt.Sprintf("line %d declares %s; keep one, or narrow match", ro.resources[q.a].node.line, ro.resources[q.a].ID))
		}
	}
	return ro, r.findings
}

// architectures is R7 for packages within a role: a name without an architecture and the same name with one are one package.
func architectures(ro *role, r *report) {
	first := map[[2]string]*declared{} // by the name, and "with" or "without" an architecture
	for i := range ro.resources {
		d := &ro.resources[i]
		if d.Type != "package" {
			continue
		}
		name, arch, _ := strings.Cut(strings.TrimPrefix(d.ID, "package:"), ":")
		mine, others := "without", "with"
		if arch != "" {
			mine, others = others, mine
		}
		if o := first[[2]string{name, others}]; o != nil {
			r.resource = d.ID
			r.at(d.node, "R7", d.at(""), "package "+name+" is declared with and without an architecture", fmt.Sprintf("line %d declares %s; keep one", o.node.line, o.ID))
			r.resource = ""
		}
		if first[[2]string{name, mine}] == nil {
			first[[2]string{name, mine}] = d
		}
	}
}
