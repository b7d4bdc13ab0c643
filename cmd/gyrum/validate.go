package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/manifest"
)

func newValidateCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "validate",
		Short: "Judge a whole catalog: every host, every role, every link between them",
		Long: `validate reads every file of the catalog and lists every mistake at once, each as
file:line:column: rule: what is wrong, with what to write instead beneath it.
check and apply judge only what their host uses.

Exit codes: 0 valid (warnings allowed), 1 findings.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := manifest.Open(p.flags.catalog)
			if err != nil {
				return catalogHint(err)
			}
			findings := c.Validate()
			errs := 0
			for _, f := range findings {
				if f.Severity != "warn" {
					errs++
				}
			}
			if p.flags.format == formatJSON {
				if err := p.json(map[string]any{"findings": toFindings(findings)}); err != nil {
					return err
				}
			} else {
				for _, f := range findings {
					if f.Severity != "warn" || !p.flags.quiet {
						fmt.Fprint(p.out, p.wordFinding(f))
					}
				}
				if errs == 0 && !p.flags.quiet {
					fmt.Fprintf(p.out, "valid: %s, %s%s\n", plural(len(c.HostNames()), "host"), plural(len(c.RoleNames()), "role"), warnings(len(findings)))
				}
			}
			if errs > 0 {
				return &exit{code: engine.ExitError, err: fmt.Errorf("%s in %s", plural(errs, "mistake"), p.flags.catalog)}
			}
			return nil
		},
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func warnings(n int) string {
	if n == 0 {
		return ""
	}
	return ", " + plural(n, "warning")
}

// catalogHint says how to name another catalog when one could not be opened.
func catalogHint(err error) error {
	return fmt.Errorf("%w; name the catalog with --catalog or $GYRUM_CATALOG", err)
}
