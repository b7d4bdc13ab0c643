package own

import (
	"slices"

	"gyrum.ai/engine/lock"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/resource"
)

// Into opens the own types of a catalog and lets it use those that may be used; the others' resources are told why not.
// It is called before a manifest is read.
func Into(catalog *manifest.Catalog) (*Catalog, error) {
	c, err := Open(catalog.Root())
	if err != nil {
		return nil, err
	}
	for _, t := range c.Types {
		if len(t.Problems) > 0 {
			catalog.Decline(t.Name, t.Problems[0].File+": "+t.Problems[0].Text)
			continue
		}
		catalog.Adopt(*t.Definition)
	}
	return c, nil
}

// Findings says what is wrong with the lock and with the catalog's own types, whose modules it reads.
func (c *Catalog) Findings() []manifest.Finding {
	out := c.LockFinding()
	for _, t := range c.Types {
		for _, p := range t.Verify() {
			rule := manifest.RuleOwnType
			if p.File == lock.Name {
				if c.LockError != nil {
					continue // said already
				}
				rule = manifest.RuleLock
			}
			out = append(out, finding(p.File, rule, p.Text, ""))
		}
	}
	return out
}

// LockFinding says why the lock cannot be read; nothing where it can, or where there is none.
func (c *Catalog) LockFinding() []manifest.Finding {
	if c.LockError == nil {
		return nil
	}
	return []manifest.Finding{finding(lock.Name, manifest.RuleLock, c.LockError.Error(), "run gyrum lock, which writes it anew")}
}

// Changed says which of the modules of these types are not those that were exported and pinned.
func (c *Catalog) Changed(used []string) []manifest.Finding {
	var out []manifest.Finding
	for _, t := range c.Types {
		if !slices.Contains(used, t.Name) {
			continue
		}
		for _, p := range t.Changed() {
			out = append(out, finding(p.File, manifest.RuleOwnType, p.Text, ""))
		}
	}
	return out
}

// Judge says what the lock does not accept of gyrum's own plugins; nothing where there is no lock.
func (c *Catalog) Judge(plugins []plugin.Info) []manifest.Finding {
	if c.Lock == nil {
		return nil
	}
	var out []manifest.Finding
	for _, info := range plugins {
		for _, why := range c.Lock.Judge(info) {
			out = append(out, finding(lock.Name, manifest.RuleLock, why, ""))
		}
	}
	return out
}

func finding(file, rule, message, hint string) manifest.Finding {
	return manifest.Finding{Pos: resource.Position{File: file}, Rule: rule, Severity: manifest.SeverityError, Message: message, Hint: hint}
}
