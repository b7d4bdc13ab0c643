package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
)

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// History renders a list of runs, oldest first.
func (s Style) History(runs []journal.Summary) string {
	var b strings.Builder
	host := 0
	for _, r := range runs {
		host = max(host, len(r.Host))
	}
	for _, r := range runs {
		g, what := s.became(r)
		fmt.Fprintf(&b, "%s %s  %s  %-5s  %s  %s", s.glyph(g), r.RunID, s.paint(dim, moment(r.StartedAt)), r.Kind, pad(Clean(r.Host), host), what)
		if by := confirmed(r.Confirmed); by != "" {
			b.WriteString(s.paint(dim, ", "+by))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// became says in a few words what a run came to.
func (s Style) became(r journal.Summary) (glyph, string) {
	if r.Kind == "check" {
		if r.Items == 0 {
			return gDone, "in sync"
		}
		return gChange, count(r.Items, "item", "items")
	}
	did := fmt.Sprintf("%d of %s executed", r.Executed, count(r.Items, "item", "items"))
	if r.Items == 0 {
		did = "nothing to do"
	}
	switch {
	case r.ExitCode == nil:
		return gError, "cut off, " + did
	case *r.ExitCode == 0:
		return gDone, "converged, " + did
	case *r.ExitCode == 2:
		return gChange, "not converged, " + did
	}
	return gFailed, "errors, " + did
}

// confirmed words who confirmed a run.
func confirmed(c journal.Confirmer) string {
	if c.How == "" || c.How == journal.ByNothing { // nobody had to be asked
		return ""
	}
	how := map[string]string{journal.ByHash: "confirmed by hash", journal.ByYes: "confirmed at the terminal", journal.ByFlag: "confirmed beforehand"}[c.How]
	if how == "" {
		how = "confirmed by " + c.How
	}
	who := c.User
	if c.SudoUser != "" {
		who = c.SudoUser + " as " + who
	}
	if c.Via != "" && c.Via != "terminal" {
		who += " (" + c.Via + ")"
	}
	return Clean(strings.TrimSpace(how + ", " + who))
}

// RunHead renders what stands above a recorded run.
func (s Style) RunHead(r journal.Summary) string {
	var b strings.Builder
	rows := [][2]string{{r.Kind, r.RunID}, {"host", Clean(r.Host)}, {"began", moment(r.StartedAt)}}
	if !r.FinishedAt.IsZero() {
		rows = append(rows, [2]string{"took", Duration(r.FinishedAt.Sub(r.StartedAt))})
	}
	if r.PlanHash != "" {
		rows = append(rows, [2]string{"plan", r.PlanHash})
	}
	if by := confirmed(r.Confirmed); by != "" {
		rows = append(rows, [2]string{"by", by})
	}
	for _, row := range rows {
		fmt.Fprintf(&b, "%s %s\n", s.paint(dim, pad(row[0], 5)), row[1])
	}
	b.WriteString("\n")
	return b.String()
}

// Run renders a recorded apply.
func (s Style) Run(r journal.Summary, log *journal.Log) string {
	var b strings.Builder
	b.WriteString(s.RunHead(r))
	f := s.Follow(log.Items)
	for _, it := range log.Items {
		b.WriteString(f.Item(it))
	}
	for _, i := range log.Interrupted {
		s.words(&b, red, "cut off", fmt.Sprintf("while it did %s on %s; what became of it was not recorded", i.Verb, i.Resource))
	}
	if len(log.Items) > 0 {
		b.WriteString("\n")
	}
	if log.After != nil && len(log.After.Items) > 0 {
		b.WriteString("still not as declared:\n")
		s.items(&b, log.After.Items, Options{})
	}
	_, what := s.became(r)
	b.WriteString(what + "\n")
	return b.String()
}

// Entry is one item of a recorded run with everything that is known of it.
type Entry struct {
	Run   journal.Summary
	Index int
	Item  drift.Item
	// PlanHash is the plan that the item was executed in, Plugin the digest of the module that acted; empty when none did.
	PlanHash, Plugin string
	Effects          []journal.Effect
}

// Item renders an entry.
func (s Style) Item(e Entry) string {
	var b strings.Builder
	it, effects := e.Item, e.Effects
	rows := [][2]string{{"item", fmt.Sprintf("%s#%d", e.Run.RunID, e.Index)}, {"plan", e.PlanHash}, {"module", e.Plugin}, {"by", confirmed(e.Run.Confirmed)}}
	for _, row := range rows {
		if row[1] != "" {
			fmt.Fprintf(&b, "%s %s\n", s.paint(dim, pad(row[0], 6)), row[1])
		}
	}
	f := s.Follow([]drift.Item{it})
	b.WriteString(f.Item(it))
	s.words(&b, dim, "reason", it.Reason.Text+" ("+it.Reason.Code+")")
	if it.Result != nil && it.Blocked == "" && it.Note != "" && it.Result.Status == drift.Applied {
		s.words(&b, dim, "note", it.Note)
	}
	for _, part := range []struct {
		title string
		raw   json.RawMessage
	}{{"declared", it.Declared}, {"observed", it.Observed}, {"params", it.Action.Params}} {
		s.record(&b, part.title, part.raw)
		if part.title == "observed" && string(it.Observed) == "null" {
			fmt.Fprintf(&b, "\n%s\n  %s\n", s.paint(bold, part.title), unobserved(it))
		}
	}
	if it.Result != nil {
		s.record(&b, "output", it.Result.Output)
	}
	if len(effects) > 0 {
		fmt.Fprintf(&b, "\n%s\n", s.paint(bold, "effects"))
	}
	for _, e := range effects {
		line := fmt.Sprintf("%-6s  %s %s", e.Phase, e.Name, e.Target)
		if e.Before != "" || e.After != "" {
			line += "  " + digestOr(e.Before) + " " + s.arrow() + " " + digestOr(e.After)
		}
		if e.Error != "" {
			line += "  " + e.Error
		}
		b.WriteString("  " + Clean(line) + "\n")
	}
	return b.String()
}

// unobserved says what it means that there is no record of what was observed.
func unobserved(it drift.Item) string {
	switch {
	case it.Reason.Code == "unobservable" || it.Reason.Code == "plugin-failed":
		return "it could not be observed"
	case it.Resource.Type == "command":
		return "nothing shows whether it has run"
	}
	return "nothing: there is none on the host"
}

func digestOr(d string) string {
	if d == "" {
		return "nothing"
	}
	kind, hex, ok := strings.Cut(d, ":")
	if !ok {
		return d
	}
	return kind + ":" + hex[:min(12, len(hex))]
}

// record renders a JSON record, a field a line.
func (s Style) record(b *strings.Builder, title string, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "  ", "  ") != nil {
		return
	}
	fmt.Fprintf(b, "\n%s\n", s.paint(bold, title))
	for _, l := range strings.Split(out.String(), "\n") {
		if !strings.HasPrefix(l, "  ") {
			l = "  " + l
		}
		b.WriteString(Clean(l) + "\n")
	}
}

// Event renders one record of the journal as a line.
func (s Style) Event(rec journal.Record) string {
	g, what := gNote, rec.Kind
	switch {
	case rec.Start != nil:
		what = "apply of host " + rec.Start.Host + " begins"
		if by := confirmed(rec.Start.Confirmed); by != "" {
			what += ", " + by
		}
	case rec.Plan != nil:
		what = fmt.Sprintf("pass %d: %s", rec.Plan.Pass, count(len(rec.Plan.Items), "item", "items"))
	case rec.Intent != nil:
		g, what = gStart, fmt.Sprintf("#%d %s %s", rec.Intent.Item, rec.Intent.Action.Verb, rec.Intent.Resource)
	case rec.Effect != nil:
		what = fmt.Sprintf("#%d %s %s %s", rec.Effect.Item, rec.Effect.Phase, rec.Effect.Name, rec.Effect.Target)
		if rec.Effect.Before != "" || rec.Effect.After != "" {
			what += "  " + digestOr(rec.Effect.Before) + " " + s.arrow() + " " + digestOr(rec.Effect.After)
		}
		if rec.Effect.Error != "" {
			g, what = gFailed, what+": "+rec.Effect.Error
		}
	case rec.Outcome != nil:
		g = gDone
		if rec.Outcome.Result.Status != drift.Applied {
			g = gFailed
		}
		what = fmt.Sprintf("#%d %s %s", rec.Outcome.Item, rec.Outcome.Result.Status, rec.Outcome.Resource)
		if rec.Outcome.Result.Error != "" {
			what += ": " + rec.Outcome.Result.Error
		}
	case rec.Report != nil:
		what = "observed again: " + count(len(rec.Report.Items), "item", "items")
	case rec.End != nil:
		g, what = gDone, fmt.Sprintf("ends: %s executed, exit %d", count(rec.End.Executed, "action", "actions"), rec.End.ExitCode)
		if rec.End.ExitCode != 0 {
			g = gFailed
		}
	}
	return fmt.Sprintf("%s %s  %s %s\n", s.paint(dim, moment(rec.Time)), rec.Run, s.glyph(g), Clean(what))
}
