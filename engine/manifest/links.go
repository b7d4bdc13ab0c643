package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// roleLinks judges what one role says of others, whatever host carries it: the names in requires and
// mutually_exclusive, the closed list, unit_file.
func (c *Catalog) roleLinks(ro *role, rec *catalogRecord) []Finding {
	r := &report{file: ro.file}
	for i, n := range ro.requires {
		at := fmt.Sprintf("requires[%d]", i)
		if c.known(r, n, "R4", at) && ro.name == BaseRole {
			r.at(n, "R4", at, "the base role requires nothing; every host carries it first", "delete requires")
		}
	}
	for i, n := range ro.excludes {
		at := fmt.Sprintf("mutually_exclusive[%d]", i)
		switch {
		case !c.known(r, n, "R5", at):
		case n.text == ro.name:
			r.at(n, "R5", at, "a role cannot exclude itself", "delete it")
		case n.text == BaseRole || ro.name == BaseRole:
			r.at(n, "R5", at, "the base role is on every host and cannot be excluded", "delete it")
		case slices.ContainsFunc(ro.requires, func(q *node) bool { return q.text == n.text }):
			r.at(n, "R5", at, n.text+" is required and excluded", "delete one of the two")
		}
	}
	if rec.closed && !rec.listed[ro.name] {
		r.add(1, 1, "R2", "", "the role "+ro.name+" is not in the closed list of "+catalogFile, "add "+ro.name+" to roles there, or delete the manifest")
	}
	for i := range ro.resources {
		if d := &ro.resources[i]; d.unitFile != "" {
			r.resource = d.ID
			c.unitFile(r, ro, d)
		}
	}
	return r.findings
}

// unitFolders are where packages put units.
var unitFolders = []string{"/lib/systemd/system", "/usr/lib/systemd/system"}

// unitFile is R8: a unit_file is declared as a file by this role or by one it requires, or is a packaged unit with a
// package before it.
func (c *Catalog) unitFile(r *report, ro *role, d *declared) {
	declares := func(rs []declared, packaged bool) bool {
		return slices.ContainsFunc(rs, func(o declared) bool {
			return o.present && (o.Type == "file" && o.path == d.unitFile || packaged && o.Type == "package")
		})
	}
	packaged := slices.Contains(unitFolders, path.Dir(d.unitFile))
	// An item that is lost has its own finding, and may be what is missing here.
	lost := func(ro *role) bool { return ro.mayBe("file", d.unitFile) || packaged && ro.mayBe("package", "") }
	at := slices.IndexFunc(ro.resources, func(o declared) bool { return o.index == d.index })
	if declares(ro.resources, false) || declares(ro.resources[:at], packaged) || lost(ro) {
		return
	}
	for _, n := range ro.requires {
		if !has(c.roles, n.text) {
			continue
		}
		if other, _ := c.role(n.text); other == nil || declares(other.resources, packaged) || lost(other) {
			return // a manifest that cannot be read has its own finding
		}
	}
	n := d.node.get("unit_file")
	if packaged {
		r.at(n, "R8", d.at("unit_file"), "no package comes before this unit that could bring "+d.unitFile, "declare the package before the unit, here or in a role that this one requires")
		return
	}
	r.at(n, "R8", d.at("unit_file"), d.unitFile+" is declared by no file resource of this role or of one it requires", "declare a file with this path, or name a unit in /lib/systemd/system that a package brings")
}

// catalogLinks judges catalog.yaml against the manifests that exist.
func (c *Catalog) catalogLinks(rec *catalogRecord) []Finding {
	r := &report{file: catalogFile}
	for i, n := range rec.roles {
		c.known(r, n, "R2", fmt.Sprintf("roles[%d]", i))
	}
	for i, n := range rec.defaults {
		c.known(r, n, "R1", fmt.Sprintf("defaults[%d]", i))
	}
	return r.findings
}

