package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/manifest"
)

// program is one run of the command line: its streams and the common flags.
type program struct {
	in     *os.File
	out    *output
	err    *os.File
	getenv func(string) string
	flags  commonFlags
}

// exit ends a verb with a code. A nil err has said, or left for the report to say, all there is.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// run executes a command line and gives the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := newRootCmd(p)
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetErr(p.err)
	cmd, err := root.ExecuteContextC(ctx)
	code := engine.ExitOK
	if err != nil {
		code = engine.ExitError
		var e *exit
		said := err
		if errors.As(err, &e) {
			code, said = e.code, e.err
		}
		if said != nil {
			if errors.Is(said, manifest.ErrNoCatalog) {
				said = fmt.Errorf("%w; name one with --catalog", said)
			}
			fmt.Fprintf(p.err, "gyrum: %s\n", said)
		}
		if code == engine.ExitUsage {
			if cmd.Name() == "help" {
				cmd = cmd.Parent()
			}
			fmt.Fprintf(p.err, "Run '%s --help' for how to call it.\n", cmd.CommandPath())
		}
	}
	if lost := p.out.failed(); lost != nil {
		fmt.Fprintf(p.err, "gyrum: standard output could not be written: %s\n", lost)
		if code == engine.ExitOK || code == engine.ExitDrift {
			code = engine.ExitError // drift says that there was no error
		}
	}
	return code
}

func newRootCmd(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "gyrum",
		Short: "Check hosts against their catalog, and apply the difference",
		Long: `gyrum compares what a host has with what its catalog declares.

  gyrum check      shows the difference and changes nothing
  gyrum apply      shows the same plan and executes it once it is confirmed

Exit codes: 0 in sync or converged, 1 error, 2 drift found or not converged,
3 plan refused or not confirmed, 4 another apply runs, 64 wrong usage.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          func(cmd *cobra.Command, args []string) error { return unknownCommand(cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(p.err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return &exit{code: engine.ExitUsage, err: errors.New("name a command")}
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = refuseEmpty
	root.SetOut(p.out)
	root.SetHelpCommand(newHelpCmd())
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	p.flags.add(root, p.getenv)
	completeFlag(root, "host", p.completeHosts)
	completeFlag(root, "output", cobra.FixedCompletions(p.flags.format.of, cobra.ShellCompDirectiveNoFileComp))
	root.AddCommand(
		newCheckCmd(p),
		newApplyCmd(p),
		newReplayCmd(p),
		newTestCmd(p),
		newTapeCmd(p),
		newHistoryCmd(p),
		newShowCmd(p),
		newEventsCmd(p),
		newValidateCmd(p),
		newLockCmd(p),
		newLintCmd(p),
		newExplainCmd(p),
		newInitCmd(p),
		newManCmd(p),
		newPluginCmd(p),
		newSchemaCmd(p),
		newVersionCmd(p),
	)
	addCompletion(root)
	return root
}

// say writes a line for people to standard error unless -q asks for silence.
func (p *program) say(format string, args ...any) {
	if !p.flags.quiet {
		fmt.Fprintln(p.err, "gyrum: "+fmt.Sprintf(format, args...))
	}
}
