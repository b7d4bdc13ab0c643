package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
	"gyrum.ai/engine/lint"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/manifest/findings"
)

func newLintCmd(p *program) *cobra.Command {
	format := choice{value: formatText, of: findings.Formats()}
	var fix bool
	var o lint.Options
	cmd := &cobra.Command{
		Use:   "lint",
		Short: "Judge how a catalog is written, and fix what is safe to fix",
		Long: `lint says everything that validate says, and what is allowed and probably not
meant: layout, names, files that nothing uses, orders that need a second apply,
commands without a reason, roles that changed while their version did not.
"gyrum explain RULE" tells more of each.

With --fix, manifests are rewritten where that changes nothing they say: line
ends, blank space, indentation, order of keys, quotes, modes. Comments are kept.
What cannot be fixed is listed.

The resources of each role are compared with git: with HEAD, or with the commit
before it where nothing changed since. In CI, name the branch that the change goes
to: --since origin/main compares with the commit where the two parted.

With -q, warnings are left out, and only errors count.

Exit codes: 0 nothing to say, 1 findings.`,
		Example: `  gyrum lint
  gyrum lint --fix
  gyrum lint --since origin/main -o github`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return p.lint(fix, o, format.value) },
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "rewrite what can be rewritten without changing what the catalog says")
	cmd.Flags().StringVar(&o.Since, "since", "", "git `REVISION` that roles are compared with (default HEAD)")
	cmd.Flags().VarP(&format, "output", "o", "how findings are printed")
	completeFlag(cmd, "output", cobra.FixedCompletions(format.of, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (p *program) lint(fix bool, o lint.Options, format string) error {
	c, err := manifest.Open(p.flags.catalog)
	if err != nil {
		return err
	}
	defer c.Close()
	judge, err := p.pluginsOf(c)
	if err != nil {
		return err
	}
	if fix {
		changed, err := lint.Fix(c)
		for _, name := range changed {
			p.say("fixed %s", text.Clean(name))
		}
		if err != nil {
			return err
		}
	}
	found, err := lint.Catalog(c, o)
	switch {
	case errors.Is(err, lint.ErrRevision):
		return usage("--since: %w", err)
	case err != nil:
		return err
	}
	found = append(found, judge()...)
	if p.flags.quiet {
		found = slices.DeleteFunc(found, func(f manifest.Finding) bool { return f.Severity == manifest.SeverityWarn })
	}
	if err := findings.Write(p.out, format, p.flags.catalog, found, lint.Rules()...); err != nil {
		return err
	}
	if n := len(found); n > 0 {
		return &exit{code: engine.ExitError, err: fmt.Errorf("%s in the catalog %s", plural(n, "finding"), p.flags.catalog)}
	}
	return nil
}
