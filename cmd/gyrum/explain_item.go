package main

import (
	"fmt"
	"path"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine/drift"
)

// explainItem shows an item of a recorded run, what the words in it mean, and where more is to be read.
func (p *program) explainItem(whole, name, ref string) error {
	run, n, err := p.recordedItem(whole, name, ref)
	if err != nil {
		return err
	}
	it := run.items()[n]
	said := map[string]string{kindReason: it.Reason.Code, kindVerb: string(it.Action.Verb), kindSeverity: string(it.Severity)}
	if it.Result != nil {
		said[kindStatus] = string(it.Result.Status)
	}
	own, err := p.ownTypes()
	if err != nil {
		return err
	}
	words := []topicData{}
	var rows []text.Row
	for _, t := range topics(own...) {
		if t.name == said[t.kind] {
			words = append(words, t.data())
			rows = append(rows, text.Row{Name: t.name, Note: t.kind, Text: t.title + ". " + t.doc})
		}
	}
	if it.Blocked != "" && (it.Result == nil || it.Result.Status != drift.Blocked) {
		rows = append(rows, text.Row{Name: "blocked", Text: "An apply does not execute the action, and holds back what comes after it in its role. Settle what the text names and check again."})
	}
	declaredIn := path.Join("host-roles", it.Role+".yaml")
	if p.flags.format.value == formatJSON {
		return p.json(struct {
			Topic string      `json:"topic"`
			Run   string      `json:"run_id"`
			Kind  string      `json:"kind"`
			Index int         `json:"index"`
			File  string      `json:"file"`
			Item  drift.Item  `json:"item"`
			Words []topicData `json:"words"`
		}{"item", run.summary.RunID, run.summary.Kind, n, declaredIn, it, words})
	}
	more := []text.Row{
		{Name: declaredIn, Text: "declares it"},
		{Name: "gyrum explain " + it.Resource.Type, Text: "the type and its fields"},
		{Name: "gyrum show " + run.summary.RunID, Text: "the whole run"},
	}
	if run.log != nil {
		more = append(more, text.Row{Name: "gyrum events --run " + run.summary.RunID, Text: "every record of it, in the order of events"})
	}
	page := text.Page{Title: "what the words mean", Tables: []text.Table{{Rows: rows}, {Title: "more", Rows: more}}}
	_, err = fmt.Fprint(p.out, p.style().Item(run.entry(n)), "\n", p.style().Explain(page))
	return err
}
