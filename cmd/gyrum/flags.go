package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/term"
	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
)

// commonFlags are those that every command takes.
type commonFlags struct {
	catalog  string
	host     string
	format   choice
	stateDir string
	cacheDir string
	noCache  bool
	noColor  bool
	quiet    bool
	verbose  bool
}

// defaultStateDir holds the journal of a host's applies.
const defaultStateDir = "/var/lib/gyrum"

// The formats of data.
const (
	formatText = "text"
	formatJSON = "json"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

// String gives the value as it is written.
func (c *choice) String() string { return c.value }

// Set takes a value from the command line.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("choose one of %s", strings.Join(c.of, ", "))
	}
	c.value = s
	return nil
}

// Type names the value in the help.
func (c *choice) Type() string { return strings.Join(c.of, "|") }

func (c *commonFlags) add(cmd *cobra.Command, getenv func(string) string) {
	c.format = choice{value: formatText, of: []string{formatText, formatJSON}}
	catalog := getenv("GYRUM_CATALOG")
	if catalog == "" {
		catalog = "."
	}
	f := cmd.PersistentFlags()
	f.StringVar(&c.catalog, "catalog", catalog, "`FOLDER` with hosts/ and host-roles/; $GYRUM_CATALOG sets the default")
	f.StringVar(&c.host, "host", "", "`NAME` of the host record to use (this machine's short name in lower case)")
	f.VarP(&c.format, "output", "o", "how data is printed")
	f.StringVar(&c.stateDir, "state-dir", defaultStateDir, "`FOLDER` where the record of applies lives")
	f.StringVar(&c.cacheDir, "cache-dir", "", "`FOLDER` where compiled plugins are kept (/var/cache/gyrum for root, the user's cache folder otherwise)")
	f.BoolVar(&c.noCache, "no-cache", false, "use and write no cache")
	f.BoolVar(&c.noColor, "no-color", false, "use no colours; so does a NO_COLOR in the environment")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "print errors and the summary only")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "say more: every reason, what is in sync, what the program does")
}

// hostName is the host to work on.
func (p *program) hostName() (string, error) {
	if p.flags.host != "" {
		return p.flags.host, nil
	}
	return machineName()
}

// machineName is this machine's, as a host record has it.
func machineName() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("this machine's name could not be read (%w); name the host with --host", err)
	}
	return shortName(name), nil
}

// shortName is how records call a machine: what stands before the first dot, in lower case, as DNS knows no other.
func shortName(machine string) string {
	short, _, _ := strings.Cut(machine, ".")
	return strings.ToLower(short)
}

// cacheDir is the cache folder, "" when there is to be none.
func (p *program) cacheDir() string {
	switch {
	case p.flags.noCache:
		return ""
	case p.flags.cacheDir != "":
		return p.flags.cacheDir
	case os.Geteuid() == 0:
		return "/var/cache/gyrum"
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "gyrum")
}

// style is what standard output can show.
func (p *program) style() text.Style {
	return text.Style{
		Color: !p.flags.noColor && term.Color(p.out.f, p.getenv),
		ASCII: !term.UTF8(p.getenv),
		Width: term.Width(p.out.f),
	}
}

// progress is the line of progress; nil where nobody would see it.
func (p *program) progress() *term.Progress {
	if p.flags.quiet || p.getenv("TERM") == "dumb" || !term.IsTerminal(p.err) {
		return nil
	}
	return term.NewProgress(p.err, func() int { return term.Width(p.err) })
}

// selectionFlags narrow a run; check and apply have them.
type selectionFlags struct {
	only, skip []string
	diff       bool
}

func (s *selectionFlags) add(p *program, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.only, "only", nil, "only this `ROLE|TYPE|ID` (may be given again)")
	f.StringArrayVar(&s.skip, "skip", nil, "all but this `ROLE|TYPE|ID` (may be given again)")
	f.BoolVar(&s.diff, "diff", false, "show how the contents of files differ; never for secrets")
	completeFlag(cmd, "only", p.completeSelection)
	completeFlag(cmd, "skip", p.completeSelection)
}

func (s *selectionFlags) selection() engine.Selection {
	return engine.Selection{Only: s.only, Skip: s.skip}
}

// again writes the flags that name the same plan anew: what an apply must be given to compute the plan of a check.
func (p *program) again(cmd *cobra.Command, s *selectionFlags, host string) string {
	words := []string{"gyrum", "apply"}
	if os.Geteuid() != 0 && !cmd.Flags().Changed("state-dir") {
		words = []string{"sudo", "gyrum", "apply"} // the record of applies is root's
	}
	if cmd.Flags().Changed("catalog") || p.getenv("GYRUM_CATALOG") != "" {
		words = append(words, "--catalog", p.flags.catalog)
	}
	words = append(words, "--host", host)
	if cmd.Flags().Changed("state-dir") {
		words = append(words, "--state-dir", p.flags.stateDir)
	}
	for _, v := range s.only {
		words = append(words, "--only", v)
	}
	for _, v := range s.skip {
		words = append(words, "--skip", v)
	}
	for i, w := range words {
		words[i] = text.ShellQuote(text.Clean(w))
	}
	return strings.Join(words, " ")
}
