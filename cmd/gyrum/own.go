package main

import (
	"slices"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/own"
	"gyrum.ai/engine/plugin"
)

// adopt opens the catalog's own types, brings those of them that may be used into the store and into the catalog, and
// tells the catalog why the others may not.
func adopt(store *plugin.Store, catalog *manifest.Catalog) (*own.Catalog, error) {
	types, err := own.Into(catalog)
	if err != nil {
		return nil, err
	}
	for _, t := range types.Types {
		if len(t.Problems) > 0 {
			continue
		}
		if had, err := store.Info(t.Name); err == nil && had.Observe == t.Info().Observe && had.Apply == t.Info().Apply {
			continue // another host of the same catalog was opened before
		}
		if err := store.Add(t.Manifest, t.Modules()); err != nil {
			types.Close()
			return nil, err
		}
	}
	return types, nil
}

// locked says what gyrum.lock does not accept of the plugins of these types, and which of their modules, the catalog's own,
// were changed. A run loads the bytes that were judged here.
func locked(types *own.Catalog, store *plugin.Store, used []string) []manifest.Finding {
	if types.LockError != nil {
		return types.LockFinding()
	}
	var infos []plugin.Info
	for _, info := range store.Types() {
		if slices.Contains(used, info.Type) {
			infos = append(infos, info)
		}
	}
	return append(types.Judge(infos), types.Changed(used)...)
}

// plugins opens gyrum's plugins and, where --catalog is a catalog, that catalog's own, also those that may not be used:
// they can be looked at before they are locked.
func (p *program) plugins() (*plugin.Store, *own.Catalog, error) {
	store, err := p.store()
	if err != nil {
		return nil, nil, err
	}
	types, err := own.Open(p.flags.catalog)
	if err != nil {
		return store, nil, nil // there is no catalog to look into
	}
	for _, t := range types.Types {
		if t.Manifest == nil {
			continue
		}
		if err := store.Add(t.Manifest, t.Modules()); err != nil {
			types.Close()
			store.Close()
			return nil, nil, err
		}
	}
	return store, types, nil
}

// pluginsOf lets a catalog use its own types. The function that comes back judges, once the manifests were read, those
// types, the lock, and all of gyrum's plugins: the next host may use another.
func (p *program) pluginsOf(catalog *manifest.Catalog) (func() []manifest.Finding, error) {
	store, err := p.store()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	types, err := adopt(store, catalog)
	if err != nil {
		return nil, err
	}
	defer types.Close()
	return func() []manifest.Finding {
		found := types.Findings()
		if types.LockError == nil {
			for _, f := range types.Judge(store.Types()) {
				if !slices.Contains(found, f) {
					found = append(found, f)
				}
			}
		}
		return found
	}, nil
}
