// Command lint judges how a catalog is written, as `gyrum lint` does and with the same library. Where the catalog is
// the repository of gyrum itself, it also judges that the set of resource types is closed: see package gate.
//
//	lint [-fix] [-since REV] [-format text|json|sarif|github] [-q] [CATALOG]
//
// It exits 0 where there is nothing to say, 1 with findings, 64 when it is used wrongly.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gyrum.ai/engine/lint"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/manifest/findings"
	"gyrum.ai/engine/own"
	"gyrum.ai/tools/gate"
)

// The exit codes of the contract.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 64
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("lint", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: lint [-fix] [-since REV] [-format %s] [-q] [CATALOG]\n", strings.Join(findings.Formats(), "|"))
		flags.PrintDefaults()
	}
	format := flags.String("format", "text", "how findings are written: "+strings.Join(findings.Formats(), ", "))
	fix := flags.Bool("fix", false, "rewrite what can be rewritten without changing what the catalog says")
	since := flags.String("since", "", "the git revision that roles are compared with; HEAD without it")
	quiet := flags.Bool("q", false, "only errors, and no word when there are none")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return exitClean
		}
		return exitUsage
	}
	root, wrong := findings.Called(flags.Args(), *format)
	if wrong != "" {
		fmt.Fprintf(stderr, "lint: %s\n", wrong)
		flags.Usage()
		return exitUsage
	}
	found, err := judge(root, *fix, lint.Options{Since: *since}, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "lint:", err)
		if errors.Is(err, lint.ErrRevision) {
			return exitUsage
		}
		return exitFindings
	}
	if *quiet {
		found = slices.DeleteFunc(found, func(f manifest.Finding) bool { return f.Severity == manifest.SeverityWarn })
	}
	if err := findings.Write(stdout, *format, root, found, append(lint.Rules(), gate.Rules()...)...); err != nil {
		fmt.Fprintln(stderr, "lint:", err)
		return exitFindings
	}
	if len(found) > 0 {
		fmt.Fprintf(stderr, "lint: %s in %s\n", findings.Count(len(found), "finding"), root)
		return exitFindings
	}
	return exitClean
}

// judge gives the findings of a catalog, after fixing it if asked to.
func judge(root string, fix bool, o lint.Options, stderr io.Writer) ([]manifest.Finding, error) {
	c, err := manifest.Open(root)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if fix {
		changed, err := lint.Fix(c)
		for _, name := range changed {
			fmt.Fprintln(stderr, "lint: fixed", name)
		}
		if err != nil {
			return nil, err
		}
	}
	types, err := own.Into(c)
	if err != nil {
		return nil, err
	}
	defer types.Close()
	found, err := lint.Catalog(c, o)
	found = append(found, types.Findings()...)
	if err != nil || !gate.Is(root) {
		return found, err
	}
	closed, notes, err := gate.Check(root)
	for _, note := range notes {
		fmt.Fprintln(stderr, "lint:", note)
	}
	return append(found, closed...), err
}