// hostLinks judges the roles that one host carries together: R4, R5, R7 across roles, R9.
func (c *Catalog) hostLinks(h *host, uses []use, roles map[string]*role, r *report) {
	carried := map[string]bool{}
	for _, u := range uses {
		carried[u.name] = true
	}
	type owner struct {
		role *role
		at   int
	}
	owners := map[string]owner{}
	architectures := map[string]map[string]string{} // package name -> architecture -> owner's role
	ids := map[string]bool{}
	for _, u := range uses {
		ro := roles[u.name]
		if ro == nil {
			continue
		}
		for _, n := range ro.requires {
			if !carried[n.text] && has(c.roles, n.text) {
				message, hint := "the role %s (%s) requires %s, which this host does not carry", "add "+n.text+" to roles"
				if slices.ContainsFunc(h.deactivate, func(off *node) bool { return off.text == n.text }) {
					message, hint = "the role %s (%s) requires %s, which this host deactivates", "take "+n.text+" out of deactivate, or deactivate "+u.name+" too"
				}
				r.at(u.at, "R4", "", fmt.Sprintf(message, u.name, u.from, n.text), hint)
			}
		}
		for _, n := range ro.excludes {
			if carried[n.text] && n.text != u.name {
				r.at(u.at, "R5", "", fmt.Sprintf("the roles %s and %s exclude each other (%s:%d)", u.name, n.text, ro.file, n.line), "take one of them off this host")
			}
		}
		for i := range ro.resources {
			d := &ro.resources[i]
			ids[d.ID] = true
			for _, key := range d.owns {
				if o, twice := owners[key]; twice && o.role != ro {
					other := &o.role.resources[o.at]
					r.at(u.at, "R7", "", fmt.Sprintf("%s is declared by %s (%s:%d) and by %s (%s:%d)", key, o.role.name, o.role.file, other.node.line, ro.name, ro.file, d.node.line), "declare it in one role, and let the other require that")
					break
				} else if !twice {
					owners[key] = owner{ro, i}
				}
			}
			if d.Type == "package" {
				c.architecture(architectures, u, d, r)
			}
		}
	}
	lineLinks(uses, roles, r)
	if slices.ContainsFunc(uses, func(u use) bool { return roles[u.name] == nil }) {
		return // what a manifest declares that cannot be read is not known; it has its own finding
	}
	mayBe := func(typ, name string) bool {
		return slices.ContainsFunc(uses, func(u use) bool { return roles[u.name].mayBe(typ, name) })
	}
	for _, u := range uses {
		ro := roles[u.name]
		for i := range ro.resources {
			d := &ro.resources[i]
			for j, n := range d.node.list("restart_on") {
				typ, name, _ := strings.Cut(cleanID(n.text), ":")
				if id := cleanID(n.text); !ids[id] && d.right(fmt.Sprintf("restart_on[%d]", j)) && !mayBe(typ, name) {
					hint := didYouMean(id, restartable(ids))
					if hint == "" {
						hint = "name a file, env, directory, package, symlink or line of a role that the host carries"
					}
					at := &report{file: ro.file, resource: d.ID}
					at.at(n, "R9", fmt.Sprintf("%s[%d]", d.at("restart_on"), j), fmt.Sprintf("%s is no resource of the host %s", clip(n.text), h.name), hint)
					r.findings = append(r.findings, at.findings...)
				}
			}
		}
	}
}

// architecture is R7 for packages: a name without an architecture and the same name with one are one package.
func (c *Catalog) architecture(seen map[string]map[string]string, u use, d *declared, r *report) {
	name, arch, _ := strings.Cut(strings.TrimPrefix(d.ID, "package:"), ":")
	if seen[name] == nil {
		seen[name] = map[string]string{}
	}
	for other, role := range seen[name] {
		if role != u.name && other != arch && (other == "" || arch == "") { // within a role it is said there
			r.at(u.at, "R7", "", fmt.Sprintf("package %s is declared with and without an architecture, by %s and %s", name, role, u.name), "declare it once")
		}
	}
	if _, twice := seen[name][arch]; !twice {
		seen[name][arch] = u.name
	}
}

// restartable lists the ids that restart_on may name.
func restartable(ids map[string]bool) []string {
	var out []string
	for id := range ids {
		if typ, _, _ := strings.Cut(id, ":"); typ != "command" && typ != "systemd_unit" && typ != "user" && typ != "group" {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}
