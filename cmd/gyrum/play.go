package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/outcome"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/plugin/tape"
)

// played is a check of a tape.
type played struct {
	tape   *tape.Tape
	report *drift.Report
	// unknown are the resources of which the tape does not hold enough, by id.
	unknown map[string]bool
}

// asked is which part of which host a tape is played to.
type asked struct {
	catalog, host string
	selection     engine.Selection
	speculate     bool
}

// openTape opens a catalog to play a tape to it. Whatever asked leaves open is the tape's own.
func (p *program) openTape(store *plugin.Store, t *tape.Tape, a asked, ready func(*plugin.Store)) (*session, engine.CheckOptions, error) {
	name := cmp.Or(a.host, t.Header.Host)
	if name == "" {
		return nil, engine.CheckOptions{}, errors.New("the tape names no host; name one with --host")
	}
	s, err := p.openHost(store, a.catalog, name, ready)
	if err != nil {
		return nil, engine.CheckOptions{}, err
	}
	if s.target.Catalog.Digest == t.Header.Catalog.Digest {
		s.target.Catalog = t.Header.Catalog // the same content; which commit it was is what the tape says
	}
	player := t.Player(s.target.Resources)
	s.looking = &looking{asker: player}
	stood := engine.Standing{}
	stood.Number, stood.Interrupted = t.Header.Applies, t.Header.Interrupted
	if t.Header.NoPlanHash != "" {
		stood.Unknown = errors.New(t.Header.NoPlanHash)
	}
	o := engine.CheckOptions{
		Target:    s.target,
		Selection: a.selection,
		Modules:   s.modules(),
		Standing:  func() engine.Standing { return stood },
		Resolve:   player.Resolve,
		Speculate: a.speculate,
	}
	if len(o.Selection.Only) == 0 && len(o.Selection.Skip) == 0 {
		o.Selection = engine.Selection{Only: t.Header.Only, Skip: t.Header.Skip}
	}
	return s, o, nil
}

// play checks a tape.
func (p *program) play(ctx context.Context, store *plugin.Store, t *tape.Tape, a asked) (*played, error) {
	s, o, err := p.openTape(store, t, a, func(*plugin.Store) {})
	if err != nil {
		return nil, err
	}
	defer s.catalog.Close()
	defer s.looking.close()
	return s.play(ctx, t, o)
}

func (s *session) play(ctx context.Context, t *tape.Tape, o engine.CheckOptions) (*played, error) {
	o.Plugins = s.looking.begin(ctx, s.store, plugin.Untraced())
	report, err := engine.Check(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &played{tape: t, report: report, unknown: map[string]bool{}}
	for _, it := range report.Items {
		if tape.Unknown(it) {
			out.unknown[it.Resource.ID] = true
		}
	}
	return out, nil
}

// checkTape is check --replay.
func (p *program) checkTape(cmd *cobra.Command, sel *selectionFlags, flags checkFlags) error {
	switch {
	case flags.record != "":
		return usage("--record and --replay exclude each other: a tape of a tape is that tape")
	case flags.save:
		return usage("--save keeps what this machine is like, and --replay looks at a tape")
	case sel.diff:
		return usage("--diff needs the contents on the host, and a tape holds their digests only")
	}
	t, err := readTape(flags.replay)
	if err != nil {
		return err
	}
	store, err := p.store()
	if err != nil {
		return err
	}
	a := asked{catalog: p.flags.catalog, host: p.flags.host, selection: sel.selection(), speculate: flags.speculate}
	s, o, err := p.openTape(store, t, a, p.confining())
	if err != nil {
		store.Close()
		return err
	}
	defer s.close()
	out, err := s.play(cmd.Context(), t, o)
	if err != nil {
		return &exit{code: engine.ErrorCode(err), err: p.selectionHint(err, s.target, sel)}
	}
	sel.only, sel.skip = o.Selection.Only, o.Selection.Skip
	if err := p.printPlan(cmd, s, sel, out.report); err != nil {
		return err
	}
	if !p.flags.quiet {
		p.say("%s", out.verdict(o))
	}
	if code := engine.ExitCode(out.report); code != engine.ExitOK {
		return &exit{code: code}
	}
	return nil
}

// verdict compares a replay with what was recorded, and names what makes the difference.
func (pl *played) verdict(o engine.CheckOptions) string {
	h := pl.tape.Header
	said := "replayed the tape of " + cmp.Or(h.Host, "a host")
	if !h.RecordedAt.IsZero() {
		said += " of " + h.RecordedAt.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if n := len(pl.unknown); n > 0 {
		said += fmt.Sprintf("; the tape does not tell enough of %s", plural(n, "resource"))
	}
	if pl.report.PlanHash == h.Found.PlanHash && len(outcome.Compare(h.Found, outcome.Of(pl.report))) == 0 {
		if pl.report.PlanHash != "" {
			return said + ": the plan that was recorded"
		}
		return said + ": what was recorded"
	}
	var other []string
	if pl.report.Host != h.Host {
		other = append(other, "another host record")
	}
	if pl.report.Catalog.Digest != h.Catalog.Digest {
		other = append(other, "another catalog")
	}
	for _, m := range o.Modules {
		if i := slices.IndexFunc(h.Plugins, func(r tape.Module) bool { return r.Type == m.Type }); i >= 0 && h.Plugins[i] != tape.Module(m) {
			other = append(other, "another version of the "+m.Type+" plugin")
		}
	}
	if !slices.Equal(o.Selection.Only, h.Only) || !slices.Equal(o.Selection.Skip, h.Skip) {
		other = append(other, "another selection")
	}
	if len(other) == 0 {
		other = append(other, "an edited tape or another gyrum")
	}
	return said + "; another plan than recorded, by " + strings.Join(other, ", ")
}
