package main

import (
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/lint"
	"gyrum.ai/engine/manifest"
)

// The kinds of topic.
const (
	kindType     = "type"
	kindRecord   = "record"
	kindField    = "field"
	kindRule     = "rule"
	kindReason   = "reason"
	kindVerb     = "verb"
	kindSeverity = "severity"
	kindStatus   = "status"
)

// topic is one thing that can be explained by its name.
type topic struct {
	kind, name string
	// title is the meaning in a few words, doc in a paragraph.
	title, doc string

	record *manifest.RecordDoc // of a type or a kind of file
	field  *manifest.FieldDoc
	// verbs and decision are what a type's plugin says of itself.
	verbs    []string
	decision string
}

// topics lists everything that has a name of its own, the catalog's own types among it. The words are those that the
// reference pages are made from.
func topics(own ...manifest.RecordDoc) []topic {
	var out []topic
	record := func(kind string, r manifest.RecordDoc) {
		out = append(out, topic{kind: kind, name: r.Name, title: r.Doc, doc: r.Doc, record: &r})
	}
	for _, r := range slices.Concat(manifest.DescribeTypes(), own) {
		record(kindType, r)
	}
	for _, r := range manifest.DescribeFiles() {
		record(kindRecord, r)
	}
	for _, t := range slices.Clone(out) {
		for i := range t.record.Fields {
			f := &t.record.Fields[i]
			out = append(out, topic{kind: kindField, name: t.name + "." + f.Name, title: f.Doc, doc: f.Doc, field: f})
		}
	}
	for _, r := range lint.Rules() {
		out = append(out, topic{kind: kindRule, name: r.ID, title: r.Title, doc: r.Doc})
	}
	for _, words := range []struct {
		kind string
		list []drift.Word
	}{{kindReason, drift.Reasons()}, {kindVerb, drift.VerbWords()}, {kindSeverity, drift.SeverityWords()}, {kindStatus, drift.StatusWords()}} {
		for _, w := range words.list {
			out = append(out, topic{kind: words.kind, name: w.Name, title: w.Title, doc: w.Doc})
		}
	}
	return out
}

// topicData is a topic as data.
type topicData struct {
	Topic       string              `json:"topic"`
	Name        string              `json:"name"`
	Title       string              `json:"title,omitempty"`
	Description string              `json:"description"`
	File        string              `json:"file,omitempty"`
	Fields      []manifest.FieldDoc `json:"fields,omitempty"`
	Field       *manifest.FieldDoc  `json:"field,omitempty"`
	Verbs       []string            `json:"verbs,omitempty"`
	Decision    string              `json:"decision,omitempty"`
}

func (t topic) data() topicData {
	d := topicData{Topic: t.kind, Name: t.name, Description: t.doc, Field: t.field, Verbs: t.verbs, Decision: t.decision}
	if t.title != t.doc {
		d.Title = t.title
	}
	if t.record != nil {
		d.File, d.Fields = t.record.File, t.record.Fields
	}
	return d
}

// page is a topic for people.
func (t topic) page() text.Page {
	switch {
	case t.record != nil:
		return t.recordPage()
	case t.field != nil:
		return fieldPage(t.name, t.field)
	}
	return text.Page{Title: fmt.Sprintf("%s: %s", t.name, t.title), Words: []string{t.doc}}
}

func (t topic) recordPage() text.Page {
	p := text.Page{Title: t.name, Words: []string{t.doc}}
	if t.record.File != "" {
		p.Title += "  " + t.record.File
	}
	var fields []text.Row
	for i := range t.record.Fields {
		f := &t.record.Fields[i]
		fields = append(fields, text.Row{Name: f.Name, Note: fieldNote(f), Text: f.Doc})
	}
	p.Tables = append(p.Tables, text.Table{Title: "fields", Rows: fields})
	if len(t.verbs) > 0 {
		p.Tables = append(p.Tables, text.Table{Title: "plugin", Rows: []text.Row{
			{Name: "verbs", Text: strings.Join(t.verbs, " ")}, {Name: "decision", Text: "docs/adr/" + t.decision + ".md"},
		}})
	}
	return p
}

// fieldNote is what a table says of a field beside its name.
func fieldNote(f *manifest.FieldDoc) string {
	switch {
	case f.Required:
		return "required"
	case f.Default != nil:
		return fmt.Sprintf("default %s", written(f.Default))
	}
	return ""
}

// written gives a default as a manifest writes it.
func written(v any) string {
	if s, ok := v.(string); ok && (s == "" || strings.Trim(s, "0123456789") == "") {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

func fieldPage(name string, f *manifest.FieldDoc) text.Page {
	p := text.Page{Title: name, Words: []string{f.Doc}}
	is := "optional"
	if f.Required {
		is = "required"
	}
	rows := []text.Row{{Name: "is", Text: is}, {Name: "takes", Text: strings.Join(f.Kinds, " or ")}}
	if f.Default != nil {
		rows = append(rows, text.Row{Name: "default", Text: written(f.Default)})
	}
	if len(f.Values) > 1 {
		rows = append(rows, text.Row{Name: "values", Text: strings.Join(f.Values, ", ")})
	}
	if f.Allowed != "" {
		rows = append(rows, text.Row{Name: "write", Text: f.Allowed})
	}
	if f.Rule != "" {
		rows = append(rows, text.Row{Name: "rule", Text: f.Rule})
	}
	p.Tables = []text.Table{{Title: "values", Rows: rows}}
	return p
}

// ownTypes describes the types that the catalog brings, those of them that can be used; none where there is no catalog.
func (p *program) ownTypes() ([]manifest.RecordDoc, error) {
	store, types, err := p.plugins()
	if store != nil {
		store.Close()
	}
	if err != nil || types == nil {
		return nil, err
	}
	defer types.Close()
	var out []manifest.RecordDoc
	for _, t := range types.Types {
		if t.Definition != nil {
			out = append(out, t.Definition.Describe())
		}
	}
	return out, nil
}

// addPlugin adds what the type's plugin says of itself.
func (p *program) addPlugin(t *topic) error {
	store, types, err := p.plugins()
	if err != nil {
		return err
	}
	defer store.Close()
	if types != nil {
		defer types.Close()
	}
	if info, err := store.Info(t.name); err == nil {
		t.verbs, t.decision = verbNames(info.Manifest), info.Manifest.Decision
	}
	return nil
}
