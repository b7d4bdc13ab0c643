package main

import (
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/engine/manifest"
)

// completeTypes completes a resource type.
func (p *program) completeTypes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	mods, err := p.modules()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, m := range mods {
		out = append(out, m.Type)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeHosts completes the hosts of the catalog.
func (p *program) completeHosts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := manifest.Open(p.flags.catalog)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	return c.HostNames(), cobra.ShellCompDirectiveNoFileComp
}

// completeSelection completes what --only and --skip take: roles, types and ids of the host.
func (p *program) completeSelection(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	plan := p.declaredPlan()
	if plan == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	seen := map[string]bool{}
	add := func(s string) {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	for _, r := range plan.Roles {
		add(r.Name)
	}
	for _, r := range plan.Resources {
		add(r.Type)
		add(r.ID)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// declaredPlan is the host's plan; nil when there is none or the catalog has mistakes.
func (p *program) declaredPlan() *manifest.HostPlan {
	name, err := p.hostName()
	if err != nil {
		return nil
	}
	c, err := p.openCatalog()
	if err != nil {
		return nil
	}
	defer c.Close()
	plan, _ := c.Host(name)
	return plan
}

// declaredIDs lists the ids that the host declares.
func (p *program) declaredIDs() []string {
	var out []string
	if plan := p.declaredPlan(); plan != nil {
		for _, r := range plan.Resources {
			out = append(out, r.ID)
		}
	}
	return out
}

// completeTopics completes what explain takes: topics and the host's resources; after host, the hosts.
func (p *program) completeTopics(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 1 && args[0] == "host":
		return p.completeHosts(cmd, nil, prefix)
	case len(args) > 0:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	own, err := p.ownTypes()
	if err != nil {
		own = nil
	}
	var out []string
	for _, t := range topics(own...) {
		if t.kind != kindField || strings.Contains(prefix, ".") {
			out = append(out, t.name+"\t"+t.title)
		}
	}
	if strings.Contains(prefix, ":") {
		out = append(out, p.declaredIDs()...)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag registers a completion; the flag was added by the same constructor, so it exists.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err)
	}
}
