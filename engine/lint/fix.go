package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gyrum.ai/engine/lint/layout"
	"gyrum.ai/engine/manifest"
)

// Fix rewrites the manifests of a catalog as they should be written, as far as that changes nothing they say, takes
// execute bits from manifests and the right of everybody to write from them and from sources. It gives the files that
// it changed, relative to the catalog's root. A file is replaced at once, by a rename; links are not followed.
func Fix(c *manifest.Catalog) (changed []string, err error) {
	root, err := os.OpenRoot(c.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	l := &linter{catalog: c, files: root.FS()}
	for _, name := range l.manifests() {
		raw, err := readManifest(l.files, name)
		if err != nil {
			continue // a finding of validation
		}
		fixed := layout.Fix(raw)
		info, err := root.Lstat(filepath.FromSlash(name))
		if err != nil {
			return changed, err
		}
		mode := info.Mode().Perm() &^ 0o113
		if string(fixed) == string(raw) {
			if mode == info.Mode().Perm() {
				continue
			}
			err = root.Chmod(filepath.FromSlash(name), mode)
		} else {
			err = replace(root, filepath.FromSlash(name), fixed, mode)
		}
		if err != nil {
			return changed, fmt.Errorf("fix %s: %w", name, err)
		}
		changed = append(changed, name)
	}
	for _, role := range c.RoleNames() {
		err := fs.WalkDir(l.files, "host-roles/"+role+"/files", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.Type()&fs.ModeSymlink != 0 {
				return nil // the folder is missing, or cannot be read
			}
			info, err := e.Info()
			if err != nil || info.Mode()&0o002 == 0 {
				return err
			}
			changed = append(changed, name)
			return root.Chmod(filepath.FromSlash(name), info.Mode()&^0o002)
		})
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// replace writes a file anew beside the old one and renames it over that.
func replace(root *os.Root, name string, raw []byte, mode fs.FileMode) (err error) {
	part := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".gyrum-lint")
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by a fix that was cut short
		return err
	}
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return nil
}
