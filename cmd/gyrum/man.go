package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/reference"
)

// newManCmd is for packagers and the Makefile, so it is not listed.
func newManCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the man pages, one a command, into a folder",
		Hidden: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs a folder", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			pages := reference.Commands(cmd.Root())
			for _, c := range pages {
				file := filepath.Join(args[0], reference.Name(c)+".1")
				if err := os.WriteFile(file, []byte(reference.Man(c, version)), 0o644); err != nil {
					return err
				}
			}
			p.say("wrote %s into %s", plural(len(pages), "page"), args[0])
			return nil
		},
	}
}
