// Command validate judges a whole catalog: every host, every role and every link between them, as `gyrum validate`
// does and with the same library.
//
//	validate [-format text|json|sarif|github] [-q] [CATALOG]
//
// A catalog's own types and its gyrum.lock are judged too; whether the lock accepts the plugins of a gyrum is for that
// gyrum to say. It exits 0 where the catalog is valid, 1 with findings, 64 when it is used wrongly.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/manifest/findings"
	"gyrum.ai/engine/own"
)

// The exit codes of the contract.
const (
	exitValid    = 0
	exitFindings = 1
	exitUsage    = 64
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("validate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "usage: validate [-format %s] [-q] [CATALOG]\n", strings.Join(findings.Formats(), "|"))
		flags.PrintDefaults()
	}
	format := flags.String("format", "text", "how findings are written: "+strings.Join(findings.Formats(), ", "))
	quiet := flags.Bool("q", false, "say nothing when the catalog is valid")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return exitValid
		}
		return exitUsage
	}
	root, wrong := findings.Called(flags.Args(), *format)
	if wrong != "" {
		fmt.Fprintf(stderr, "validate: %s\n", wrong)
		flags.Usage()
		return exitUsage
	}
	c, err := manifest.Open(root)
	if err != nil {
		fmt.Fprintf(stderr, "validate: %v; name a catalog's folder: validate CATALOG\n", err)
		return exitFindings
	}
	defer c.Close()
	types, err := own.Into(c)
	if err != nil {
		fmt.Fprintln(stderr, "validate:", err)
		return exitFindings
	}
	defer types.Close()
	found := append(c.Validate(), types.Findings()...)
	if err := findings.Write(stdout, *format, root, found); err != nil {
		fmt.Fprintln(stderr, "validate:", err)
		return exitFindings
	}
	if len(found) > 0 {
		fmt.Fprintf(stderr, "validate: %s in %s\n", findings.Count(len(found), "finding"), root)
		return exitFindings
	}
	if !*quiet {
		fmt.Fprintf(stderr, "valid: %s, %s\n", findings.Count(len(c.HostNames()), "host"), findings.Count(len(c.RoleNames()), "role"))
	}
	return exitValid
}
