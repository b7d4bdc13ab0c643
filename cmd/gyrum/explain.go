package main

import (
	"fmt"
	"regexp"
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
  CODE, VERB, SEVERITY,  what reports say of an item: the code of its reason, the verb of
  STATUS                 its action, how grave it is, and what became of it
  RUN#ITEM               an item of a recorded run, with what its words mean; RUN and ITEM
                         as gyrum show takes them
  TYPE:NAME              a resource that --host declares: where, and with which defaults
  host NAME              a host's effective roles, where each comes from, and its
                         resources in the order of apply

Without a topic, all of them are listed.`,
		Example: `  gyrum explain systemd_unit.restart_on
  gyrum explain R7
  gyrum explain content-differs
  gyrum explain host web-1
  gyrum explain 'last#0'
  gyrum explain 'last#file:/etc/motd'`,
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

// runForm is what the id of a run looks like, or the beginning of one.
var runForm = regexp.MustCompile(`^[0-9][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{5,25}$`)

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
	switch {
	case name == "last" || runForm.MatchString(name):
		instead = fmt.Sprintf("; of a run, an item is explained: '%s#0'. gyrum show %s lists them", name, name)
	case instead == "":
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
		{kindSeverity, "severities of items"}, {kindStatus, "what became of an item in an apply"},
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
