package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/scaffold"
)

func newPluginNewCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Begin a new resource type in gyrum's repository",
		Long: `new, run at the root of gyrum's repository, writes the first version of a resource
type that works: plugin, definition, golden cases, page, and the draft of its decision
record. Change it into what the type is to be; docs/plugin-guide.md says how.

The set of types is closed: go run ./tools/lint fails until the record is accepted, in
a commit before the one that adds the type, and every place names the type.`,
		Example: "  gyrum plugin new cron",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs the one name of the new type", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			result, err := scaffold.New(".", args[0], time.Now())
			switch {
			case errors.Is(err, scaffold.ErrName), errors.Is(err, scaffold.ErrNotHere):
				return usage("%w", err)
			case errors.Is(err, fs.ErrExist):
				return usage("the type is there already: %w", err)
			case err != nil:
				return err
			}
			for _, name := range result.Made {
				fmt.Fprintf(p.out, "made     %s\n", name)
			}
			for _, name := range result.Changed {
				fmt.Fprintf(p.out, "changed  %s\n", name)
			}
			p.say("next: go run ./tools/schemagen && make build && go run ./tools/typedocs, then bin/gyrum plugin test %s; docs/plugin-guide.md goes on from there", args[0])
			return nil
		},
	}
}
