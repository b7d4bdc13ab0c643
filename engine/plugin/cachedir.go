package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// prepareDir makes a cache folder where it is missing and verifies it: a real directory that belongs to the effective
// user, mode 0700, and on the way to it no directory in which anybody but root and that user could put another in its
// place. What is loaded from it is run, so that is all that stands between another user and this process.
func prepareDir(dir string) error {
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return fmt.Errorf("%s is no clean absolute path", dir)
	}
	if dir == "/" {
		return fmt.Errorf("/ cannot be the cache folder")
	}
	v := verifier{links: 40}
	if err := v.walk("/", filepath.Dir(dir)[1:]); err != nil {
		return err
	}
	return ownDir(filepath.Join(v.at, filepath.Base(dir)))
}

// verifier follows a path by hand, so that each directory on the way is looked at, symlinks' ones included.
type verifier struct {
	at    string
	links int
}

func (v *verifier) walk(from, rest string) error {
	v.at = from
	if err := v.parent(); err != nil {
		return err
	}
	for _, name := range strings.Split(rest, "/") {
		switch name {
		case "", ".":
			continue
		case "..":
			v.at = filepath.Dir(v.at)
			continue
		}
		if err := v.step(name); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) step(name string) error {
	next := filepath.Join(v.at, name)
	info, err := os.Lstat(next)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(next, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = os.Lstat(next)
		}
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		v.at = next
		return v.parent()
	}
	// A symlink is as trustworthy as the directory that it lies in, but for a sticky one, where anybody may have made it.
	if owner(info) != 0 && owner(info) != os.Geteuid() {
		return fmt.Errorf("the symlink %s belongs to uid %d", next, owner(info))
	}
	if v.links--; v.links < 0 {
		return fmt.Errorf("%s: too many symlinks", next)
	}
	target, err := os.Readlink(next)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		return v.walk("/", target[1:])
	}
	return v.walk(v.at, target)
}

// parent verifies the directory that the walk has come to.
func (v *verifier) parent() error {
	info, err := os.Lstat(v.at)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", v.at)
	}
	if uid := owner(info); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("its parent %s belongs to uid %d, who could replace it", v.at, uid)
	}
	// In a sticky directory such as /tmp nobody can move what is another's, so what follows is safe when it is ours.
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&fs.ModeSticky == 0 {
		return fmt.Errorf("its parent %s (mode %04o) can be written by others, who could replace it", v.at, mode.Perm())
	}
	return nil
}

// ownDir makes a directory where it is missing and verifies that it is the effective user's alone.
func ownDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symlink; name the folder itself", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case owner(info) != os.Geteuid():
		return fmt.Errorf("%s belongs to uid %d and this process runs as uid %d; remove it, or name another with --cache-dir", dir, owner(info), os.Geteuid())
	case info.Mode().Perm() != 0o700:
		return fmt.Errorf("%s has mode %04o and must have 0700, since its content is run; remove it and it is made anew", dir, info.Mode().Perm())
	}
	return nil
}

func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
