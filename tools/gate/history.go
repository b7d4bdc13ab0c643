package gate

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// history refuses a record that is accepted in the very commit that adds its type: the decision comes first, and somebody
// had the time to say no. It judges by the history that is there: a shallow clone begins at its own first commit.
func (g *gate) history() error {
	if out, err := g.git("rev-parse", "--show-cdup"); err != nil || out != "" {
		return nil // no checkout, or a copy that lies within another one
	}
	for typ, p := range g.plugins {
		if slices.Contains(first, typ) || g.adr[p.Decision] == nil || g.adr[p.Decision].status != "Accepted" {
			continue
		}
		if err := g.came(typ, p); err != nil {
			return err
		}
	}
	return nil
}

// came judges how one type came in.
func (g *gate) came(typ string, p *plugin) error {
	file := "plugins/" + typ + "/plugin.cue"
	added, err := g.git("log", "--diff-filter=A", "--format=%H", "--", file)
	if err != nil {
		return err
	}
	before := "HEAD" // the type is not committed yet
	if commits := strings.Fields(added); len(commits) > 0 {
		before = commits[len(commits)-1] + "^"
		if _, err := g.git("rev-parse", "--verify", "--quiet", before); err != nil {
			return nil // the first commit of the history brings what the later ones are measured by
		}
	}
	old, err := g.git("show", before+":docs/adr/"+p.Decision+".md")
	if err == nil && parse(old).status == "Accepted" {
		return nil
	}
	g.say("docs/adr/"+p.Decision+".md", RuleRecord, "commit the accepted record first, and the type after it",
		"the record of %s is accepted in the very commit that adds the type", typ)
	return nil
}

func (g *gate) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", g.root}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
