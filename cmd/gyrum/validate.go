package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/manifest/findings"
)

func newValidateCmd(p *program) *cobra.Command {
	format := choice{value: formatText, of: findings.Formats()}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Judge a whole catalog: every host, every role, every link between them",
		Long: `validate reads every file of the catalog and lists every mistake at once, each as
file:line:column: rule: what is wrong, with what to write instead beneath it.
check and apply judge only what their host uses.

Exit codes: 0 valid, 1 findings.`,
		Example: `  gyrum validate --catalog ./catalog
  gyrum validate -o github`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := manifest.Open(p.flags.catalog)
			if err != nil {
				return err
			}
			defer c.Close()
			judge, err := p.pluginsOf(c)
			if err != nil {
				return err
			}
			found := append(c.Validate(), judge()...)
			if err := findings.Write(p.out, format.value, p.flags.catalog, found); err != nil {
				return err
			}
			if n := countErrors(found); n > 0 {
				return &exit{code: engine.ExitError, err: fmt.Errorf("%s in the catalog %s", plural(n, "mistake"), p.flags.catalog)}
			}
			if format.value == formatText && !p.flags.quiet {
				fmt.Fprintf(p.out, "valid: %s, %s\n", plural(len(c.HostNames()), "host"), plural(len(c.RoleNames()), "role"))
			}
			return nil
		},
	}
	cmd.Flags().VarP(&format, "output", "o", "how findings are printed")
	completeFlag(cmd, "output", cobra.FixedCompletions(format.of, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func plural(n int, noun string) string { return findings.Count(n, noun) }
