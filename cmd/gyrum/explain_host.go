package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// hostData is a host's effective roles and its resources, in the order of apply.
type hostData struct {
	Topic string `json:"topic"`
	Name  string `json:"name"`
	// Valid says that nothing is wrong with what the host uses; else no resource is listed.
	Valid       bool               `json:"valid"`
	Roles       []roleData         `json:"roles"`
	Deactivated []manifest.RoleOff `json:"deactivated"`
	Resources   []resourceData     `json:"resources"`
}

type roleData struct {
	Name string `json:"name"`
	// From is base, defaults, roles or activate.
	From string `json:"from"`
	// Version is 0 where the manifest has none or cannot be read.
	Version     int64    `json:"version"`
	Description string   `json:"description,omitempty"`
	Requires    []string `json:"requires"`
	// Unordered says that the role has no place in the order of apply, because of a cycle in requires.
	Unordered bool `json:"unordered,omitempty"`
}

type resourceData struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	File string `json:"file"`
	Line int    `json:"line"`
}

// sources says in words where a host has a role from.
var sources = map[string]string{
	"base":     "base role",
	"defaults": "catalog's defaults",
	"roles":    "host's roles",
	"activate": "activated",
}

// openCatalog opens the catalog with the types that it brings.
func (p *program) openCatalog() (*manifest.Catalog, error) {
	c, err := manifest.Open(p.flags.catalog)
	if err != nil {
		return nil, err
	}
	if _, err := p.pluginsOf(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// explainHost shows the roles also of a host whose manifests have mistakes; those are said, and end with exit code 1.
func (p *program) explainHost(name string) error {
	c, err := p.openCatalog()
	if err != nil {
		return err
	}
	defer c.Close()
	roles, found := c.Effective(name)
	plan, more := c.Host(name)
	if plan == nil {
		found = more
	}
	errs, err := p.complain(found)
	if err != nil {
		return err
	}
	if roles != nil {
		d := hostData{Topic: "host", Name: name, Valid: plan != nil, Roles: []roleData{}, Deactivated: append([]manifest.RoleOff{}, c.Deactivated(name)...), Resources: []resourceData{}}
		for _, r := range roles {
			d.Roles = append(d.Roles, roleData{r.Name, r.From, r.Version, r.Description, append([]string{}, r.Requires...), r.Unordered})
		}
		if plan != nil {
			for _, r := range plan.Resources {
				d.Resources = append(d.Resources, resourceData{r.ID, r.Role, r.Pos.File, r.Pos.Line})
			}
		}
		if p.flags.format.value == formatJSON {
			err = p.json(d)
		} else {
			_, err = fmt.Fprint(p.out, p.style().Explain(d.page()))
		}
	}
	if err == nil && errs > 0 {
		err = &exit{engine.ExitError, fmt.Errorf("%s in what host %s uses of the catalog %s", plural(errs, "mistake"), name, p.flags.catalog)}
	}
	return err
}

func (d hostData) page() text.Page {
	page := text.Page{Title: "host " + d.Name}
	roles := text.Table{Title: "roles, in the order of apply"}
	cyclic := text.Table{Title: "roles that have no place in the order, because of a cycle in requires"}
	for _, r := range d.Roles {
		words := []string{fmt.Sprintf("v%d", r.Version)}
		if r.Version == 0 {
			words[0] = "its manifest has a mistake"
		}
		if len(r.Requires) > 0 {
			words = append(words, "requires "+strings.Join(r.Requires, ", "))
		}
		t := &roles
		if r.Unordered {
			t = &cyclic
		}
		t.Rows = append(t.Rows, text.Row{Name: r.Name, Note: sources[r.From], Text: strings.Join(words, ", ")})
	}
	off := text.Table{Title: "deactivated by the host"}
	for _, r := range d.Deactivated {
		off.Rows = append(off.Rows, text.Row{Name: r.Name, Note: sources[r.From]})
	}
	resources := text.Table{Title: "resources, in the order of apply"}
	for _, r := range d.Resources {
		resources.Rows = append(resources.Rows, text.Row{Name: r.ID, Note: r.Role, Text: fmt.Sprintf("%s:%d", r.File, r.Line)})
	}
	if len(d.Roles) == 0 {
		page.Words = []string{"The host carries no role."}
	}
	if !d.Valid {
		page.Words = append(page.Words, "There are mistakes in what it uses, so its resources are not known.")
	}
	page.Tables = []text.Table{roles, cyclic, off, resources}
	return page
}

// explainResource shows what the host declares by an id.
func (p *program) explainResource(id string) error {
	name, err := p.hostName()
	if err != nil {
		return err
	}
	c, err := p.openCatalog()
	if err != nil {
		return err
	}
	defer c.Close()
	plan, found := c.Host(name)
	errs, err := p.complain(found)
	if err != nil {
		return err
	}
	if plan == nil {
		return &exit{engine.ExitError, fmt.Errorf("%s in what host %s uses of the catalog %s", plural(errs, "mistake"), name, p.flags.catalog)}
	}
	i := slices.IndexFunc(plan.Resources, func(r resource.Resource) bool { return r.ID == id })
	if i < 0 {
		var ids []string
		for _, r := range plan.Resources {
			ids = append(ids, r.ID)
		}
		return fmt.Errorf("the host %s declares no %s%s", name, id, didYouMean(id, ids, ""))
	}
	r := plan.Resources[i]
	at := slices.IndexFunc(plan.Roles, func(u manifest.RoleUse) bool { return u.Name == r.Role })
	from := plan.Roles[at].From
	if p.flags.format.value == formatJSON {
		d := map[string]any{"topic": "resource", "name": id, "host": name, "role": r.Role, "from": from, "file": r.Pos.File, "line": r.Pos.Line, "declared": r.Declared}
		if r.Why != "" {
			d["why"] = r.Why
		}
		return p.json(d)
	}
	page := text.Page{Title: id, Words: []string{fmt.Sprintf("Declared for %s by the role %s (%s), %s.", name, r.Role, sources[from], r.Pos)}}
	if r.Why != "" {
		page.Words = append(page.Words, "Every apply runs it: "+r.Why)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.Declared, &fields); err != nil {
		return err
	}
	table := text.Table{Title: "declared, defaults filled in"}
	for _, t := range manifest.DescribeTypes() {
		if t.Name != r.Type {
			continue
		}
		for _, f := range t.Fields {
			if v, ok := fields[f.Name]; ok {
				table.Rows = append(table.Rows, text.Row{Name: f.Name, Text: string(v)})
			}
		}
	}
	page.Tables = []text.Table{table}
	_, err = fmt.Fprint(p.out, p.style().Explain(page))
	return err
}
