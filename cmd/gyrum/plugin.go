package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/own"
	"gyrum.ai/engine/plugin"
)

func newPluginCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:   "plugin",
		Short: "Look at the sandboxed plugins, one a resource type",
	}, newPluginListCmd(p), newPluginInspectCmd(p), newPluginVerifyCmd(p), newPluginPrimeCmd(p), newPluginTestCmd(p), newPluginNewCmd(p))
}

func newPluginListCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the resource types with their modules' digests",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			store, catalog, err := p.plugins()
			if err != nil {
				return err
			}
			defer store.Close()
			defer catalog.Close()
			types := store.Types()
			if p.flags.format.value == formatJSON {
				return p.json(types)
			}
			wide := 0
			for _, t := range types {
				wide = max(wide, len(t.Type))
			}
			for _, t := range types {
				if p.flags.verbose {
					fmt.Fprintf(p.out, "%-*s  observe %s\n%*s  apply   %s\n", wide, t.Type, t.Observe, wide, "", t.Apply)
					continue
				}
				fmt.Fprintf(p.out, "%-*s  v%d  observe %s  apply %s  %s\n", wide, t.Type, t.Manifest.Version, shortDigest(t.Observe), shortDigest(t.Apply),
					strings.Join(verbNames(t.Manifest), " "))
			}
			return nil
		},
	}
}

func verbNames(m *plugin.Manifest) []string {
	var out []string
	for _, v := range m.Verbs {
		out = append(out, string(v))
	}
	return out
}

func shortDigest(d string) string {
	d = strings.TrimPrefix(d, "sha256:")
	if d == "" {
		return "missing"
	}
	return d[:min(12, len(d))]
}

// inspection is what plugin inspect prints of a type.
type inspection struct {
	Type     string               `json:"type"`
	Version  int                  `json:"version"`
	Boundary string               `json:"boundary"`
	Decision string               `json:"decision"`
	Verbs    []string             `json:"verbs"`
	Modules  []*plugin.Inspection `json:"modules"`
	// Scopes says for each phase and capability which declared fields bound what a request may name.
	Scopes map[plugin.Phase]map[string][]string `json:"scopes"`
	// Origin is "gyrum" or the catalog's folder of the type.
	Origin string `json:"origin"`
	// ReadOnly says that the observe module can be loaded and imports nothing that writes.
	ReadOnly bool `json:"read_only"`
	// Lock is accepted, refused, or none where the catalog has no gyrum.lock.
	Lock string `json:"lock"`
	// Violations are what is not as it has to be: imports that are not granted, and what keeps the type from being used.
	Violations []string `json:"violations"`
	// Signed says by whom each module of a catalog's own type is signed.
	Signed map[string]string `json:"signed,omitempty"`
}

func newPluginInspectCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect TYPE",
		Short: "Show what a type's modules can reach, from their own import sections",
		Long: `inspect reads the import section of both modules of a type: what a module does not
import it cannot call. The observe module, the only one that check loads, imports
nothing from gyrum:write.`,
		Example:           "  gyrum plugin inspect file",
		ValidArgsFunction: p.completeTypes,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs one resource type", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			store, catalog, err := p.plugins()
			if err != nil {
				return err
			}
			defer store.Close()
			defer catalog.Close()
			in, err := inspect(store, catalog, args[0])
			if err != nil {
				return err
			}
			if p.flags.format.value == formatJSON {
				return p.json(in)
			}
			in.print(p)
			return nil
		},
	}
}

func inspect(store *plugin.Store, catalog *own.Catalog, typ string) (*inspection, error) {
	info, err := store.Info(typ)
	if errors.Is(err, plugin.ErrNoPlugin) {
		var names []string
		for _, t := range store.Types() {
			names = append(names, t.Type)
		}
		return nil, usage("%w%s", err, didYouMean(typ, names, ""))
	}
	if err != nil {
		return nil, err
	}
	m := info.Manifest
	in := &inspection{Type: typ, Version: m.Version, Boundary: plugin.Boundary, Decision: m.Decision, Verbs: verbNames(m),
		Scopes: map[plugin.Phase]map[string][]string{plugin.ObservePhase: scopes(m.Observe), plugin.ApplyPhase: scopes(m.Apply)}}
	for _, phase := range []plugin.Phase{plugin.ObservePhase, plugin.ApplyPhase} {
		mod, err := store.Inspect(typ, phase)
		if err != nil {
			return nil, err
		}
		in.Modules = append(in.Modules, mod)
	}
	in.judge(info, catalog)
	return in, nil
}

