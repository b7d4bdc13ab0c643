// Package own finds the resource types that a catalog brings itself, in plugins/<type>/, and says of each whether it may be
// used: whether its files belong together, its decision record is accepted, and gyrum.lock pins it.
//
// It loads no module and knows no resources.
package own

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/lock"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/plugin"
)

// Folder holds a catalog's own types, a folder each.
const Folder = "plugins"

// The files of a type. The last two are what a program without CUE reads of the two before.
const (
	observeFile = "observe.wasm"
	applyFile   = "apply.wasm"
	pluginCUE   = "plugin.cue"
	typeCUE     = "type.cue"
	pluginJSON  = "plugin.json"
	typeJSON    = "type.json"
	signature   = ".minisig"
)

// Limits of what is read.
const (
	maxText   = 1 << 20
	maxModule = 64 << 20
)

// Type is one of a catalog's own types.
type Type struct {
	Name string
	// Manifest and Definition are nil when they cannot be read.
	Manifest   *plugin.Manifest
	Definition *manifest.OwnType
	// Problems say why it is not used; none when it may be.
	Problems []Problem
	// Signed says who signed each module, by its file's name; empty where the lock has no keys.
	Signed map[string]string

	catalog *Catalog
	// held are the modules that were read to be judged, by file: those bytes are what is loaded, whatever becomes of the files.
	held map[string][]byte
}

// Problem is what is wrong with a file of a type.
type Problem struct {
	// File is relative to the catalog's root.
	File string
	Text string
}

// Catalog is a catalog's lock and its own types.
type Catalog struct {
	path string
	root *os.Root
	// Lock is nil when there is no gyrum.lock, or none that can be read; LockError says which.
	Lock      *lock.Lock
	LockError error
	Types     []*Type
}

// Open reads the lock and the own types of the catalog in a folder. The error is for a folder that cannot be read.
func Open(root string) (*Catalog, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	c := &Catalog{path: root, root: r}
	raw, err := c.read(lock.Name, lock.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.LockError = err
	default:
		c.Lock, c.LockError = lock.Parse(raw)
	}
	list, err := fs.ReadDir(r.FS(), Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Close()
		return nil, err
	}
	for _, e := range list {
		if name := e.Name(); strings.HasPrefix(name, manifest.OwnPrefix) || c.exists(path.Join(Folder, name, pluginJSON)) {
			c.Types = append(c.Types, c.open(name, e.IsDir()))
		}
	}
	return c, nil
}

