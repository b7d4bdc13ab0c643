package manifest

import (
	"path"

	"gyrum.ai/engine/manifest/gitfiles"
)

// openCheckout opens the git checkout that the catalog lies in, nil when there is none that can be read. A check never
// fails because of it: whose the repository is and what is in it is not this host's business.
func (c *Catalog) openCheckout() *gitfiles.Checkout {
	co, err := gitfiles.Open(c.path)
	if err != nil {
		return nil
	}
	return co
}

// seen notes which bytes a file of the catalog had when it was read.
func (c *Catalog) seen(name string, raw []byte) {
	co := c.checkout()
	if co == nil {
		return
	}
	id := co.Blob(raw)
	c.mu.Lock()
	c.blobs[name] = id
	c.mu.Unlock()
}

// revision gives the checkout's commit, with "+dirty" when a file that the host uses has other bytes than committed,
// and how far its upstream is ahead.
func (c *Catalog) revision(h *host, uses []use, roles map[string]*role) (string, *int) {
	co := c.checkout()
	if co == nil {
		return "", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	used := []string{catalogFile, h.file, path.Join(rolesDir, BaseRole+extension)}
	for _, u := range uses {
		used = append(used, path.Join(rolesDir, u.name+extension))
		for i := range roles[u.name].resources {
			if content := roles[u.name].resources[i].Content; content != nil && content.Source != "" {
				used = append(used, content.Source)
			}
		}
	}
	revision := string(co.Head)
	for _, name := range used {
		committed, err := co.Committed(name)
		if err != nil {
			break // a damaged or partial repository: the commit is known, more is not
		}
		if committed != c.blobs[name] { // "" where there is none: a file that is gone or new counts too
			revision += "+dirty"
			break
		}
	}
	return revision, co.Behind()
}
