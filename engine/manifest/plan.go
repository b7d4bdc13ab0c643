package manifest

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/resource"
)

// HostPlan is what one host is to be: its roles and resources in the order of apply.
type HostPlan struct {
	Host      string
	Roles     []RoleUse
	Resources []resource.Resource
	// Digest is over the parsed content that this host uses and its source bytes, as "sha256:" and hexadecimal digits.
	// What no resource of the host depends on (comments, descriptions, labels, other roles) does not change it.
	Digest string
	// Revision is the git commit of the checkout, with "+dirty" when a file that this host uses is not as committed;
	// empty outside git.
	Revision string
	// BehindUpstream counts the commits that the upstream branch, as last fetched, has and the checkout has not; nil
	// when there is none.
	BehindUpstream *int
}

// Host judges what one host uses and gives its plan. With a finding of severity error the plan is nil.
func (c *Catalog) Host(name string) (*HostPlan, []Finding) {
	if !has(c.hosts, name) {
		return nil, []Finding{c.noHost(name)}
	}
	h, found := c.host(name)
	rec, of := c.catalog()
	found = append(slices.Clone(found), of...)
	if h == nil {
		return nil, errorsOf(found)
	}
	uses, roles, more := c.carried(h, rec)
	found = append(found, more...)
	for _, u := range uses {
		_, of := c.role(u.name)
		found = append(found, of...)
		if ro := roles[u.name]; ro != nil {
			found = append(found, c.roleLinks(ro, rec)...)
		}
	}
	for _, f := range c.catalogLinks(rec) {
		if f.Rule == "R1" { // an unknown default is a role of every host
			found = append(found, f)
		}
	}
	if found = errorsOf(found); HasErrors(found) {
		Sort(found)
		return nil, found
	}
	p := &HostPlan{Host: name}
	for _, u := range uses {
		ro := roles[u.name]
		p.Roles = append(p.Roles, RoleUse{Name: ro.name, Description: ro.description, Version: ro.version, Requires: texts(ro.requires), From: u.from})
		for i := range ro.resources {
			p.Resources = append(p.Resources, ro.resources[i].Resource)
		}
	}
	p.Digest = digest(p, roles)
	p.Revision, p.BehindUpstream = c.revision(h, uses, roles)
	return p, found
}

// Effective gives the roles of a host in the order of apply and where each comes from, also when some of its
// manifests are wrong; those that have no place in the order come last. They are nil when the host's record cannot be read.
func (c *Catalog) Effective(name string) ([]RoleUse, []Finding) {
	if !has(c.hosts, name) {
		return nil, []Finding{c.noHost(name)}
	}
	h, found := c.host(name)
	if h == nil {
		return nil, found
	}
	rec, of := c.catalog()
	uses, roles, more := c.carried(h, rec)
	found = append(append(slices.Clone(found), of...), more...)
	out := []RoleUse{}
	all := c.effective(h, rec, &report{})
	ordered := len(uses)
	for _, u := range all {
		if !slices.ContainsFunc(uses, func(o use) bool { return o.name == u.name }) {
			uses = append(uses, u)
		}
	}
	for i, u := range uses {
		ru := RoleUse{Name: u.name, From: u.from, Unordered: i >= ordered}
		if ro := roles[u.name]; ro != nil {
			ru.Description, ru.Version, ru.Requires = ro.description, ro.version, texts(ro.requires)
		}
		out = append(out, ru)
	}
	return out, found
}

// carried gives a host's roles in the order of apply, their manifests, and what is wrong with them together.
func (c *Catalog) carried(h *host, rec *catalogRecord) ([]use, map[string]*role, []Finding) {
	r := &report{file: h.file}
	uses := c.effective(h, rec, r)
	c.parallel(len(uses), func(i int) { c.role(uses[i].name) })
	roles := make(map[string]*role, len(uses))
	for _, u := range uses {
		if ro, _ := c.role(u.name); ro != nil {
			roles[u.name] = ro
		}
	}
	ordered := c.order(uses, roles, r)
	c.hostLinks(h, uses, roles, r)
	return ordered, roles, r.findings
}

// Validate judges everything in the catalog and gives every error, sorted.
func (c *Catalog) Validate() []Finding { return errorsOf(c.all()) }

// Warnings gives what is allowed and probably not meant, sorted; linting prints it.
func (c *Catalog) Warnings() []Finding {
	return slices.DeleteFunc(c.all(), func(f Finding) bool { return f.Severity != SeverityWarn })
}

