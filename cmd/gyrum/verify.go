package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/own"
	"gyrum.ai/engine/plugin"
)

// verdict is what plugin verify says of a type.
type verdict struct {
	Type     string            `json:"type"`
	Origin   string            `json:"origin"`
	Observe  string            `json:"observe"`
	Apply    string            `json:"apply"`
	Signed   map[string]string `json:"signed,omitempty"`
	Problems []string          `json:"problems"`
}

func newPluginVerifyCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [TYPE...]",
		Short: "Verify digests, pins and signatures of the plugins",
		Long: `verify reads both modules of each type, takes their digests, and holds them against
the manifest and against the catalog's gyrum.lock. A catalog's own types have to be
whole besides: exported as their sources say, decided by an accepted record, and
signed by a minisign key of gyrum.lock where that has keys.

Exit codes: 0 all may be used, 1 one may not.`,
		Example:           "  gyrum plugin verify\n  gyrum plugin verify x_note -o json",
		ValidArgsFunction: p.completeTypes,
		RunE:              func(_ *cobra.Command, args []string) error { return p.verify(args) },
	}
}

func (p *program) verify(types []string) error {
	store, catalog, err := p.plugins()
	if err != nil {
		return err
	}
	defer store.Close()
	defer catalog.Close()
	known := map[string]bool{}
	for _, info := range store.Types() {
		known[info.Type] = true
	}
	if catalog != nil {
		for _, t := range catalog.Types {
			known[t.Name] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, typ := range types {
		if !known[typ] {
			return usage("type %s: %w%s", typ, plugin.ErrNoPlugin, orOneOf(typ, names))
		}
	}
	all := []verdict{}
	bad := 0
	for _, name := range names {
		if len(types) > 0 && !slices.Contains(types, name) {
			continue
		}
		v := verifyType(store, catalog, name)
		if len(v.Problems) > 0 {
			bad++
		}
		all = append(all, v)
	}
	if p.flags.format.value == formatJSON {
		err = p.json(all)
	} else {
		for _, v := range all {
			p.printVerdict(v)
		}
	}
	if err == nil && bad > 0 {
		err = &exit{engine.ExitError, errors.New(plural(bad, "type") + " may not be used")}
	}
	return err
}

func verifyType(store *plugin.Store, catalog *own.Catalog, name string) verdict {
	v := verdict{Type: name, Origin: "gyrum", Problems: []string{}}
	info, err := store.Info(name)
	if err == nil {
		v.Observe, v.Apply = info.Observe, info.Apply
	}
	t := catalog.Type(name)
	if t != nil {
		v.Origin, v.Signed = own.Folder+"/"+name, t.Signed
		for _, p := range t.Verify() {
			v.Problems = append(v.Problems, p.File+": "+p.Text)
		}
		return v
	}
	for _, phase := range []plugin.Phase{plugin.ObservePhase, plugin.ApplyPhase} {
		in, err := store.Inspect(name, phase)
		switch {
		case err != nil:
			v.Problems = append(v.Problems, err.Error())
		case in.Refusal != "":
			v.Problems = append(v.Problems, fmt.Sprintf("the %s module: %s", phase, in.Refusal))
		}
	}
	if catalog != nil && catalog.Lock != nil {
		v.Problems = append(v.Problems, catalog.Lock.Judge(info)...)
	}
	return v
}

func (p *program) printVerdict(v verdict) {
	word := "ok"
	if len(v.Problems) > 0 {
		word = "refused"
	}
	fmt.Fprintf(p.out, "%-14s %-8s %s  observe %s  apply %s\n", v.Type, word, v.Origin, shortDigest(v.Observe), shortDigest(v.Apply))
	for _, file := range slices.Sorted(maps.Keys(v.Signed)) {
		fmt.Fprintf(p.out, "  %s: signed by %s\n", file, v.Signed[file])
	}
	for _, why := range v.Problems {
		fmt.Fprintf(p.out, "  %s\n", why)
	}
}
