package starter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrTaken says that files are there already which a new catalog would write.
var ErrTaken = errors.New("files are there already")

// ErrPackage says that the folder holds CUE files of another package than catalog.cue's.
var ErrPackage = errors.New("files of another CUE package are there")

// ErrCannotWrite says that a folder does not let files be made.
var ErrCannotWrite = errors.New("a folder cannot be written to")

// Result says what was done to a catalog, each file relative to its root.
type Result struct {
	Written []string `json:"written"`
	Removed []string `json:"removed,omitempty"`
	// Kept are files of other content that were there already and gave way to nothing.
	Kept []string `json:"kept,omitempty"`
	// Generated are definitions that hold the catalog's own types too, and were left for what generates them.
	Generated []string `json:"generated,omitempty"`
	// Example says that example manifests are among what was written; a folder that has manifests gets none.
	Example bool `json:"example"`
}

// Init makes a catalog in a folder, which is made where it does not exist; version is recorded beside the definitions.
// A folder with manifests keeps them and gets what is around them. Nothing that is there is written over: where a file
// differs from the one that would be written, nothing is written at all and the error, ErrTaken, names every one; so it is
// with ErrPackage and ErrCannotWrite. With any other error the result says what is written already.
func Init(dir, host, version string) (*Result, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := onePackage(root); err != nil {
		return nil, err
	}
	hosts, err := manifests(root, hostsDir)
	if err != nil {
		return nil, err
	}
	roles, err := manifests(root, rolesDir)
	if err != nil {
		return nil, err
	}
	files, err := vendored()
	if err != nil {
		return nil, err
	}
	record, err := newRecord(version, files)
	if err != nil {
		return nil, err
	}
	files = append(files, record)
	more, err := around()
	if err != nil {
		return nil, err
	}
	files = append(files, more...)
	result := &Result{Example: len(hosts) == 0 && len(roles) == 0, Written: []string{}}
	if result.Example {
		more, err = example(host)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	} else {
		list := closedList(roles)
		list.Yield = true
		files = append(files, list)
	}
	return result, result.create(root, files)
}

// create writes all files, or none where one is taken.
func (r *Result) create(root *os.Root, files []File) error {
	var taken []string
	var todo []File
	for _, f := range files {
		have, err := read(root, f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			todo = append(todo, f)
		case err == nil && bytes.Equal(have, f.Data):
		case err == nil && f.Yield:
			r.Kept = append(r.Kept, f.Path)
		default:
			taken = append(taken, f.Path)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("%w: %s", ErrTaken, strings.Join(taken, ", "))
	}
	if err := writable(root, todo); err != nil {
		return err
	}
	for _, f := range todo {
		if err := write(root, f); err != nil {
			return err
		}
		r.Written = append(r.Written, f.Path)
	}
	return nil
}

// writable says which folders, of those that are there, do not let the files be made.
func writable(root *os.Root, files []File) error {
	var not []string
	asked := map[string]bool{}
	for _, f := range files {
		dir := path.Dir(f.Path)
		for dir != "." {
			if _, err := root.Lstat(filepath.FromSlash(dir)); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			dir = path.Dir(dir)
		}
		if asked[dir] {
			continue
		}
		asked[dir] = true
		if err := unix.Faccessat(unix.AT_FDCWD, filepath.Join(root.Name(), filepath.FromSlash(dir)), unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
			not = append(not, fmt.Sprintf("%s (%v)", dir, err))
		}
	}
	if len(not) > 0 {
		return fmt.Errorf("%w: %s", ErrCannotWrite, strings.Join(not, ", "))
	}
	return nil
}

var (
	packageClause = regexp.MustCompile(`(?m)^[ \t]*package[ \t]+(\w+)`)
	ignored       = regexp.MustCompile(`(?m)^[ \t]*@ignore\(\)`)
)

// onePackage refuses a folder in which plain CUE would find another package beside catalog.cue's.
func onePackage(root *os.Root) error {
	names, err := fs.Glob(root.FS(), "*.cue")
	if err != nil {
		return err
	}
	var others []string
	for _, name := range names {
		if name == catalogCUE || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue // the one is judged with what is taken, and CUE leaves out the others
		}
		raw, err := read(root, name)
		if err != nil {
			continue // CUE says so itself
		}
		clause := packageClause.FindSubmatchIndex(raw)
		if clause == nil || ignored.Match(raw[:clause[0]]) {
			continue
		}
		if pkg := string(raw[clause[2]:clause[3]]); pkg != "catalog" && pkg != "_" {
			others = append(others, fmt.Sprintf("%s (package %s)", name, pkg))
		}
	}
	if len(others) > 0 {
		return fmt.Errorf("%w: %s", ErrPackage, strings.Join(others, ", "))
	}
	return nil
}

// read gives a file's bytes. Anything that stands in the way of the path, such as a file in the place of a folder, is an
// error other than fs.ErrNotExist.
func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	return root.ReadFile(filepath.FromSlash(name))
}

// write makes a new file and the folders above it.
func write(root *os.Root, f File) error {
	if dir := path.Dir(f.Path); dir != "." {
		if err := root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if f.Program {
		mode = 0o755
	}
	out, err := root.OpenFile(filepath.FromSlash(f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	return errors.Join(err, out.Close())
}

// manifests lists the stems of a folder's manifests.
func manifests(root *os.Root, dir string) ([]string, error) {
	d, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if info, err := d.Stat(); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%w: %s, which is no folder", ErrTaken, dir)
	}
	entries, err := d.ReadDir(-1)
	var out []string
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), ".yaml"); ok && !e.IsDir() && !strings.HasPrefix(stem, ".") {
			out = append(out, stem)
		}
	}
	return out, err
}
