package realhost

import (
	"context"
	"os"
	"path/filepath"
)

// Publish offers packages in the host's repository beside those that its recipe makes, and lets apt know. What the recipe
// took from the archive is not offered any more.
func (h *Host) Publish(packages ...Deb) {
	h.t.Helper()
	recipe := Base()
	if h.options.Recipe != nil {
		recipe = *h.options.Recipe
	}
	dir := h.t.TempDir()
	if err := writeRepository(context.Background(), dir, append(recipe.Packages, packages...)); err != nil {
		h.t.Fatalf("publish: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			h.t.Fatal(err)
		}
		h.Write(repoDir+"/"+e.Name(), string(raw))
	}
	h.Shell("apt-get update -qq")
}
