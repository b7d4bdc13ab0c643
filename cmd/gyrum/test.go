package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
	"gyrum.ai/engine/cases"
	"gyrum.ai/engine/outcome"
	"gyrum.ai/engine/plugin"
)

func newTestCmd(p *program) *cobra.Command {
	var update bool
	var add string
	cmd := &cobra.Command{
		Use:   "test [CASE...]",
		Short: "Run the test cases of a catalog: tapes, and what a check of them must find",
		Long: `test replays the tape of every case in the catalog's folder tests/, or of the named
ones, and compares what a check finds with what the case expects. It needs no host
and no root; a catalog's CI calls it.

A case is a file tests/NAME.yaml:

  tape: web-1.jsonl          a tape beside it
  host: web-1                (the tape's own)
  expect:
    - verb: write
      id: file:/etc/motd

--add TAPE makes the case NAME of a tape, and --update writes anew what the named
cases, or all, expect: read the difference before you commit it.

Exit codes: 0 every case passes, 1 one does not.`,
		Example: `  gyrum check --record web-1.tape
  gyrum test --add web-1.tape web-bare
  gyrum test`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if add != "" {
				if update || len(args) != 1 {
					return usage("--add needs the name of the one case to make")
				}
				return p.addCase(cmd.Context(), add, args[0])
			}
			return p.test(cmd.Context(), args, update)
		},
		ValidArgsFunction: p.completeCases,
	}
	cmd.Flags().BoolVar(&update, "update", false, "write what comes out into the cases as what they expect")
	cmd.Flags().StringVar(&add, "add", "", "make a case of the tape `FILE`, named by the argument")
	_ = cmd.MarkFlagFilename("add", "tape", "jsonl")
	return cmd
}

func (p *program) completeCases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, _ := cases.Names(p.flags.catalog)
	return names, cobra.ShellCompDirectiveNoFileComp
}

// verdictOf is what became of one case.
type verdictOf struct {
	Case string `json:"case"`
	OK   bool   `json:"ok"`
	// Updated says that the case's file was written anew.
	Updated     bool               `json:"updated,omitempty"`
	Differences []cases.Difference `json:"differences,omitempty"`
	Error       string             `json:"error,omitempty"`
}

func (p *program) test(ctx context.Context, names []string, update bool) error {
	known, err := cases.Names(p.flags.catalog)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return usage("there is no case %s in %s%s", name, filepath.Join(p.flags.catalog, cases.Dir), orOneOf(name, known))
		}
	}
	if len(names) == 0 {
		names = known
	}
	if len(names) == 0 {
		return usage("%s holds no test case; gyrum check --record and gyrum test --add make one", filepath.Join(p.flags.catalog, cases.Dir))
	}
	store, err := p.store()
	if err != nil {
		return err
	}
	defer store.Close()
	bar := p.progress()
	defer bar.Close()
	all, failed := []verdictOf{}, 0
	for _, name := range names {
		bar.Say("testing " + name)
		v := p.testCase(ctx, store, name, update)
		if err := ctx.Err(); err != nil {
			return err
		}
		if !v.OK {
			failed++
		}
		all = append(all, v)
	}
	bar.Close()
	if p.flags.format.value == formatJSON {
		if err := p.json(all); err != nil {
			return err
		}
	} else {
		p.printVerdicts(all)
	}
	if failed > 0 {
		return &exit{engine.ExitError, fmt.Errorf("%d of %s failed", failed, plural(len(all), "case"))}
	}
	return nil
}

func (p *program) testCase(ctx context.Context, store *plugin.Store, name string, update bool) verdictOf {
	v := verdictOf{Case: name}
	c, err := cases.Read(p.flags.catalog, name)
	if err != nil {
		v.Error = err.Error()
		return v
	}
	found, err := p.found(ctx, store, c)
	switch {
	case err != nil:
		v.Error = err.Error()
	case update:
		v.Updated = c.Expect == nil || len(c.Judge(found)) > 0
		if v.Updated {
			err = c.Update(found)
		}
		if v.OK = err == nil; err != nil {
			v.Error = err.Error()
		}
	case c.Expect == nil:
		v.Error = "it does not say what to expect; gyrum test --update " + name + " writes it"
	default:
		v.Differences = c.Judge(found)
		v.OK = len(v.Differences) == 0
	}
	return v
}

// found plays the tape of a case.
func (p *program) found(ctx context.Context, store *plugin.Store, c *cases.Case) (outcome.Outcome, error) {
	t, err := readTapeWithin(p.flags.catalog, c.TapePath())
	if err != nil {
		return outcome.Outcome{}, err
	}
	pl, err := p.play(ctx, store, t, asked{catalog: p.flags.catalog, host: c.Host, selection: engine.Selection{Only: c.Only, Skip: c.Skip}})
	if err != nil {
		return outcome.Outcome{}, err
	}
	return outcome.Of(pl.report), nil
}

func (p *program) printVerdicts(all []verdictOf) {
	st := p.style()
	passed := 0
	for _, v := range all {
		switch {
		case v.Updated:
			fmt.Fprintf(p.out, "updated  %s\n", text.Clean(v.Case))
		case v.OK && !p.flags.quiet:
			fmt.Fprintf(p.out, "ok       %s\n", text.Clean(v.Case))
		case !v.OK:
			fmt.Fprintf(p.out, "%s   %s\n", st.Bold("FAILED"), text.Clean(v.Case))
		}
		if v.OK {
			passed++
		}
		for _, d := range v.Differences {
			if d.Want != "" {
				fmt.Fprintf(p.out, "  - %s\n", text.Clean(d.Want))
			}
			if d.Got != "" {
				fmt.Fprintf(p.out, "  + %s\n", text.Clean(d.Got))
			}
		}
		if v.Error != "" {
			fmt.Fprintf(p.out, "  %s\n", text.Clean(strings.TrimSpace(v.Error)))
		}
	}
	fmt.Fprintf(p.out, "%d of %s passed\n", passed, plural(len(all), "case"))
}

// caseName is what a case may be called.
var caseName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`)

// addCase puts a tape into the catalog's tests in its readable form, and a case beside it that expects what comes out.
func (p *program) addCase(ctx context.Context, file, name string) error {
	if !caseName.MatchString(name) {
		return usage("%q cannot name a case: write letters, digits, dots, - and _", name)
	}
	t, err := readTape(file)
	if err != nil {
		return err
	}
	store, err := p.store()
	if err != nil {
		return err
	}
	defer store.Close()
	pl, err := p.play(ctx, store, t, asked{catalog: p.flags.catalog, host: p.flags.host})
	if err != nil {
		return err
	}
	dir := filepath.Join(p.flags.catalog, cases.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	beside := filepath.Join(dir, name+".jsonl")
	out, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = t.WriteText(out)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = cases.Add(filepath.Join(dir, name+".yaml"), p.flags.host, name+".jsonl", outcome.Of(pl.report))
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	p.say("%s.yaml and %s are made, with %s expected", filepath.Join(dir, name), name+".jsonl", plural(len(pl.report.Items), "item"))
	return nil
}
