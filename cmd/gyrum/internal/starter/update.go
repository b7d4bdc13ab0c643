package starter

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// recordFile says which files of a catalog are gyrum's and how they were written.
const recordFile = "cue.mod/pkg/gyrum.ai/vendored.json"

// ErrEdited says that files which are gyrum's own were changed by somebody else.
var ErrEdited = errors.New("files that gyrum brought were changed since")

// ErrNoCatalog says that a folder holds nothing of a catalog.
var ErrNoCatalog = errors.New("it is no catalog: it has neither hosts/ nor host-roles/")

// catalog says whether a folder is one, be it without a manifest yet.
func catalog(root *os.Root) bool {
	return slices.ContainsFunc([]string{hostsDir, rolesDir, recordFile}, func(name string) bool {
		_, err := root.Lstat(filepath.FromSlash(name))
		return err == nil
	})
}

// record is the content of recordFile.
type record struct {
	// Gyrum is the version that wrote the files.
	Gyrum string `json:"gyrum"`
	// Files holds "sha256:" and hexadecimal digits by path.
	Files map[string]string `json:"files"`
}

func newRecord(version string, files []File) (File, error) {
	r := record{Gyrum: version, Files: map[string]string{}}
	for _, f := range files {
		r.Files[f.Path] = digest(f.Data)
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	return File{Path: recordFile, Data: append(raw, '\n')}, err
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// widened are the definitions that a catalog with types of its own has otherwise: what exports the types writes them.
var widened = []string{definitionsDir + "/role.cue", definitionsDir + "/judged.cue"}

// ownTypes says whether a catalog has types of its own.
func ownTypes(root *os.Root) (bool, error) {
	entries, err := fs.ReadDir(root.FS(), "plugins")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() && strings.HasPrefix(e.Name(), "x_") }), err
}

// Update brings the definitions and schemas in a catalog to those of this version, and removes those that are no more.
// The CUE module that they are found through is made where there is none.
// What was generated with the catalog's own types is left and listed in Generated: it has to be generated again.
// A file that is not as the recorded version wrote it is somebody's work: nothing is changed at all then, and the
// error, ErrEdited, names every one.
func Update(dir, version string) (*Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !catalog(root) {
		return nil, ErrNoCatalog
	}
	files, err := vendored()
	if err != nil {
		return nil, err
	}
	old, err := readRecord(root)
	if err != nil {
		return nil, err
	}
	result := &Result{Written: []string{}}
	want := map[string][]byte{}
	for _, f := range files {
		want[f.Path] = f.Data
	}
	paths := maps.Clone(old.Files)
	if paths == nil {
		paths = map[string]string{}
	}
	for p := range want {
		paths[p] = ""
	}
	own, err := ownTypes(root)
	if err != nil {
		return nil, err
	}
	var edited []string
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		data, wanted := want[p]
		have, err := read(root, p)
		switch {
		case errors.Is(err, fs.ErrNotExist) && wanted:
			result.Written = append(result.Written, p)
		case errors.Is(err, fs.ErrNotExist):
		case err == nil && wanted && string(have) == string(data):
		case err == nil && wanted && own && digest(have) != old.Files[p] && slices.Contains(widened, p):
			result.Generated = append(result.Generated, p)
		case err != nil || digest(have) != old.Files[p]:
			edited = append(edited, p)
		case wanted:
			result.Written = append(result.Written, p)
		default:
			result.Removed = append(result.Removed, p)
		}
	}
	if len(edited) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrEdited, strings.Join(edited, ", "))
	}
	if _, err := root.Lstat(filepath.FromSlash(moduleCUE)); errors.Is(err, fs.ErrNotExist) { // what is there is the catalog's own
		if want[moduleCUE], err = embedded.ReadFile("files/" + moduleCUE); err != nil {
			return nil, err
		}
		result.Written = append(result.Written, moduleCUE)
	}
	for _, p := range result.Written {
		if err := replace(root, File{Path: p, Data: want[p]}); err != nil {
			return result, err
		}
	}
	for _, p := range result.Removed {
		if err := root.Remove(filepath.FromSlash(p)); err != nil {
			return result, err
		}
	}
	if len(result.Written)+len(result.Removed) == 0 && old.Files != nil {
		return result, nil
	}
	rec, err := newRecord(version, files)
	if err != nil {
		return result, err
	}
	return result, replace(root, rec)
}

// readRecord reads the record; a catalog that was put together by hand has none.
func readRecord(root *os.Root) (record, error) {
	var r record
	raw, err := read(root, recordFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("%s: %w; delete it to have it written anew", recordFile, err)
	}
	for p := range r.Files {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return r, fmt.Errorf("%s names %s, which is no file of the catalog", recordFile, p)
		}
	}
	return r, nil
}

// replace writes a file whole: a reader sees the old one or the new one.
func replace(root *os.Root, f File) error {
	tmp := f
	tmp.Path += ".new"
	name := filepath.FromSlash(tmp.Path)
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // what an update that was cut short left is not in the way, but a folder is
	}
	if err := write(root, tmp); err != nil {
		return err
	}
	return root.Rename(name, filepath.FromSlash(f.Path))
}
