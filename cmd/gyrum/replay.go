package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine"
	"gyrum.ai/engine/outcome"
	"gyrum.ai/engine/plugin"
)

func newReplayCmd(p *program) *cobra.Command {
	var against string
	cmd := &cobra.Command{
		Use:   "replay --against CATALOG TAPE...",
		Short: "Show which hosts another catalog would change, from their tapes",
		Long: `replay judges each tape with another catalog, or with this gyrum's plugins, and
lists what comes out otherwise than when it was recorded: before a rollout, without
a host. ? marks a resource of which the tape does not tell enough, such as one that
the recorded catalog did not declare.

Exit codes: 0 no host would change, 2 some would, 1 a tape or the catalog cannot be
used for a host.`,
		Example: "  gyrum replay --against ../catalog-next tapes/*.tape",
		RunE: func(cmd *cobra.Command, args []string) error {
			if against == "" {
				return usage("%s needs --against and the catalog to judge by", cmd.CommandPath())
			}
			if len(args) == 0 {
				return usage("%s needs one tape or more; gyrum check --record makes one", cmd.CommandPath())
			}
			return p.replay(cmd.Context(), against, args)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "the `CATALOG` to judge the tapes by")
	_ = cmd.MarkFlagDirname("against")
	return cmd
}

// forecast is what another catalog makes of one tape.
type forecast struct {
	Tape string `json:"tape"`
	Host string `json:"host,omitempty"`
	// Then and Now count the items that were recorded and those that there would be.
	Then    int              `json:"items_then"`
	Now     int              `json:"items_now"`
	Changes []outcome.Change `json:"changes"`
	// Unknown are those changed resources of which the tape does not tell enough.
	Unknown []string `json:"unknown"`
	Error   string   `json:"error,omitempty"`
}

func (p *program) replay(ctx context.Context, against string, tapes []string) error {
	store, err := p.store()
	if err != nil {
		return err
	}
	defer store.Close()
	bar := p.progress()
	defer bar.Close()
	var all []forecast
	changed, failed := 0, 0
	for _, file := range tapes {
		bar.Say("replaying " + file)
		f := p.forecast(ctx, store, against, file)
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case f.Error != "":
			failed++
		case len(f.Changes) > 0:
			changed++
		}
		all = append(all, f)
	}
	bar.Close()
	if p.flags.format.value == formatJSON {
		if err := p.json(all); err != nil {
			return err
		}
	} else {
		p.printForecasts(all)
		p.say("%s: %d would change, %d would not, %s", plural(len(all), "host"), changed, len(all)-changed-failed, plural(failed, "error"))
	}
	switch {
	case failed > 0:
		return &exit{code: engine.ExitError}
	case changed > 0:
		return &exit{code: engine.ExitDrift}
	}
	return nil
}

func (p *program) forecast(ctx context.Context, store *plugin.Store, against, file string) forecast {
	f := forecast{Tape: file, Changes: []outcome.Change{}, Unknown: []string{}}
	t, err := readTape(file)
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.Host, f.Then = cmp.Or(p.flags.host, t.Header.Host), len(t.Header.Found.Items)
	pl, err := p.play(ctx, store, t, asked{catalog: against, host: p.flags.host})
	if err != nil {
		f.Error = err.Error()
		return f
	}
	f.Now = len(pl.report.Items)
	f.Changes = outcome.Compare(t.Header.Found, outcome.Of(pl.report))
	for _, c := range f.Changes {
		if pl.unknown[c.ID] {
			f.Unknown = append(f.Unknown, c.ID)
		}
	}
	return f
}

// printForecasts prints a table: a line a host, and its changes beneath each other in the last column.
func (p *program) printForecasts(all []forecast) {
	wide := len("HOST")
	for _, f := range all {
		wide = max(wide, len(f.name()))
	}
	fmt.Fprintf(p.out, "%-*s  THEN  NOW  CHANGES\n", wide, "HOST")
	for _, f := range all {
		if f.Error != "" {
			fmt.Fprintf(p.out, "%-*s  %4s  %3s  error: %s\n", wide, text.Clean(f.name()), "", "", text.Clean(f.Error))
			continue
		}
		lead := fmt.Sprintf("%-*s  %4d  %3d  ", wide, text.Clean(f.name()), f.Then, f.Now)
		if len(f.Changes) == 0 {
			fmt.Fprintf(p.out, "%snone\n", lead)
		}
		for _, c := range f.Changes {
			fmt.Fprintf(p.out, "%s%s\n", lead, text.Clean(f.words(c)))
			lead = strings.Repeat(" ", len(lead))
		}
	}
}

func (f forecast) name() string { return cmp.Or(f.Host, filepath.Base(f.Tape)) }

// words says in a line how a resource would fare: + it becomes an item, - it is none any more, ~ it is another one.
func (f forecast) words(c outcome.Change) string {
	for _, id := range f.Unknown {
		if id == c.ID {
			return "? " + c.ID + ": not on the tape"
		}
	}
	switch {
	case c.Now == nil:
		return "- " + item(*c.Then)
	case c.Then == nil:
		return "+ " + item(*c.Now)
	case c.Then.Verb == c.Now.Verb && c.Then.Severity == c.Now.Severity:
		return "~ " + item(*c.Now) + ", with other parameters"
	}
	return "~ " + item(*c.Now) + ", not " + strings.TrimSuffix(item(*c.Then), " "+c.ID)
}

func item(l outcome.Line) string {
	words := string(l.Verb) + " " + l.ID
	switch {
	case l.Blocked:
		words = "blocked " + words
	case l.Severity == "error" || l.Severity == "warn":
		words = string(l.Severity) + " " + l.Reason + " " + l.ID
	}
	return words
}