// judge says what of a type is not as it has to be.
func (in *inspection) judge(info plugin.Info, catalog *own.Catalog) {
	in.Origin, in.Lock, in.ReadOnly, in.Violations = "gyrum", "none", true, []string{}
	for _, m := range in.Modules {
		if m.Refusal != "" {
			in.Violations = append(in.Violations, fmt.Sprintf("%s: %s", m.Phase, m.Refusal))
		}
		if m.Phase == plugin.ObservePhase {
			in.ReadOnly = m.Refusal == "" && !slices.ContainsFunc(m.Imports, func(i plugin.Import) bool { return i.Module == "gyrum:write" })
		}
	}
	if catalog == nil {
		return
	}
	if t := catalog.Type(in.Type); t != nil {
		in.Origin, in.Signed = own.Folder+"/"+t.Name, t.Signed
		for _, problem := range t.Problems {
			in.Violations = append(in.Violations, problem.File+": "+problem.Text)
		}
	} else if catalog.Lock != nil {
		in.Violations = append(in.Violations, catalog.Lock.Judge(info)...)
	}
	switch {
	case catalog.LockError != nil:
		in.Lock = "refused"
	case catalog.Lock == nil:
	case len(catalog.Lock.Judge(info)) > 0:
		in.Lock = "refused"
	default:
		in.Lock = "accepted"
	}
}

func scopes(grants map[string]plugin.Grant) map[string][]string {
	out := map[string][]string{}
	for name, g := range grants {
		out[name] = g.Scope
	}
	return out
}

func (in *inspection) print(p *program) {
	st := p.style()
	fmt.Fprintf(p.out, "%s\n", st.Bold(in.Type))
	for _, row := range [][2]string{
		{"version", fmt.Sprint(in.Version)}, {"boundary", in.Boundary}, {"verbs", strings.Join(in.Verbs, " ")}, {"decision", "docs/adr/" + in.Decision + ".md"},
		{"from", in.Origin}, {"lock", in.Lock},
	} {
		fmt.Fprintf(p.out, "  %-9s %s\n", row[0], row[1])
	}
	for _, m := range in.Modules {
		fmt.Fprintf(p.out, "\n%s  %s  %d bytes\n", st.Bold(string(m.Phase)), m.Digest, m.Size)
		writes := 0
		for _, i := range m.Imports {
			switch i.Module {
			case "gyrum:write":
				writes++
				fallthrough
			case "gyrum:read":
				scope, granted := in.Scopes[m.Phase][i.Name]
				verdict := "ok         " + bound(scope) + wished(i.Name)
				if !granted || i.Module == "gyrum:write" && m.Phase == plugin.ObservePhase {
					verdict = "violation  the manifest does not grant it to " + string(m.Phase)
				}
				fmt.Fprintf(p.out, "  %-12s %-20s %s\n", i.Module, i.Name, verdict)
			default:
				if p.flags.verbose {
					fmt.Fprintf(p.out, "  %-12s %s\n", i.Module, i.Name)
				}
			}
		}
		if writes == 0 {
			fmt.Fprintf(p.out, "  nothing from gyrum:write: it cannot change the host\n")
		}
		for _, name := range m.Unused {
			fmt.Fprintf(p.out, "  granted and not imported: %s\n", name)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(in.Signed)) {
		fmt.Fprintf(p.out, "\nsigned: %s by %s\n", file, in.Signed[file])
	}
	for i, v := range in.Violations {
		if i == 0 {
			fmt.Fprintln(p.out)
		}
		fmt.Fprintf(p.out, "violation: %s\n", v)
	}
}

func bound(fields []string) string {
	if len(fields) == 0 {
		return "names nothing on the host"
	}
	return "bound to the declared " + strings.Join(fields, ", ")
}

// wished says what a resource has to declare before an effect is let through.
func wished(capability string) string {
	w, ok := host.WishOf(capability)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", where %s is %s", w.Field, strings.Trim(w.Value, `"`))
}

func newPluginPrimeCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "prime",
		Short: "Compile every plugin into the cache, so that the first check is as fast as the second",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if p.cacheDir() == "" {
				return usage("plugin prime fills the cache, and --no-cache asks for none")
			}
			bar := p.progress()
			defer bar.Close()
			store, err := p.store()
			if err != nil {
				return err
			}
			defer store.Close()
			if store.Cache() == "" {
				return fmt.Errorf("the cache folder %s cannot be used; -v says why", p.cacheDir())
			}
			bar.Say("compiling the plugins")
			failed := store.Prime()
			bar.Close()
			for _, file := range slices.Sorted(maps.Keys(failed)) {
				fmt.Fprintf(p.err, "gyrum: %s: %s\n", file, failed[file])
			}
			if len(failed) > 0 {
				return fmt.Errorf("%s could not be compiled", plural(len(failed), "module"))
			}
			p.say("compiled %s into %s", plural(2*len(store.Types()), "module"), store.Cache())
			return nil
		},
	}
}

// modules lists both modules of every type.
func (p *program) modules() ([]moduleInfo, error) {
	store, err := p.store()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	out := []moduleInfo{}
	for _, t := range store.Types() {
		out = append(out, moduleInfo{t.Type, t.Observe, t.Apply})
	}
	return out, nil
}