// all gives every finding of every file, sorted, each once.
func (c *Catalog) all() []Finding {
	rec, of := c.catalog()
	found := append(slices.Clone(c.stray), of...)
	found = append(found, c.catalogLinks(rec)...)
	if len(c.hosts) == 0 && len(c.roles) == 0 {
		found = append(found, Finding{Pos: resource.Position{File: hostsDir}, Rule: RuleMissing, Severity: SeverityError, Message: "the catalog has no host and no role", Hint: "write hosts/<name>.yaml and host-roles/<role>.yaml"})
	}
	perRole := make([][]Finding, len(c.roles))
	c.parallel(len(c.roles), func(i int) { c.role(c.roles[i]) })
	c.parallel(len(c.roles), func(i int) {
		ro, of := c.role(c.roles[i])
		perRole[i] = of
		if ro != nil {
			perRole[i] = append(slices.Clone(of), c.roleLinks(ro, rec)...)
		}
	})
	perHost := make([][]Finding, len(c.hosts))
	c.parallel(len(c.hosts), func(i int) {
		h, of := c.host(c.hosts[i])
		perHost[i] = of
		if h != nil {
			_, _, more := c.carried(h, rec)
			perHost[i] = append(slices.Clone(of), more...)
		}
	})
	for _, fs := range append(perRole, perHost...) {
		found = append(found, fs...)
	}
	found = append(found, c.unusedCycles()...)
	Sort(found)
	return slices.CompactFunc(found, func(a, b Finding) bool {
		// what a role's restart_on misses on several hosts is one mistake
		return a == b || a.Rule == "R9" && b.Rule == "R9" && a.Pos == b.Pos && a.Path == b.Path
	})
}

// unusedCycles is R6 for all roles together, so that a cycle is found before a host carries it.
func (c *Catalog) unusedCycles() []Finding {
	r := &report{}
	var uses []use
	roles := map[string]*role{}
	for _, name := range c.roles {
		if ro, _ := c.role(name); ro != nil {
			roles[name] = ro
			uses = append(uses, use{name: name})
		}
	}
	c.order(uses, roles, r)
	return r.findings
}

// noHost says that a host has no record, and which there are.
func (c *Catalog) noHost(name string) Finding {
	hint := didYouMean(name, c.hosts)
	if hint == "" {
		hint = "write hosts/" + clip(name) + ".yaml, or name one with --host"
		if n := len(c.hosts); n > 0 && n <= 10 {
			hint += ": " + strings.Join(c.hosts, ", ")
		}
	}
	return Finding{Pos: resource.Position{File: hostsDir + "/" + clip(name) + extension}, Rule: "R1", Severity: SeverityError,
		Message: "the catalog has no host " + clip(name), Hint: hint}
}

// digest is the catalog digest of a plan: over a canonical document of its host, and per role of the name, the version,
// the required roles and the views, in which every content stands by its own digest.
func digest(p *HostPlan, roles map[string]*role) string {
	doc := canonical.AppendString([]byte(`{"host":`), p.Host)
	doc = append(doc, `,"roles":[`...)
	for i, u := range p.Roles {
		if i > 0 {
			doc = append(doc, ',')
		}
		doc = append(doc, `{"requires":[`...)
		for j, name := range u.Requires {
			if j > 0 {
				doc = append(doc, ',')
			}
			doc = canonical.AppendString(doc, name)
		}
		doc = append(doc, `],"resources":[`...)
		for j := range roles[u.Name].resources {
			if j > 0 {
				doc = append(doc, ',')
			}
			doc = append(doc, roles[u.Name].resources[j].View...)
		}
		doc = append(canonical.AppendString(append(doc, `],"role":`...), u.Name), `,"version":`...)
		doc = append(strconv.AppendInt(doc, u.Version, 10), '}')
	}
	return canonical.Digest(append(doc, "]}"...))
}

// parallel runs f for 0..n-1 on the machine's processors.
func (c *Catalog) parallel(n int, f func(int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// texts gives the texts of nodes; never nil.
func texts(ns []*node) []string {
	out := make([]string, 0, len(ns))
	for _, n := range ns {
		out = append(out, n.text)
	}
	return out
}

// errorsOf keeps the errors.
func errorsOf(fs []Finding) []Finding {
	var out []Finding
	for _, f := range fs {
		if f.Severity != SeverityWarn {
			out = append(out, f)
		}
	}
	return out
}
