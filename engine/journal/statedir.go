package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gyrum.ai/engine/fsys"
)

// The names in the state folder.
const (
	runsName    = "runs"
	anchorName  = "anchor.json"
	reserveName = ".reserve"
	runSuffix   = ".jsonl"
	savedSuffix = ".json"
)

// maxLinks is how many symlinks may stand on the way to the state folder (as the kernel's ELOOP limit, path_resolution(7)).
const maxLinks = 40

// openRead opens a folder for looking; symlinks on the way are followed, since the operator named the path.
func openRead(system fsys.ReadFS, dir string) (fsys.ReadDir, error) {
	real, err := resolve(system, dir)
	if err != nil {
		return nil, err
	}
	at, err := system.Root()
	if err != nil {
		return nil, err
	}
	for _, name := range steps(real) {
		next, err := at.OpenDir(name)
		at.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		at = next
	}
	return at, nil
}

// openWrite opens a folder for changing and makes what is missing of it, 0700 and durable.
func openWrite(system fsys.FS, dir string) (fsys.Dir, error) {
	real, err := resolve(system, dir)
	if err != nil {
		return nil, err
	}
	at, err := system.WritableRoot()
	if err != nil {
		return nil, err
	}
	for _, name := range steps(real) {
		next, err := at.OpenWritable(name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(name, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
				if err = at.Sync(); err == nil {
					next, err = at.OpenWritable(name)
				}
			}
		}
		at.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		at = next
	}
	return at, nil
}

// resolve gives the path without symlinks; steps that do not exist stay as they are.
func resolve(system fsys.ReadFS, dir string) (string, error) {
	if !path.IsAbs(dir) {
		return "", fmt.Errorf("the state folder %q is no absolute path: give one that begins with /", dir)
	}
	done, left := "/", steps(dir)
	for links := 0; len(left) > 0; {
		name := left[0]
		left = left[1:]
		if name == ".." { // only a link's target has these
			done = path.Dir(done)
			continue
		}
		at, err := system.Root()
		if err != nil {
			return "", err
		}
		for _, step := range steps(done) {
			next, err := at.OpenDir(step)
			at.Close()
			if err != nil {
				return "", fmt.Errorf("%s: %w", dir, err)
			}
			at = next
		}
		info, err := at.Lstat(name)
		target := ""
		if err == nil && info.Kind == "symlink" {
			target, err = at.Readlink(name)
		}
		at.Close()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path.Join(append([]string{done, name}, left...)...), nil
		case err != nil:
			return "", fmt.Errorf("%s: %w", dir, err)
		case target == "":
			done = path.Join(done, name)
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many symlinks on the way", dir)
		}
		if path.IsAbs(target) {
			done = "/"
		}
		left = append(split(target), left...)
	}
	return done, nil
}

func steps(dir string) []string { return split(path.Clean(dir)) }

func split(p string) []string {
	var names []string
	for name := range strings.SplitSeq(p, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// Prepare makes the state folder, 0700, where it is missing, and refuses one that others could write to: whoever writes
// there could forge what was applied.
func Prepare(system fsys.FS, dir string) error {
	at, err := openWrite(system, dir)
	if err != nil {
		return fmt.Errorf("state folder: an apply is recorded there, so it must be writable: %w; run as root, or name another with --state-dir", err)
	}
	defer at.Close()
	info, err := at.Stat()
	if err != nil {
		return fmt.Errorf("state folder: %s: %w", dir, err)
	}
	if info.Mode&0o022 != 0 {
		return fmt.Errorf("state folder: %s has mode %04o, so others can write to it: chmod 0700 %s, or name another with --state-dir", dir, info.Mode, dir)
	}
	return nil
}
