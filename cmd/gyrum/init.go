package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/starter"
	"gyrum.ai/cmd/gyrum/internal/text"
)

func newInitCmd(p *program) *cobra.Command {
	var update bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a working catalog, or bring what gyrum put into one up to date",
		Long: `init makes a catalog in DIR (or --catalog), else in the working directory: an
example host named as this machine (or as --host says) with a harmless role,
gyrum's definitions so that plain "cue vet -c ." judges it without gyrum and
without a network, schemas and settings for editors, a pre-commit hook, and a
check for CI. The new catalog is valid, and a check of it finds this machine in
sync.

Nothing that exists is written over: where a file that init would write is there
with another content, init writes nothing and names every such file; a README.md
and a .gitignore are kept. A folder with hosts/ or host-roles/ keeps its manifests
and gets what is around them.

With --update, the definitions and schemas in DIR become those of this version of
gyrum, and what plain cue needs besides is written where it is missing. What was
changed by hand among them is named, and nothing is touched then. What was generated
with the catalog's own types is left; generate it again.`,
		Example: `  gyrum init catalog
  gyrum init catalog --host web-1
  gyrum init --update`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one folder", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			switch named := cmd.Flags().Changed("catalog"); {
			case named && len(args) == 1 && filepath.Clean(args[0]) != filepath.Clean(p.flags.catalog):
				return usage("%s is one folder and --catalog %s another; name one", args[0], p.flags.catalog)
			case named:
				dir = p.flags.catalog
			case len(args) == 1:
				dir = args[0]
			}
			if update {
				return p.updateCatalog(dir)
			}
			return p.initCatalog(dir)
		},
	}
	cmd.Flags().BoolVar(&update, "update", false, "bring the definitions and schemas in the catalog to this version's")
	return cmd
}

// dnsLabel says whether a host record may have the name.
func dnsLabel(name string) bool {
	ok, err := regexp.MatchString(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`, name)
	return ok && err == nil
}

// exampleHost names the example host: as --host says, as this machine, or example where that is no name for a host.
func (p *program) exampleHost() (string, error) {
	name, err := p.hostName()
	if p.flags.host != "" && !dnsLabel(name) {
		return "", usage("--host %s: a host's name is a DNS label: lower-case letters, digits and inner hyphens, at most 63", name)
	}
	if err != nil || !dnsLabel(name) {
		return "example", nil
	}
	return name, nil
}

func (p *program) initCatalog(dir string) error {
	host, err := p.exampleHost()
	if err != nil {
		return err
	}
	result, err := starter.Init(dir, host, version)
	switch {
	case errors.Is(err, starter.ErrPackage):
		return fmt.Errorf("%s: %w, and a folder is one package to plain CUE (cue vet .), which finds gyrum's catalog.cue as package catalog; nothing was written. Move them into a folder of their own, or choose another folder for the catalog", dir, err)
	case errors.Is(err, starter.ErrCannotWrite):
		return fmt.Errorf("%s: %w; nothing was written", dir, err)
	case errors.Is(err, starter.ErrTaken):
		return fmt.Errorf("%s: %w; nothing was written. Move them away or choose another folder; gyrum init --update refreshes a catalog's definitions", dir, err)
	case err != nil && result != nil && len(result.Written) > 0:
		return fmt.Errorf("%s: %w; %s are written already (%s): once that is mended, the same command completes the catalog",
			dir, err, plural(len(result.Written), "file"), strings.Join(result.Written, ", "))
	case err != nil:
		return err
	case p.flags.format.value == formatJSON:
		return p.json(result)
	}
	for _, f := range result.Kept {
		p.say("kept %s, which is there already", text.Clean(f))
	}
	if p.flags.verbose {
		for _, f := range result.Written {
			fmt.Fprintln(p.out, filepath.Join(dir, f))
		}
	}
	if p.flags.quiet {
		return nil
	}
	if len(result.Written) == 0 {
		fmt.Fprintf(p.out, "%s is a catalog already: nothing to write\n", text.Clean(dir))
		return nil
	}
	fmt.Fprintf(p.out, "a catalog in %s: %s written\n", text.Clean(dir), plural(len(result.Written), "file"))
	in := ""
	if dir != "." {
		in = " --catalog " + text.ShellQuote(dir)
	}
	next := []text.Row{{Name: "gyrum validate" + in, Text: "judges all of it"}}
	if result.Example {
		check := "gyrum check" + in
		if machine, err := machineName(); err != nil || machine != host {
			check += " --host " + host
		}
		next = append(next, text.Row{Name: check, Text: "compares it with this machine; changes nothing"})
	}
	fmt.Fprint(p.out, p.style().Explain(text.Page{Title: "next", Tables: []text.Table{{Rows: next}}}))
	return nil
}

func (p *program) updateCatalog(dir string) error {
	result, err := starter.Update(dir, version)
	switch {
	case errors.Is(err, starter.ErrNoCatalog):
		return fmt.Errorf("%s: %w; gyrum init %s makes one", dir, err, text.ShellQuote(dir))
	case errors.Is(err, starter.ErrEdited):
		return fmt.Errorf("%s: %w; nothing was changed. Undo those changes, or delete the files to get them anew", dir, err)
	case err != nil:
		return err
	case p.flags.format.value == formatJSON:
		return p.json(result)
	}
	for _, f := range result.Written {
		fmt.Fprintf(p.out, "updated %s\n", filepath.Join(dir, f))
	}
	for _, f := range result.Removed {
		fmt.Fprintf(p.out, "removed %s\n", filepath.Join(dir, f))
	}
	if len(result.Generated) > 0 {
		p.say("left %s, generated with the catalog's own types: run tools/schemagen -catalog %s of this gyrum's sources to have them anew (docs/lock.md)",
			strings.Join(result.Generated, ", "), text.ShellQuote(dir))
	} else if len(result.Written)+len(result.Removed) == 0 {
		p.say("the definitions in %s are this version's", text.Clean(dir))
	}
	return nil
}
