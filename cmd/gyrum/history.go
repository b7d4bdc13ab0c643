package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/journal"
)

// recentRuns is how many runs history lists unless asked for more.
const recentRuns = 20

func newHistoryCmd(p *program) *cobra.Command {
	limit := recentRuns
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List the applies of this host and the checks that were saved",
		Example: `  gyrum history
  gyrum history --limit 0 -o json
  gyrum history verify`,
		Args: func(cmd *cobra.Command, args []string) error { return unknownCommand(cmd, args) },
		RunE: func(*cobra.Command, []string) error {
			if limit < 0 {
				return usage("--limit %d: the number of runs is 0, for all, or more", limit)
			}
			dir, err := p.stateDir()
			if err != nil {
				return err
			}
			runs, err := journal.List(stateFS(), dir)
			if err != nil {
				return journalHint(err)
			}
			if limit > 0 && len(runs) > limit {
				runs = runs[len(runs)-limit:]
			}
			if p.flags.format.value == formatJSON {
				return p.json(append([]journal.Summary{}, runs...))
			}
			if len(runs) == 0 {
				p.say("no apply of this host is recorded in %s", dir)
				return nil
			}
			fmt.Fprint(p.out, p.style().History(runs))
			return nil
		},
	}
	cmd.Flags().IntVar(&limit, "limit", recentRuns, "list the newest `N` runs; 0 lists all")
	cmd.AddCommand(newHistoryVerifyCmd(p), newHistoryPruneCmd(p))
	return cmd
}

// anchorForm is what an anchor looks like.
var anchorForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func newHistoryVerifyCmd(p *program) *cobra.Command {
	var anchor string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Show whether a record of the journal was changed, dropped or moved",
		Long: `verify follows the chain of digests through all records of all runs. It prints the
digest of the newest record: kept somewhere else and given to a later verify as
--anchor, it also proves that nothing up to there was cut off or replaced, which a
chain by itself cannot show.

Exit codes: 0 whole, 1 damaged, or the anchor is not in the chain.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if anchor != "" && !anchorForm.MatchString(anchor) {
				return usage("--anchor %s: an anchor is sha256: and 64 hexadecimal digits, as an earlier verify printed it", anchor)
			}
			dir, err := p.stateDir()
			if err != nil {
				return err
			}
			v, err := journal.Verify(stateFS(), dir, anchor)
			if err != nil {
				return journalHint(err)
			}
			if p.flags.format.value == formatJSON {
				if err := p.json(v); err != nil {
					return err
				}
			} else {
				for _, d := range v.Damage {
					fmt.Fprintln(p.out, text.Clean(d.String()))
				}
				fmt.Fprintf(p.out, "%s, %s in the chain", plural(v.Records, "record"), plural(v.Runs, "run"))
				if v.Removed > 0 {
					fmt.Fprintf(p.out, ", %s removed by retention", plural(v.Removed, "run"))
				}
				fmt.Fprintln(p.out)
				if v.Head != "" {
					fmt.Fprintf(p.out, "anchor %s\n", v.Head)
				}
			}
			switch {
			case len(v.Damage) > 0:
				return &exit{engine.ExitError, fmt.Errorf("the journal is not as it was written: %s", plural(len(v.Damage), "place"))}
			case anchor != "" && !v.Anchored:
				return &exit{engine.ExitError, fmt.Errorf("the anchor %s is not in the chain: records were removed or replaced", anchor)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&anchor, "anchor", "", "the `DIGEST` that an earlier verify printed")
	return cmd
}

func newHistoryPruneCmd(p *program) *cobra.Command {
	var keep journal.Retention
	var days int
	cmd := &cobra.Command{
		Use:     "prune",
		Short:   "Remove old runs; an anchor keeps the chain of the rest whole",
		Example: "  gyrum history prune --days 400 --runs 1000",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if days < 0 || keep.MaxRuns < 0 || days == 0 && keep.MaxRuns == 0 {
				return usage("history prune needs --days or --runs, each 1 or more")
			}
			keep.MaxAge = time.Duration(days) * day
			dir, err := p.stateDir()
			if err != nil {
				return err
			}
			release, err := journal.KernelLock{}.Lock(filepath.Join(dir, journal.LockName), journal.Owner{PID: os.Getpid(), StartedAt: time.Now()})
			if err != nil {
				return &exit{engine.ErrorCode(err), err}
			}
			defer release()
			removed, err := journal.Prune(fsys.System("/"), dir, keep, time.Now())
			if p.flags.format.value == formatJSON {
				if jerr := p.json(map[string]any{"removed": append([]string{}, removed...)}); jerr != nil {
					return jerr
				}
			} else {
				fmt.Fprintf(p.out, "removed %s\n", plural(len(removed), "run"))
			}
			return err
		},
	}
	cmd.Flags().IntVar(&days, "days", 0, "remove what is older than `N` days")
	cmd.Flags().IntVar(&keep.MaxRuns, "runs", 0, "keep the newest `N` applies, and as many saved checks")
	return cmd
}

// stateDir is the state folder, absolute.
func (p *program) stateDir() (string, error) { return filepath.Abs(p.flags.stateDir) }

func stateFS() fsys.ReadFS { return fsys.ReadOnly(fsys.System("/")) }

// journalHint says who may read the journal.
func journalHint(err error) error {
	if os.Geteuid() != 0 && strings.Contains(err.Error(), "permission denied") {
		return fmt.Errorf("%w; the record of applies is root's: run it with sudo", err)
	}
	return err
}
