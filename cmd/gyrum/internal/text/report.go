package text

import (
	"fmt"
	"strings"

	"gyrum.ai/cmd/gyrum/internal/textdiff"
	"gyrum.ai/engine/drift"
)

// Options says what a page shows besides the items.
type Options struct {
	// Command is the command that applies the plan, without its hash; empty when there is nothing to say.
	Command string
	// Verbose adds the reason of every item and the resources that are in sync.
	Verbose bool
	// Quiet leaves the items that need no attention out: what remains is errors and the summary.
	Quiet bool
	// InSync lists the resources without an item, for Verbose.
	InSync []drift.ResourceRef
	// Diff gives the content difference of an item, or a remark in place of it; nil shows none.
	Diff func(drift.Item) (lines []textdiff.Line, remark string)
	// Unseen is said once below the items when resources could not be observed, such as how to see them.
	Unseen string
}

// Acts says whether an apply would execute an action for the item.
func Acts(it drift.Item) bool {
	return it.Severity != drift.SeverityError && it.Blocked == "" && it.HeldBack == "" && it.Action.Verb != drift.Noop
}

// Plan renders the report of a check, or the plan that an apply asks about.
func (s Style) Plan(r *drift.Report, o Options) string {
	var b strings.Builder
	s.interrupted(&b, r)
	shown := r.Items
	if o.Quiet {
		shown = nil
		for _, it := range r.Items {
			if it.Severity == drift.SeverityError {
				shown = append(shown, it)
			}
		}
	}
	s.items(&b, shown, o)
	if o.Verbose {
		s.inSync(&b, o.InSync)
	}
	if o.Unseen != "" && unseen(r) {
		s.paragraph(&b, o.Unseen)
	}
	s.summary(&b, r)
	if o.Quiet {
		return b.String()
	}
	s.catalog(&b, r, o)
	acts := false
	for _, it := range r.Items {
		acts = acts || Acts(it)
	}
	switch {
	case r.PlanHash == "" && r.NoPlanHash != "" && len(r.Items) > 0:
		s.paragraph(&b, r.NoPlanHash)
	case acts && o.Command != "" && r.PlanHash != "":
		fmt.Fprintf(&b, "\n%s %s\n", s.paint(dim, "plan "), r.PlanHash)
		fmt.Fprintf(&b, "%s %s --confirm-plan %s\n", s.paint(dim, "apply"), o.Command, r.PlanHash)
	}
	return b.String()
}

// catalog says which catalog the report judges by, and warns of a checkout that is behind.
func (s Style) catalog(b *strings.Builder, r *drift.Report, o Options) {
	if o.Verbose {
		line := "catalog " + r.Catalog.Digest
		if r.Catalog.Revision != "" {
			line += ", revision " + r.Catalog.Revision
		}
		s.paragraph(b, line)
		for _, p := range r.Plugins {
			s.paragraph(b, "plugin  "+p.Type+" "+p.Digest)
		}
	}
	if n := r.Catalog.BehindUpstream; n != nil && *n > 0 {
		s.paragraph(b, fmt.Sprintf("the catalog's checkout is %s behind its upstream; git pull brings it up to date", count(*n, "commit", "commits")))
	}
}

func unseen(r *drift.Report) bool {
	for _, it := range r.Items {
		if it.Reason.Code == "unobservable" {
			return true
		}
	}
	return false
}

// items writes planned items, grouped by role in the order of apply.
func (s Style) items(b *strings.Builder, items []drift.Item, o Options) {
	c := layout(items)
	role := ""
	for i, it := range items {
		if i == 0 || it.Role != role {
			s.heading(b, it.Role, i > 0)
			role = it.Role
		}
		parts := s.describe(it)
		if it.Blocked != "" && it.Action.Verb != drift.Noop && len(parts) == 0 {
			parts = []part{{label: string(it.Action.Verb)}}
		}
		s.item(b, sign(it), it.Resource, c, "", parts)
		s.why(b, it, o.Verbose)
		if o.Diff != nil {
			lines, remark := o.Diff(it)
			if remark != "" {
				s.words(b, dim, "", remark)
			}
			s.diff(b, lines)
		}
	}
	if len(items) > 0 {
		b.WriteString("\n")
	}
}

func (s Style) heading(b *strings.Builder, role string, gap bool) {
	if gap {
		b.WriteString("\n")
	}
	b.WriteString(s.paint(bold, Clean(role)) + "\n")
}

func (s Style) inSync(b *strings.Builder, refs []drift.ResourceRef) {
	if len(refs) == 0 {
		return
	}
	b.WriteString(s.paint(bold, "in sync") + "\n")
	var c columns
	for _, r := range refs {
		c.typ = max(c.typ, len(r.Type))
	}
	for _, r := range refs {
		s.item(b, gDone, r, c, "", nil)
	}
	b.WriteString("\n")
}

func (s Style) interrupted(b *strings.Builder, r *drift.Report) {
	for _, i := range r.Interrupted {
		fmt.Fprintf(b, "%s %s\n", s.glyph(gError), Clean(fmt.Sprintf("run %s was cut short while it did %s on %s; what follows is what the host has now",
			i.RunID, i.Verb, i.Resource)))
	}
	if len(r.Interrupted) > 0 {
		b.WriteString("\n")
	}
}

// paragraph writes a remark on the whole report.
func (s Style) paragraph(b *strings.Builder, text string) {
	for _, l := range wrap(Clean(text), s.Width) {
		b.WriteString(l + "\n")
	}
}

// summary is the line that counts: changes, errors, warnings, what is in sync, the host, the time.
func (s Style) summary(b *strings.Builder, r *drift.Report) {
	took := Duration(r.FinishedAt.Sub(r.StartedAt))
	n := func(sev drift.Severity) int { return r.Stats.BySeverity[string(sev)] }
	rest := fmt.Sprintf(", host %s, %s", Clean(r.Host), took)
	switch {
	case r.Stats.ResourcesChecked == 0:
		b.WriteString("nothing to check: no resource is declared or selected" + rest + "\n")
	case len(r.Items) == 0:
		b.WriteString(s.paint(green, "in sync") + ": " + count(r.Stats.ResourcesChecked, "resource", "resources") + rest + "\n")
	default:
		changes, errs := count(n(drift.SeverityDrift), "change", "changes"), count(n(drift.SeverityError), "error", "errors")
		if n(drift.SeverityDrift) > 0 {
			changes = s.paint(bold, changes)
		}
		if n(drift.SeverityError) > 0 {
			errs = s.paint(red, errs)
		}
		b.WriteString(changes + ", " + errs)
		if w := n(drift.SeverityWarn); w > 0 {
			b.WriteString(", " + s.paint(yellow, count(w, "warning", "warnings")))
		}
		fmt.Fprintf(b, ", %d in sync%s\n", r.Stats.InSync, rest)
	}
}
