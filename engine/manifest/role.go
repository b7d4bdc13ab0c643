package manifest

import (
	"fmt"
	"path"
	"strconv"

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
	owns        map[string]int // what the role owns, by ownership key: the index of the resource
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
	for _, q := range quarrels(ro.resources, ro.resources) {
		if q.a < q.b {
			r.at(ro.resources[q.b].node, "R7", ro.resources[q.b].at(""), q.text, fmt.Sprintf("line %d declares %s; keep one, or narrow match", ro.resources[q.a].node.line, ro.resources[q.a].ID))
		}
	}
	return ro, r.findings
}
