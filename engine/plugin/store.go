package plugin

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Store holds the plugins of a process: their manifests at once, their modules when they are first needed.
type Store struct {
	types  map[string]*pair
	cache  *cache
	traces *traceStore // nil without a cache
	// memories serve all instances, of whatever type.
	memories memories
	limits   Limits
	// own says of the modules with which the store began that they are the program's own.
	own bool
	log func(string)
	// loading is what Warm has under way.
	loading sync.WaitGroup
}

// pair is the two modules of a plugin.
type pair struct {
	manifest       *Manifest
	observe, apply *sandbox
}

// StoreOption says something of a store's plugins.
type StoreOption func(*Store)

// ProgramsOwn says that the modules with which the store begins are the program's own, built with it and as trusted as it is:
// they are compiled as they are, which is faster, and without bounds.
func ProgramsOwn() StoreOption { return func(s *Store) { s.own = true } }

// NewStore reads the manifests, <type>.json, that lie in modules beside <type>.observe.wasm and <type>.apply.wasm. The
// modules are not read yet. log is told, a line a time, what makes the process slower without being an error.
func NewStore(modules fs.FS, c CacheConfig, log func(string), options ...StoreOption) (*Store, error) {
	return NewStoreWithin(modules, c, DefaultLimits(), log, options...)
}

// NewStoreWithin is NewStore with other limits.
func NewStoreWithin(modules fs.FS, c CacheConfig, limits Limits, log func(string), options ...StoreOption) (*Store, error) {
	s := &Store{types: map[string]*pair{}, limits: limits, log: log}
	for _, o := range options {
		o(s)
	}
	names, err := fs.Glob(modules, "*.json")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		raw, err := fs.ReadFile(modules, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m, err := ParseManifest(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if m.Type+".json" != name {
			return nil, fmt.Errorf("%s: it is the manifest of the type %s and must be called %s.json", name, m.Type, m.Type)
		}
		s.types[m.Type] = &pair{manifest: m}
	}
	if s.cache = openCache(c, log); s.cache.dir != "" {
		s.traces = &traceStore{cache: s.cache}
	}
	for _, p := range s.types {
		p.observe = &sandbox{manifest: p.manifest, phase: ObservePhase, modules: modules, cache: s.cache, memories: &s.memories, limits: limits, own: s.own}
		p.apply = &sandbox{manifest: p.manifest, phase: ApplyPhase, modules: modules, cache: s.cache, memories: &s.memories, limits: limits, own: s.own}
	}
	return s, nil
}

// Add adds the plugin of a type that the store does not have, whose files lie in modules as NewStore has them. It is called
// before anything is looked at.
func (s *Store) Add(m *Manifest, modules fs.FS) error {
	if s.types[m.Type] != nil {
		return fmt.Errorf("type %s: the program has a plugin of this type, and no other takes its place", m.Type)
	}
	s.types[m.Type] = &pair{
		manifest: m,
		observe:  &sandbox{manifest: m, phase: ObservePhase, modules: modules, cache: s.cache, memories: &s.memories, limits: s.limits},
		apply:    &sandbox{manifest: m, phase: ApplyPhase, modules: modules, cache: s.cache, memories: &s.memories, limits: s.limits},
	}
	return nil
}

// Close frees the native code of what was loaded, once what is remembered is on disk. No call may be under way.
func (s *Store) Close() {
	s.loading.Wait()
	if s.traces != nil {
		s.traces.writing.Wait()
	}
	for _, p := range s.types {
		p.observe.close(context.Background())
		p.apply.close(context.Background())
	}
	s.memories.close()
}

// Info describes a plugin.
type Info struct {
	Type     string    `json:"type"`
	Manifest *Manifest `json:"manifest"`
	// Observe and Apply are "sha256:" and the digest of the modules; empty when a module cannot be read.
	Observe string `json:"observe"`
	Apply   string `json:"apply"`
}

// Types describes the plugins, by type. It loads no module; it reads one only when its manifest carries no digest.
func (s *Store) Types() []Info {
	out := make([]Info, 0, len(s.types))
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		p := s.types[name]
		info := Info{Type: name, Manifest: p.manifest}
		info.Observe, _ = p.observe.identity()
		info.Apply, _ = p.apply.identity()
		out = append(out, info)
	}
	return out
}

// Info describes one plugin, like Types.
func (s *Store) Info(typ string) (Info, error) {
	p, err := s.pair(typ)
	if err != nil {
		return Info{}, err
	}
	info := Info{Type: typ, Manifest: p.manifest}
	if info.Observe, err = p.observe.identity(); err != nil {
		return Info{}, err
	}
	info.Apply, err = p.apply.identity()
	return info, err
}

func (s *Store) pair(typ string) (*pair, error) {
	p, ok := s.types[typ]
	switch {
	case ok:
		return p, nil
	case len(s.types) == 0:
		return nil, fmt.Errorf("type %s: %w: this gyrum was built without its plugins; run make plugins and build it anew", typ, ErrNoPlugin)
	}
	return nil, fmt.Errorf("type %s: %w; there are %s", typ, ErrNoPlugin, strings.Join(slices.Sorted(maps.Keys(s.types)), ", "))
}

// Inspection is the outside of one module, read from its bytes: the proof of what it can reach.
type Inspection struct {
	Type    string   `json:"type"`
	Phase   Phase    `json:"phase"`
	Digest  string   `json:"digest"`
	Size    int      `json:"size"`
	Imports []Import `json:"imports"`
	Exports []Export `json:"exports"`
	// Unused lists capabilities that the manifest grants and the module does not import.
	Unused []string `json:"unused,omitempty"`
	// Refusal says why the module would not be loaded; empty when it would.
	Refusal string `json:"refusal,omitempty"`
}

// Inspect reads the import and export sections of a module without compiling it.
func (s *Store) Inspect(typ string, phase Phase) (*Inspection, error) {
	p, err := s.pair(typ)
	if err != nil {
		return nil, err
	}
	box := p.observe
	if phase == ApplyPhase {
		box = p.apply
	}
	raw, err := fs.ReadFile(box.modules, box.file())
	if err != nil {
		return nil, fmt.Errorf("type %s: %w", typ, err)
	}
	in := &Inspection{Type: typ, Phase: phase, Digest: digestOf(raw), Size: len(raw)}
	shape, err := box.judge(raw, in.Digest)
	if err != nil {
		in.Refusal = err.Error()
	}
	if shape == nil {
		return in, nil
	}
	in.Imports, in.Exports = shape.imports, shape.exports
	for _, name := range slices.Sorted(maps.Keys(p.manifest.grants(phase))) {
		if !slices.ContainsFunc(in.Imports, func(i Import) bool { return i.Name == name && strings.HasPrefix(i.Module, "gyrum:") }) {
			in.Unused = append(in.Unused, name)
		}
	}
	return in, nil
}

// Loaded lists the modules whose native code was loaded so far, as "file.observe", sorted.
func (s *Store) Loaded() []string {
	var out []string
	for _, p := range s.types {
		for _, box := range []*sandbox{p.observe, p.apply} {
			if box.loaded.Load() {
				out = append(out, box.manifest.Type+"."+string(box.phase))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Prime loads every module of every type, so that the cache holds their code. It gives what went wrong by file name.
func (s *Store) Prime() map[string]error {
	failed := map[string]error{}
	for _, p := range s.types {
		for _, box := range []*sandbox{p.observe, p.apply} {
			if err := box.ready(); err != nil {
				failed[box.file()] = err
			}
		}
	}
	return failed
}

// Cache says where compiled code and traces are kept, empty when nothing is.
func (s *Store) Cache() string { return s.cache.dir }
