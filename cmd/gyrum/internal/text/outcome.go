package text

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gyrum.ai/engine/drift"
)

// Following writes results one at a time, aligned for the items that are expected.
type Following struct {
	style Style
	cols  columns
	role  string
	pass  int
	begun bool
}

// Follow begins a page of results; planned are the items that are going to be executed.
func (s Style) Follow(planned []drift.Item) *Following {
	return &Following{style: s, cols: layout(planned)}
}

// Item renders one item that an apply has dealt with.
func (f *Following) Item(it drift.Item) string {
	var b strings.Builder
	if it.Pass > 1 && it.Pass != f.pass {
		fmt.Fprintf(&b, "\n%s\n", f.style.paint(dim, fmt.Sprintf("pass %d", it.Pass)))
		f.role = ""
	}
	if it.Role != f.role {
		f.style.heading(&b, it.Role, f.begun && it.Pass == f.pass)
	}
	f.role, f.pass, f.begun = it.Role, it.Pass, true
	f.style.result(&b, it, f.cols)
	return b.String()
}

func (s Style) result(b *strings.Builder, it drift.Item, c columns) {
	parts := s.describe(it)
	if it.Result == nil {
		s.item(b, sign(it), it.Resource, c, "", parts)
		s.why(b, it, false)
		return
	}
	took := Duration(time.Duration(it.Result.DurationMS) * time.Millisecond)
	g := gDone
	switch it.Result.Status {
	case drift.Failed:
		g = gFailed
	case drift.Blocked:
		g, took = gError, "blocked"
	case drift.Skipped:
		g, took = gNote, "skipped"
	}
	s.item(b, g, it.Resource, c, took, parts)
	if e := it.Result.Error; e != "" {
		t := dim
		if it.Result.Status == drift.Failed || it.Result.Status == drift.Blocked {
			t = red
		}
		s.words(b, t, string(it.Result.Status), e)
	}
	if it.Blocked != "" && it.Blocked != it.Result.Error {
		s.words(b, red, "blocked", it.Blocked)
	}
	if it.Result.Status == drift.Failed {
		s.output(b, it.Result.Output)
	}
	if it.Note != "" && it.Result.Status != drift.Applied {
		s.words(b, dim, "note", it.Note)
	}
}

// outputLines is how much of a failed command's streams is shown; the journal has the rest.
const outputLines = 10

// output shows the last lines of what a failed command printed.
func (s Style) output(b *strings.Builder, raw json.RawMessage) {
	rec := toRecord(raw)
	for _, stream := range []string{"stdout", "stderr"} {
		st := rec.record(stream)
		text := strings.TrimRight(st.str("head")+st.str("tail"), "\n")
		if text == "" {
			continue
		}
		ls := strings.Split(text, "\n")
		if len(ls) > outputLines {
			ls = append([]string{"(" + count(len(ls)-outputLines, "line", "lines") + " before)"}, ls[len(ls)-outputLines:]...)
		}
		for _, l := range ls {
			b.WriteString(strings.Repeat(" ", indent) + s.paint(dim, stream+": ") + Clean(strings.TrimRight(l, "\r")) + "\n")
		}
	}
}

// Verdict renders what an apply came to: what is still not as declared, and whether the host converged.
func (s Style) Verdict(executed, after *drift.Report, o Options) string {
	var b strings.Builder
	n := map[drift.Status]int{}
	for _, it := range executed.Items {
		if it.Result != nil {
			n[it.Result.Status]++
		}
	}
	if len(executed.Items) > 0 {
		b.WriteString("\n")
	}
	left := 0
	for _, it := range after.Items {
		if it.Severity != drift.SeverityWarn {
			left++
		}
	}
	if left > 0 && !o.Quiet {
		b.WriteString("still not as declared:\n")
		s.items(&b, after.Items, Options{Verbose: o.Verbose})
	}
	var did []string
	for _, st := range []drift.Status{drift.Applied, drift.Failed, drift.Blocked, drift.Skipped} {
		if n[st] > 0 {
			did = append(did, fmt.Sprintf("%d %s", n[st], st))
		}
	}
	if len(did) == 0 {
		did = []string{"nothing to do, " + count(after.Stats.ResourcesChecked, "resource", "resources") + " in sync"}
	}
	verdict := s.paint(green, "converged")
	if left > 0 || n[drift.Failed]+n[drift.Blocked] > 0 {
		verdict = s.paint(red, "not converged")
		if left > 0 {
			did = append(did, fmt.Sprintf("%d still not as declared", left))
		}
	}
	fmt.Fprintf(&b, "%s: %s, host %s, %s\n", verdict, strings.Join(did, ", "), Clean(after.Host), Duration(after.FinishedAt.Sub(executed.StartedAt)))
	return b.String()
}
