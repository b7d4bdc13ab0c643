package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"

	sandbox "gyrum.ai/engine/plugin"
)

// shapes holds every plugin.cue against the definition #Plugin.
func (g *gate) shapes() error {
	ctx := cuecontext.New()
	files, err := filepath.Glob(filepath.Join(g.root, "cue/*.cue"))
	if err != nil {
		return err
	}
	loaded := load.Instances(files, nil)[0] // files by name need no module around them
	if loaded.Err != nil {
		return fmt.Errorf("cue/: %w", loaded.Err)
	}
	definition := ctx.BuildInstance(loaded).LookupPath(cue.ParsePath("#Plugin"))
	if err := definition.Err(); err != nil {
		return fmt.Errorf("cue/plugin.cue: #Plugin: %w", err)
	}
	for typ := range g.plugins {
		file := "plugins/" + typ + "/plugin.cue"
		source, err := os.ReadFile(filepath.Join(g.root, file))
		if err != nil {
			return err
		}
		said := ctx.CompileBytes(source, cue.Filename(file)).LookupPath(cue.ParsePath("plugin"))
		err = definition.Unify(said).Validate(cue.Concrete(true), cue.Final())
		for _, e := range cueerrors.Errors(err) {
			format, args := e.Msg()
			g.say(file, RuleType, "cue/plugin.cue defines what stands there", "%s: %s", strings.Replace(strings.Join(e.Path(), "."), "#Plugin.", "plugin.", 1), fmt.Sprintf(format, args...))
		}
	}
	return nil
}

// modules reads the import and export sections of the modules that are built. What a checkout has not built yet is
// judged when it is built.
func (g *gate) modules() error {
	dist := filepath.Join(g.root, "plugins/dist")
	built, err := filepath.Glob(filepath.Join(dist, "*.wasm"))
	if err != nil || len(built) == 0 {
		return err
	}
	store, err := sandbox.NewStore(os.DirFS(dist), sandbox.CacheConfig{}, func(string) {})
	if err != nil {
		return fmt.Errorf("plugins/dist: %w", err)
	}
	defer store.Close()
	for typ := range g.plugins {
		for _, phase := range []sandbox.Phase{sandbox.ObservePhase, sandbox.ApplyPhase} {
			file := fmt.Sprintf("plugins/dist/%s.%s.wasm", typ, phase)
			in, err := store.Inspect(typ, phase)
			if errors.Is(err, sandbox.ErrNoPlugin) || errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if in.Refusal != "" {
				g.say(file, RuleType, "grant in plugin.cue what it imports, or take the call out, and run make plugins", "the module would not be loaded: %s", in.Refusal)
			}
			for _, name := range in.Unused {
				g.say(file, RuleType, "take it out of plugin.cue", "plugin.cue grants %s to %s, which does not import it", name, phase)
			}
		}
	}
	return nil
}
