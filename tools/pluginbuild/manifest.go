package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// manifest is a type's plugin.cue, as far as the build needs it, and whole for the export.
type manifest struct {
	Type    string
	Observe map[string]any
	Apply   map[string]any
	record  map[string]any
}

func (m *manifest) grants(phase string) map[string]any {
	if phase == "apply" {
		return m.Apply
	}
	return m.Observe
}

// manifests reads every plugin.cue, by type.
func manifests(plugins string) ([]*manifest, error) {
	files, err := filepath.Glob(filepath.Join(plugins, "*", "plugin.cue"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no plugins/<type>/plugin.cue under %s; run it in the repository or say -root", filepath.Dir(plugins))
	}
	sort.Strings(files)
	ctx := cuecontext.New()
	var list []*manifest
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		v := ctx.CompileBytes(source, cue.Filename(file)).LookupPath(cue.ParsePath("plugin"))
		raw, err := v.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("%s: the record plugin: %w", file, err)
		}
		m := &manifest{}
		if err := json.Unmarshal(raw, m); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := json.Unmarshal(raw, &m.record); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if folder := filepath.Base(filepath.Dir(file)); m.Type != folder {
			return nil, fmt.Errorf("%s: type is %q, the folder says %q; they must be the same", file, m.Type, folder)
		}
		list = append(list, m)
	}
	return list, nil
}

// export writes each plugin.cue as JSON, with the digests of the modules that were built beside it.
func (b *build) export() error {
	for _, t := range b.types {
		digests := map[string]string{}
		for _, m := range b.modules {
			if m.Type == t.Type {
				digests[m.Phase] = "sha256:" + m.sum
			}
		}
		t.record["digests"] = digests
		raw, err := json.MarshalIndent(map[string]any{"plugin": t.record}, "", "  ")
		if err != nil {
			return err
		}
		if err := b.writeIfOther(filepath.Join(b.dist, t.Type+".json"), append(raw, '\n')); err != nil {
			return err
		}
	}
	return nil
}
