package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
)

func newShowCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN[#ITEM]",
		Short: "Show a recorded run, or one item of it with everything that it changed",
		Long: `show prints an apply from the journal, or a check that was saved. RUN is a run's id,
a beginning of it that no other has, or last. RUN#ITEM names one item, counted
from 0 or by its resource's id: the reference that a ticket carries.`,
		Example: `  gyrum show last
  gyrum show '01KBCD…#2' -o json
  gyrum show 'last#file:/etc/motd'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs one run, such as last; gyrum history lists them", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: p.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			name, ref, itemised := strings.Cut(args[0], "#")
			if itemised {
				run, item, err := p.recordedItem(args[0], name, ref)
				if err != nil {
					return err
				}
				return p.showItem(run, item)
			}
			run, err := p.recorded(name)
			if err != nil {
				return err
			}
			return p.showRun(run)
		},
	}
}

// recordedRun is a run as it is kept: an apply's log or a saved check's report.
type recordedRun struct {
	summary journal.Summary
	log     *journal.Log
	report  *drift.Report
}

func (r *recordedRun) items() []drift.Item {
	if r.report != nil {
		return r.report.Items
	}
	return r.log.Items
}

// entry gives an item of the run, which must have it.
func (r *recordedRun) entry(item int) text.Entry {
	e := text.Entry{Run: r.summary, Index: item, Item: r.items()[item], PlanHash: r.summary.PlanHash}
	if r.log != nil {
		e.Effects = r.log.Effects(item)
		if intent := r.log.Intent(item); intent != nil {
			e.PlanHash, e.Plugin = intent.PlanHash, intent.Plugin
		}
	}
	return e
}

// recorded finds a run by its id, by a beginning of it, or the last.
func (p *program) recorded(name string) (*recordedRun, error) {
	dir, err := p.stateDir()
	if err != nil {
		return nil, err
	}
	runs, err := journal.List(stateFS(), dir)
	if err != nil {
		return nil, journalHint(err)
	}
	var found []journal.Summary
	for i, r := range runs {
		if name != "" && strings.HasPrefix(r.RunID, strings.ToUpper(name)) || name == "last" && i == len(runs)-1 {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		if len(runs) == 0 {
			return nil, fmt.Errorf("%w: nothing is recorded in %s", journal.ErrNoRun, dir)
		}
		return nil, fmt.Errorf("%w: %s in %s; gyrum history lists them", journal.ErrNoRun, name, dir)
	case 1:
	default:
		return nil, usage("%s is the beginning of %d runs; write more of it", name, len(found))
	}
	r := &recordedRun{summary: found[0]}
	if r.summary.Kind == "check" {
		r.report, err = journal.ReadCheck(stateFS(), dir, r.summary.RunID)
	} else {
		r.log, err = journal.Read(stateFS(), dir, r.summary.RunID)
	}
	return r, err
}

// recordedItem finds a run and an item of it, by its number or by its resource's id; whole is how the two were written.
func (p *program) recordedItem(whole, name, ref string) (*recordedRun, int, error) {
	n, err := strconv.Atoi(ref)
	byID := err != nil && strings.Contains(ref, ":")
	if !byID && (err != nil || n < 0) {
		return nil, 0, usage("%s: an item is a number from 0, or the id of its resource", whole)
	}
	run, err := p.recorded(name)
	if err != nil {
		return nil, 0, err
	}
	items := run.items()
	if !byID {
		if n >= len(items) {
			return nil, 0, fmt.Errorf("run %s has %s, counted from 0; gyrum show %s lists them", run.summary.RunID, plural(len(items), "item"), name)
		}
		return run, n, nil
	}
	var ids, found []string
	for i, it := range items {
		ids = append(ids, it.Resource.ID)
		if it.Resource.ID == ref {
			n, found = i, append(found, fmt.Sprintf("%s#%d", name, i))
		}
	}
	switch len(found) {
	case 0:
		return nil, 0, fmt.Errorf("run %s has no item of %s: it was in sync, or not among what was looked at%s", run.summary.RunID, ref, didYouMean(ref, ids, ""))
	case 1:
		return run, n, nil
	}
	return nil, 0, usage("%s: the run has %s of it, in several passes; name one: %s", whole, plural(len(found), "item"), strings.Join(found, ", "))
}

func (p *program) showRun(r *recordedRun) error {
	if r.report != nil {
		if p.flags.format.value == formatJSON {
			return p.reports(r.report)
		}
		fmt.Fprint(p.out, p.style().RunHead(r.summary), p.style().Plan(r.report, text.Options{Verbose: p.flags.verbose, Quiet: p.flags.quiet}))
		return nil
	}
	if p.flags.format.value == formatJSON {
		return p.json(struct {
			journal.Summary
			Items       []drift.Item        `json:"items"`
			After       *drift.Report       `json:"after,omitempty"`
			Interrupted []drift.Interrupted `json:"interrupted,omitempty"`
		}{r.summary, append([]drift.Item{}, r.log.Items...), r.log.After, r.log.Interrupted})
	}
	fmt.Fprint(p.out, p.style().Run(r.summary, r.log))
	return nil
}

func (p *program) showItem(r *recordedRun, item int) error {
	entry := r.entry(item)
	if p.flags.format.value == formatJSON {
		return p.json(struct {
			Run       string            `json:"run_id"`
			Index     int               `json:"index"`
			PlanHash  string            `json:"plan_hash,omitempty"`
			Plugin    string            `json:"plugin,omitempty"`
			Confirmed journal.Confirmer `json:"confirmed,omitzero"`
			Item      drift.Item        `json:"item"`
			Effects   []journal.Effect  `json:"effects"`
		}{r.summary.RunID, item, entry.PlanHash, entry.Plugin, r.summary.Confirmed, entry.Item, append([]journal.Effect{}, entry.Effects...)})
	}
	fmt.Fprint(p.out, p.style().Item(entry))
	return nil
}

// completeRuns completes the ids of recorded runs.
func (p *program) completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := p.stateDir()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, err := journal.List(stateFS(), dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	out := []string{"last"}
	for _, r := range runs {
		out = append(out, fmt.Sprintf("%s\t%s of %s, %s", r.RunID, r.Kind, r.Host, r.StartedAt.UTC().Format("2006-01-02 15:04:05Z")))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}
