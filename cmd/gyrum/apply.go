package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/term"
	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
)

// applyFlags are apply's own.
type applyFlags struct {
	selectionFlags
	dryRun      bool
	confirmPlan string
	planFile    string
	autoConfirm bool
	parallel    int
	keepDays    int
	keepRuns    int
}

func newApplyCmd(p *program) *cobra.Command {
	var a applyFlags
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Execute the plan that check shows, once it is confirmed",
		Long: `apply computes the plan that check shows and executes it once it is confirmed: by
the plan's hash, by a saved report, by a yes at the terminal, or by a standing
yes for timers. A plan that is no longer the host's is refused and the new one
shown. Afterwards everything is observed again.

Exit codes: 0 converged, 1 an action failed or was blocked, 2 not converged,
3 not confirmed, 4 another apply runs.`,
		Example: `  gyrum apply
  gyrum apply --confirm-plan sha256:…
  gyrum check -o json > plan.json; gyrum apply --plan plan.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.dryRun {
				return p.check(cmd, &a.selectionFlags, checkFlags{speculate: true})
			}
			return p.apply(cmd, &a)
		},
	}
	a.selectionFlags.add(p, cmd)
	f := cmd.Flags()
	f.BoolVar(&a.dryRun, "dry-run", false, "do what check does")
	f.StringVar(&a.confirmPlan, "confirm-plan", "", "execute the plan that has this `HASH`, and no other")
	f.StringVar(&a.planFile, "plan", "", "execute the plan of this report `FILE`, as check -o json printed it; - reads it from standard input")
	f.BoolVar(&a.autoConfirm, "auto-confirm", false, "execute whatever the plan is; for timers and bootstrap")
	f.IntVar(&a.parallel, "parallel", 1, "run at most `N` independent roles at once")
	f.IntVar(&a.keepDays, "keep-days", int(journal.Standing.MaxAge/day), "afterwards let go of runs older than `N` days; 0 keeps all")
	f.IntVar(&a.keepRuns, "keep-runs", journal.Standing.AtLeast, "but keep the newest `N` runs, however old")
	return cmd
}

// day is the unit in which a retention is told.
const day = 24 * time.Hour

// settle checks the flags against each other and reads the plan file.
func (a *applyFlags) settle(p *program, host string) error {
	given := 0
	for _, yes := range []bool{a.confirmPlan != "", a.planFile != "", a.autoConfirm} {
		if yes {
			given++
		}
	}
	if given > 1 {
		return usage("--confirm-plan, --plan and --auto-confirm exclude each other: give one")
	}
	if a.parallel < 1 {
		return usage("--parallel %d: the number of roles is 1 or more", a.parallel)
	}
	if a.keepDays < 0 || a.keepRuns < 0 {
		return usage("--keep-days %d, --keep-runs %d: each is 0 or more", a.keepDays, a.keepRuns)
	}
	if a.planFile == "" {
		return nil
	}
	plan, err := readPlan(p.in, a.planFile)
	if err != nil {
		return err
	}
	if plan.Host != host {
		return &exit{engine.ExitRefused, fmt.Errorf("%s is a plan for host %s, and this is %s", a.planFile, plan.Host, host)}
	}
	if plan.PlanHash == "" {
		return &exit{engine.ExitRefused, fmt.Errorf("%s can confirm nothing: %s", a.planFile, plan.NoPlanHash)}
	}
	a.confirmPlan = plan.PlanHash
	return nil
}

// readPlan reads the one report of a saved check.
func readPlan(stdin io.Reader, file string) (*drift.Report, error) {
	r := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, usage("--plan: %w", err)
		}
		defer f.Close()
		r = f
	}
	dec := json.NewDecoder(r)
	plan := new(drift.Report)
	if err := dec.Decode(plan); err != nil {
		return nil, usage("--plan %s is no report of gyrum check -o json: %w", file, err)
	}
	if !drift.IsReport(plan.Schema) || plan.Host == "" {
		return nil, usage("--plan %s is no report of gyrum check -o json: its schema is %q", file, plan.Schema)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, usage("--plan %s holds more than one report; give the one of a check", file)
	}
	return plan, nil
}

func (p *program) apply(cmd *cobra.Command, a *applyFlags) error {
	bar := p.progress()
	defer bar.Close()
	bar.Say("reading the catalog")
	name, err := p.hostName()
	if err != nil {
		return err
	}
	if err := a.settle(p, name); err != nil {
		return err
	}
	s, err := p.open()
	if err != nil {
		return err
	}
	defer s.close()

	o := s.applyOptions(cmd.Context(), &a.selectionFlags)
	o.ConfirmPlan, o.AutoConfirm, o.Parallel = a.confirmPlan, a.autoConfirm, a.parallel
	o.Confirmer = confirmer(p)
	if a.keepDays > 0 {
		o.Keep = journal.Retention{MaxAge: time.Duration(a.keepDays) * day, AtLeast: a.keepRuns}
	}
	asText := p.flags.format.value == formatText
	if asText && a.confirmPlan == "" && !a.autoConfirm && term.IsTerminal(p.in) {
		o.Confirm = func(plan *drift.Report) (bool, error) {
			bar.Pause()
			if err := p.printPlan(cmd, s, &a.selectionFlags, plan); err != nil {
				return false, err
			}
			return p.ask(plan)
		}
	}
	follow := p.style().Follow(s.declared())
	o.Progress = func(it drift.Item) {
		if it.Result == nil {
			bar.Say(fmt.Sprintf("%s %s", it.Action.Verb, it.Resource.ID))
			return
		}
		bar.Pause()
		if asText && (!p.flags.quiet || it.Result.Status != drift.Applied) {
			fmt.Fprint(p.out, follow.Item(it))
		}
	}
	bar.Say("checking " + s.target.Host)
	result, err := engine.Apply(cmd.Context(), o)
	bar.Close()
	if err != nil {
		return &exit{code: engine.ErrorCode(err), err: p.selectionHint(err, s.target, &a.selectionFlags)}
	}
	return p.outcome(cmd, s, a, result, o.Confirm != nil)
}

// outcome prints what came of an apply and ends with its exit code. asked says that a person has seen the plan.
func (p *program) outcome(cmd *cobra.Command, s *session, a *applyFlags, result *engine.ApplyResult, asked bool) error {
	code := result.ExitCode()
	if result.Refused {
		if !asked || p.flags.format.value == formatJSON {
			if err := p.printPlan(cmd, s, &a.selectionFlags, result.Plan); err != nil {
				return err
			}
		}
		return &exit{code, fmt.Errorf("nothing was changed: %s", result.Why)}
	}
	if p.flags.format.value == formatJSON {
		if err := p.reports(result.Executed, result.After); err != nil {
			return err
		}
	} else {
		page := p.pageOptions(cmd, s, &a.selectionFlags, result.After)
		fmt.Fprint(p.out, p.style().Verdict(result.Executed, result.After, page))
	}
	if result.Interrupted {
		return &exit{code, errors.New("interrupted: the action in hand was finished, the rest was skipped; run it again to go on")}
	}
	if code != engine.ExitOK {
		return &exit{code, result.Err}
	}
	return nil
}

// ask puts the question to the person at the controlling terminal, wherever the streams lead. Only a whole yes is one.
func (p *program) ask(plan *drift.Report) (bool, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer tty.Close()
	fmt.Fprintf(tty, "\nApply this plan to host %s? Only yes does it: ", plan.Host)
	line, err := bufio.NewReader(tty).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("the answer could not be read: %w", err)
	}
	if err != nil {
		fmt.Fprintln(tty)
	}
	return strings.TrimSpace(line) == "yes", nil
}
