package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/cmd/gyrum/internal/text"
)

func newExplainCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [TOPIC]",
		Short: "Explain a type, a field, a rule, a word of a report, an item, or a host's roles",
		Long: `explain says what the words mean that manifests are written in and reports are made
of. A TOPIC is one of

  TYPE, TYPE.FIELD       a resource type and its fields, such as file.mode
  role, host, catalog    the three kinds of file, and .FIELD of each
  RULE                   what validate and lint name: R1 to R13, unknown-field, …
  CODE, VERB             a reason's code and an action's verb, as reports have them
  RUN#ITEM               an item of a recorded run, with what its words mean
  TYPE:NAME              a resource that --host declares: where, and with which defaults
  host NAME              a host's effective roles, where each comes from, and its
                         resources in the order of apply

Without a topic, all of them are listed.`,
		Example: `  gyrum explain systemd_unit.restart_on
  gyrum explain R7
  gyrum explain content-differs
  gyrum explain host web-1
  gyrum explain 'last#0'`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && args[0] == "host", len(args) < 2:
				return nil
			case len(args) == 2:
				return usage("%s takes one topic, or host and a name", cmd.CommandPath())
			}
			return usage("%s takes one topic", cmd.CommandPath())
		},
		ValidArgsFunction: p.completeTopics,
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return p.explainAll()
			case len(args) == 2:
				return p.explainHost(args[1])
			}
			return p.explain(args[0])
		},
	}
}

// explain finds out what a topic is.
func (p *program) explain(name string) error {
	own, err := p.ownTypes()
	if err != nil {
		return err
	}
	topics := topics(own...)
	typ, _, named := strings.Cut(name, ":")
	named = named && slices.ContainsFunc(topics, func(t topic) bool { return t.kind == kindType && t.name == typ })
	if run, item, ok := strings.Cut(name, "#"); ok && !named { // the id of a line has a # too
		return p.explainItem(name, run, item)
	}
	i := slices.IndexFunc(topics, func(t topic) bool { return t.name == name })
	if i < 0 {
		i = slices.IndexFunc(topics, func(t topic) bool { return strings.EqualFold(t.name, name) })
	}
	if i >= 0 {
		return p.tell(topics[i])
	}
	if named {
		return p.explainResource(name)
	}
	var names []string
	for _, t := range topics {
		names = append(names, t.name)
	}
	instead := didYouMean(name, names, "")
	if instead == "" {
		instead = "; gyrum explain lists what there is"
	}
	return usage("there is nothing to explain by the name of %q%s", name, instead)
}

// tell prints a topic.
func (p *program) tell(t topic) error {
	if t.kind == kindType {
		if err := p.addPlugin(&t); err != nil {
			return err
		}
	}
	if p.flags.format.value == formatJSON {
		return p.json(t.data())
	}
	_, err := fmt.Fprint(p.out, p.style().Explain(t.page()))
	return err
}

// explainAll lists every topic by its kind.
func (p *program) explainAll() error {
	own, err := p.ownTypes()
	if err != nil {
		return err
	}
	all := topics(own...)
	if p.flags.format.value == formatJSON {
		out := []map[string]string{}
		for _, t := range all {
			out = append(out, map[string]string{"topic": t.kind, "name": t.name, "title": t.title})
		}
		return p.json(out)
	}
	page := text.Page{Title: "what gyrum explain knows"}
	for _, k := range []struct{ kind, title string }{
		{kindType, "resource types"}, {kindRecord, "files of a catalog"}, {kindRule, "rules"}, {kindReason, "codes of reasons"}, {kindVerb, "verbs of actions"},
	} {
		t := text.Table{Title: k.title}
		for _, x := range all {
			if x.kind == k.kind {
				t.Rows = append(t.Rows, text.Row{Name: x.name, Text: x.title})
			}
		}
		page.Tables = append(page.Tables, t)
	}
	page.Tables = append(page.Tables, text.Table{Title: "and", Rows: []text.Row{
		{Name: "TYPE.FIELD", Text: "a field of a type or a file, such as file.mode or host.activate"},
		{Name: "TYPE:NAME", Text: "a resource that the host declares"},
		{Name: "RUN#ITEM", Text: "an item of a recorded run; gyrum history lists runs"},
		{Name: "host NAME", Text: "a host's effective roles and where each comes from"},
	}})
	_, err = fmt.Fprint(p.out, p.style().Explain(page))
	return err
}
