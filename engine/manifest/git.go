package manifest

// revision gives the checkout's commit and how far its upstream is ahead.
func (c *Catalog) revision(h *host, uses []use, roles map[string]*role) (string, *int) {
	return "", nil
}
