package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gyrum.ai/engine/journal"
)

// pollJournal is how often events --follow looks for new records.
const pollJournal = 500 * time.Millisecond

func newEventsCmd(p *program) *cobra.Command {
	var follow bool
	var run string
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Print the records of the journal: every intent, effect and outcome",
		Example: `  gyrum events --run last
  gyrum events --follow -o json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := p.stateDir()
			if err != nil {
				return err
			}
			if run != "" {
				r, err := p.recorded(run)
				if err != nil {
					return err
				}
				run = r.summary.RunID
			}
			f := journal.Follow(stateFS(), dir, run)
			for {
				records, err := f.Next()
				if err != nil {
					return journalHint(err)
				}
				for _, rec := range records {
					if err := p.event(rec); err != nil {
						return err
					}
				}
				if !follow || p.out.err != nil {
					return nil
				}
				select {
				case <-cmd.Context().Done():
					return nil
				case <-time.After(pollJournal):
				}
			}
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is recorded from now on")
	cmd.Flags().StringVar(&run, "run", "", "only this `RUN`, as show takes it")
	completeFlag(cmd, "run", p.completeRuns)
	return cmd
}

func (p *program) event(rec journal.Record) error {
	if p.flags.format.value == formatJSON {
		return p.json(rec)
	}
	_, err := fmt.Fprint(p.out, p.style().Event(rec))
	return err
}
