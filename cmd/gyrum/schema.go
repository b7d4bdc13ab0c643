package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/schema"
)

func newSchemaCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print a JSON schema of reports or manifests; without a name, list them",
		Example: `  gyrum schema
  gyrum schema drift-report`,
		ValidArgsFunction: cobra.FixedCompletions(schema.Names(), cobra.ShellCompDirectiveNoFileComp),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one name", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if p.flags.format.value == formatJSON {
					return p.json(schema.Names())
				}
				for _, name := range schema.Names() {
					fmt.Fprintln(p.out, name)
				}
				return nil
			}
			raw, ok := schema.Read(args[0])
			if !ok {
				return usage("there is no schema %q%s", args[0], orOneOf(args[0], schema.Names()))
			}
			_, err := p.out.Write(raw)
			return err
		},
	}
}
