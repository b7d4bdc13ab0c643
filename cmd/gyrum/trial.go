package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/kit"
	"gyrum.ai/engine"
	"gyrum.ai/plugins"
)

func newPluginTestCmd(p *program) *cobra.Command {
	var modules, cases string
	cmd := &cobra.Command{
		Use:   "test TYPE...",
		Short: "Play a plugin's golden cases with its modules, and hold it to the conformance suite",
		Long: `test tries built modules in the sandbox that gyrum uses, whatever language they are
written in. It needs no compiler, no root and no host: the golden cases of a type say
what the host answers. Each case is played with the modules; then the suite that
every plugin passes is run on a host made of the cases: it keeps the boundary's rules,
is granted no more than it uses, is deterministic, judges each resource by itself,
takes nothing for absent that it could not see, and fails when its effect fails.

The modules are the program's own, or those in --modules: <type>.json,
<type>.observe.wasm and <type>.apply.wasm. The cases are the *.txt files of --cases,
or of plugins/<type>/testdata/cases below the working directory. A module that cannot
be loaded, or that does not come to an end, is tried no further.

Exit codes: 0 all pass, 1 one does not.`,
		Example: `  gyrum plugin test file
  gyrum plugin test mine --modules build --cases testdata`,
		ValidArgsFunction: p.completeTypes,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage("%s needs a resource type", cmd.CommandPath())
			case cases != "" && len(args) > 1:
				return usage("--cases holds the cases of one type")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, types []string) error {
			var from fs.FS = plugins.Modules()
			if modules != "" {
				from = os.DirFS(modules)
			}
			var all []kit.Result
			bar := p.progress()
			defer bar.Close()
			for _, typ := range types {
				bar.Say("trying " + typ)
				dir := cases
				if dir == "" {
					dir = filepath.Join("plugins", typ, "testdata", "cases")
				}
				if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
					known, _ := p.completeTypes(cmd, nil, "")
					return usage("there is no folder %s with golden cases of %s; name one with --cases%s", dir, typ, didYouMean(typ, known, ""))
				}
				result, err := kit.Try(cmd.Context(), typ, from, os.DirFS(dir), p.cacheDir())
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				all = append(all, result)
			}
			bar.Close()
			if p.flags.format.value == formatJSON {
				if err := p.json(all); err != nil {
					return err
				}
			} else {
				p.printTrials(all)
			}
			if slices.ContainsFunc(all, func(r kit.Result) bool { return !r.Passed() }) {
				return &exit{engine.ExitError, fmt.Errorf("not every plugin passes")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&modules, "modules", "", "take the modules from this `FOLDER`, not from the program")
	cmd.Flags().StringVar(&cases, "cases", "", "take the golden cases from this `FOLDER`")
	_ = cmd.MarkFlagDirname("modules")
	_ = cmd.MarkFlagDirname("cases")
	return cmd
}

// printTrials prints a line a rule, and below it what is wrong.
func (p *program) printTrials(all []kit.Result) {
	st := p.style()
	for _, r := range all {
		fmt.Fprintf(p.out, "%s\n", st.Bold(r.Type))
		line := func(ok bool, what string, said []string) {
			word := "pass"
			if !ok {
				word = "FAIL"
			}
			fmt.Fprintf(p.out, "  %s  %s\n", word, what)
			for _, s := range said {
				fmt.Fprintf(p.out, "        %s\n", s)
			}
		}
		line(len(r.Wrong) == 0, plural(r.Cases, "case")+" with the modules", r.Wrong)
		for _, rule := range r.Rules {
			line(rule.Passed, rule.Rule, rule.Said)
		}
	}
}
