package main

import (
	"cmp"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/journal"
)

func newCheckCmd(p *program) *cobra.Command {
	var sel selectionFlags
	var o checkFlags
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Show how the host differs from its catalog; changes nothing",
		Long: `check observes every resource that the catalog declares for the host and lists
what differs, with the one action that closes each gap. It changes nothing but
its own cache (--no-cache does without).

--record keeps what the host was asked and what it replied in a tape, which holds
no content and no secret. --replay judges such a tape in place of the host: it
needs no root and works anywhere, and gives the same report and the same plan.

Exit codes: 0 in sync, 2 drift found, 1 something could not be seen or done.`,
		Example: `  gyrum check
  gyrum check --catalog ./catalog --host web-1 --diff
  gyrum check -o json --only package
  gyrum check --record web-1.tape
  gyrum check --catalog ./catalog --replay web-1.tape`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.check(cmd, &sel, o) },
	}
	sel.add(p, cmd)
	cmd.Flags().BoolVar(&o.speculate, "speculate", false, "play the plan through on a model and note where it would not converge")
	cmd.Flags().BoolVar(&o.save, "save", false, "keep the report among the recorded runs, for history and show")
	cmd.Flags().StringVar(&o.record, "record", "", "write the tape `FILE` of this check, to be replayed anywhere")
	cmd.Flags().StringVar(&o.replay, "replay", "", "check the host of the tape `FILE` in place of this machine")
	for _, name := range []string{"record", "replay"} {
		_ = cmd.MarkFlagFilename(name, "tape", "jsonl")
	}
	return cmd
}

// checkFlags are check's own.
type checkFlags struct {
	speculate bool
	// save keeps the report; that is the one thing besides its cache that a check writes.
	save bool
	// record and replay are tapes, to be written and to be read.
	record, replay string
}

// check is also what apply --dry-run runs.
func (p *program) check(cmd *cobra.Command, sel *selectionFlags, flags checkFlags) error {
	if flags.replay != "" {
		return p.checkTape(cmd, sel, flags)
	}
	bar := p.progress()
	defer bar.Close()
	bar.Say("reading the catalog")
	var tape *tapeFile
	if flags.record != "" {
		var err error
		if tape, err = createTape(flags.record); err != nil { // while it can still be made
			return err
		}
		defer tape.close()
	}
	var folders []string
	if flags.save {
		dir, err := p.stateDir()
		if err == nil {
			err = journal.Prepare(fsys.System("/"), dir) // while it can still be made
		}
		if err != nil {
			return journalHint(err)
		}
		folders = append(folders, dir)
	}
	s, err := p.openConfined(folders...)
	if err != nil {
		return err
	}
	defer s.close()
	bar.Say("checking " + s.target.Host)
	if tape != nil {
		tape.record(s)
	}
	o := s.checkOptions(cmd.Context(), sel)
	o.Speculate = flags.speculate
	if tape != nil {
		tape.listen(&o)
	}
	report, err := engine.Check(cmd.Context(), o)
	bar.Close()
	if err != nil {
		return &exit{code: engine.ErrorCode(err), err: p.selectionHint(err, s.target, sel)}
	}
	if tape != nil {
		if err := tape.write(&o, report); err != nil {
			return err
		}
	}
	if p.flags.verbose {
		p.say("modules loaded: %s; where the host's replies are what they were, remembered answers stand",
			cmp.Or(strings.Join(s.store.Loaded(), ", "), "none"))
		for _, line := range s.looking.used.lines(s.store) {
			p.say("%s", line)
		}
	}
	if err := p.printPlan(cmd, s, sel, report); err != nil {
		return err
	}
	if flags.save {
		if err := journal.SaveCheck(fsys.System("/"), s.stateDir, report); err != nil {
			return journalHint(err)
		}
	}
	if code := engine.ExitCode(report); code != engine.ExitOK {
		return &exit{code: code}
	}
	return nil
}

// printPlan prints a plan as the caller wants it.
func (p *program) printPlan(cmd *cobra.Command, s *session, sel *selectionFlags, report *drift.Report) error {
	if p.flags.format.value == formatJSON {
		return p.reports(report)
	}
	_, err := p.out.Write([]byte(p.style().Plan(report, p.pageOptions(cmd, s, sel, report))))
	return err
}

func (p *program) pageOptions(cmd *cobra.Command, s *session, sel *selectionFlags, report *drift.Report) text.Options {
	o := text.Options{
		Command: p.again(cmd, sel, s.target.Host),
		Verbose: p.flags.verbose,
		Quiet:   p.flags.quiet,
	}
	if p.flags.verbose {
		o.InSync = s.inSync(sel, report)
	}
	if os.Geteuid() != 0 {
		o.Unseen = "What could not be seen may need root: run the same command with sudo."
	}
	if sel.diff {
		o.Diff = s.contentDiff
	}
	return o
}