// Type finds one of the catalog's own types, nil for none; a nil catalog has none.
func (c *Catalog) Type(name string) *Type {
	if c == nil {
		return nil
	}
	for _, t := range c.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Close lets go of the folder. Modules can be loaded afterwards all the same.
func (c *Catalog) Close() error {
	if c == nil {
		return nil
	}
	return c.root.Close()
}

func (c *Catalog) exists(name string) bool {
	_, err := c.root.Lstat(name)
	return err == nil
}

// read gives a regular file of the catalog; no link leads out of it.
func (c *Catalog) read(name string, limit int64) ([]byte, error) { return readIn(c.root, name, limit) }

func readIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not keep us waiting
	if err != nil {
		return nil, bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, bare(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("it is larger than %d bytes", limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func (c *Catalog) open(name string, folder bool) *Type {
	t := &Type{Name: name, catalog: c, Signed: map[string]string{}, held: map[string][]byte{}}
	switch {
	case !strings.HasPrefix(name, manifest.OwnPrefix):
		t.wrong("", "the name of a catalog's own type begins with %s, so that it never stands for one of gyrum's", manifest.OwnPrefix)
		return t
	case !folder:
		t.wrong("", "it is no folder")
		return t
	}
	sources := map[string]string{}
	for _, file := range []string{pluginCUE, typeCUE} {
		if raw, err := c.read(t.path(file), maxText); err != nil {
			t.wrong(file, "it cannot be read: %v", err)
		} else {
			sources[file] = digest(raw)
		}
	}
	t.readManifest()
	t.readDefinition(sources)
	if t.Manifest != nil {
		t.decided()
		t.pinned()
	}
	return t
}

func (t *Type) path(file string) string { return path.Join(Folder, t.Name, file) }

func (t *Type) wrong(file, format string, args ...any) {
	t.Problems = append(t.Problems, Problem{t.path(file), fmt.Sprintf(format, args...)})
}

const export = "run gyrum's tools/schemagen -catalog on the catalog"

func (t *Type) readManifest() {
	raw, err := t.catalog.read(t.path(pluginJSON), maxText)
	if err == nil {
		t.Manifest, err = plugin.ParseManifest(raw)
	}
	if err == nil {
		err = exact(raw, t.Manifest)
	}
	switch {
	case err != nil:
		t.Manifest = nil
		t.wrong(pluginJSON, "%v; it is exported from plugin.cue: %s", err, export)
	case t.Manifest.Type != t.Name:
		t.wrong(pluginJSON, "it is the manifest of the type %s", t.Manifest.Type)
		t.Manifest = nil
	case t.Manifest.Digests[plugin.ObservePhase] == "" || t.Manifest.Digests[plugin.ApplyPhase] == "":
		t.wrong(pluginJSON, "it lacks the digests of the modules: %s", export)
		t.Manifest = nil
	}
}

// exact refuses what a lenient reader takes for a manifest: a key that is unknown, given twice or in other letters, and text
// behind the record.
func exact(raw []byte, m *plugin.Manifest) error {
	raw, err := canonical.Transform(raw)
	if err != nil {
		return err
	}
	again, err := json.Marshal(map[string]*plugin.Manifest{"plugin": m})
	if err != nil {
		return err
	}
	var has, may map[string]map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &has), json.Unmarshal(again, &may)); err != nil {
		return err
	}
	for key, record := range has {
		for field := range record {
			if _, ok := may[key][field]; !ok {
				return fmt.Errorf("the key %s.%s does not exist", key, field)
			}
		}
		if may[key] == nil {
			return fmt.Errorf("the key %s does not exist; the file holds plugin alone", key)
		}
	}
	return nil
}

func (t *Type) readDefinition(sources map[string]string) {
	raw, err := t.catalog.read(t.path(typeJSON), maxText)
	var def manifest.OwnType
	if err == nil {
		def, err = manifest.ParseOwnType(raw)
	}
	switch {
	case err != nil:
		t.wrong(typeJSON, "%v; it is exported from type.cue: %s", err, export)
	case def.Name != t.Name:
		t.wrong(typeJSON, "it is the definition of the type %s", def.Name)
	default:
		t.Definition = &def
		for file, now := range sources {
			if def.Sources[file] != now {
				t.wrong(file, "it was changed since it was exported: %s", export)
			}
		}
	}
}

var accepted = regexp.MustCompile(`(?m)^Status: Accepted\b`)

// decided asks for the accepted decision record that names the type.
func (t *Type) decided() {
	file := "docs/adr/" + t.Manifest.Decision + ".md"
	raw, err := t.catalog.read(file, maxText)
	text := ""
	switch {
	case err != nil:
		text = fmt.Sprintf("the decision record of the type %s cannot be read: %v", t.Name, err)
	case !accepted.Match(raw):
		text = "the decision record is not accepted: it has no line Status: Accepted"
	case !strings.Contains(string(raw), t.Name):
		text = "the decision record does not name the type " + t.Name
	default:
		return
	}
	t.Problems = append(t.Problems, Problem{file, text})
}

// pinned holds the type against the lock.
func (t *Type) pinned() {
	l := t.catalog.Lock
	if l == nil {
		text := "there is none, and a type of the catalog's own is used only when it is pinned there: run gyrum lock"
		if t.catalog.LockError != nil {
			text = t.catalog.LockError.Error()
		}
		t.Problems = append(t.Problems, Problem{lock.Name, text})
		return
	}
	for _, why := range l.Judge(t.Info()) {
		t.Problems = append(t.Problems, Problem{lock.Name, why})
	}
	if len(l.Keys) > 0 {
		t.signed(l)
	}
}

// signed verifies the signatures of both modules.
func (t *Type) signed(l *lock.Lock) {
	var keys []lock.Key
	for _, text := range l.Keys {
		if k, err := lock.ParseKey(text); err == nil { // the lock was judged when it was read
			keys = append(keys, k)
		}
	}
	for phase, file := range files {
		module, wrong := t.module(phase)
		if wrong != "" {
			t.wrong(file, "%s", wrong)
			continue
		}
		sig, err := t.catalog.read(t.path(file)+signature, maxText)
		if err != nil {
			t.wrong(file+signature, "%s has keys, so the modules must be signed (minisign -S): %v", lock.Name, err)
			continue
		}
		comment, by, err := lock.Verify(keys, module, sig)
		if err != nil {
			t.wrong(file+signature, "%v", err)
			continue
		}
		t.Signed[file] = fmt.Sprintf("key %s, %q", by, comment)
	}
}

// Verify says what is wrong with a type, with its modules read and their digests taken; nothing when it may be used.
func (t *Type) Verify() []Problem {
	problems := slices.Clone(t.Problems)
	for _, p := range t.Changed() {
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	return problems
}

// Changed reads the modules and says which are not those of plugin.json's digests, or cannot be read. From then on the
// bytes that were judged are what Modules gives.
func (t *Type) Changed() []Problem {
	if t.Manifest == nil {
		return nil
	}
	var problems []Problem
	for _, phase := range []plugin.Phase{plugin.ObservePhase, plugin.ApplyPhase} {
		if _, wrong := t.module(phase); wrong != "" {
			problems = append(problems, Problem{t.path(files[phase]), wrong})
		}
	}
	return problems
}

// module gives the module of a phase and what is wrong with it, nothing when it has the digest of plugin.json.
func (t *Type) module(phase plugin.Phase) (raw []byte, wrong string) {
	raw, ok := t.held[files[phase]]
	if !ok {
		root, err := os.OpenRoot(t.catalog.path) // the catalog may be closed by now
		if err == nil {
			defer root.Close()
			raw, err = readIn(root, t.path(files[phase]), maxModule)
		}
		if err != nil {
			return nil, fmt.Sprintf("it cannot be read: %v", err)
		}
		t.held[files[phase]] = raw
	}
	if got := digest(raw); got != t.Manifest.Digests[phase] {
		return nil, t.otherDigest(phase, got)
	}
	return raw, ""
}

func (t *Type) otherDigest(phase plugin.Phase, got string) string {
	return fmt.Sprintf("its digest is %s, and plugin.json says %s: %s", got, t.Manifest.Digests[phase], export)
}

// files are the modules of the phases.
var files = map[plugin.Phase]string{plugin.ObservePhase: observeFile, plugin.ApplyPhase: applyFile}

// Info describes the plugin by its manifest.
func (t *Type) Info() plugin.Info {
	return plugin.Info{Type: t.Name, Manifest: t.Manifest, Observe: t.Manifest.Digests[plugin.ObservePhase], Apply: t.Manifest.Digests[plugin.ApplyPhase]}
}

// Modules gives the type's modules under the names that a store looks for.
func (t *Type) Modules() fs.FS { return modules{t} }

// modules is a folder of two files.
type modules struct{ t *Type }

// ReadFile gives the bytes that were judged, where they were read already.
func (m modules) ReadFile(name string) ([]byte, error) {
	file, _ := strings.CutPrefix(name, m.t.Name+".")
	if raw, ok := m.t.held[file]; ok && file != name {
		return slices.Clone(raw), nil
	}
	f, err := m.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (m modules) Open(name string) (fs.File, error) {
	file, ok := strings.CutPrefix(name, m.t.Name+".")
	if !ok || !slices.Contains([]string{observeFile, applyFile}, file) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	root, err := os.OpenRoot(m.t.catalog.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenFile(m.t.path(file), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
