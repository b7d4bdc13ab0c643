package gate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// history refuses a type that came in without an accepted record that stood before it: the decision comes first, and
// somebody had the time to say no. Where git cannot tell, or not all, it says so in a note.
func (g *gate) history() error {
	where, err := g.git("rev-parse", "--show-cdup")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		g.note("git is not installed")
		return nil
	case err != nil:
		g.note("git does not read this folder: %v", err)
		return nil
	case where != "":
		g.note("this folder lies within the checkout of another repository")
		return nil
	}
	h := &past{gate: g, tips: []string{"HEAD"}}
	if _, err := g.git("rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		g.note("there is no commit yet")
		return nil
	}
	if _, err := g.git("rev-parse", "--verify", "--quiet", "MERGE_HEAD"); err == nil {
		h.tips = append(h.tips, "MERGE_HEAD") // a merge that is about to be committed
	}
	if err := h.readBoundary(); err != nil {
		return err
	}
	if len(h.boundary) > 0 {
		g.note("the clone is shallow, and what its oldest commits brought is not judged; git fetch --unshallow brings the rest")
	}
	types := make([]string, 0, len(g.plugins))
	for typ := range g.plugins {
		types = append(types, typ)
	}
	slices.Sort(types)
	for _, typ := range types {
		p := g.plugins[typ]
		if slices.Contains(first, typ) || g.adr[p.Decision] == nil || g.adr[p.Decision].status != "Accepted" {
			continue
		}
		fine, err := h.decided(typ)
		if err != nil {
			return err
		}
		if !fine {
			g.say("docs/adr/"+p.Decision+".md", RuleRecord, "commit the accepted record first, with the title NNNN: Type "+typ+": …, and the type in a later commit",
				"the type %s came in before a record that decides it was accepted, or in the very commit", typ)
		}
	}
	return nil
}

// note says once that the order of records and types was not judged, or not all of it.
func (g *gate) note(format string, args ...any) {
	g.notes = append(g.notes, "whether each record was accepted before its type came in is not known here: "+fmt.Sprintf(format, args...))
}

// past is the history of the checkout.
type past struct {
	*gate
	tips     []string
	boundary []string // the commits at which a shallow clone begins
}

func (h *past) readBoundary() error {
	file, err := h.git("rev-parse", "--git-path", "shallow")
	if err != nil {
		return err
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.root, file)
	}
	raw, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	h.boundary = strings.Fields(string(raw))
	return nil
}

// decided says whether an accepted record of a type stood before it. Two looks, and one has to find the record: at the line
// of first parents, where a branch comes in by its merge, which may be long after it was begun; and at every commit that
// has the type while none of its parents and none of its ancestors has it. The commit at which the line of first parents
// begins is measured by nothing, for a repository may begin with types; another root that is merged later is.
func (h *past) decided(typ string) (bool, error) {
	file := "plugins/" + typ + "/plugin.cue"
	arrival, main := "", "HEAD" // no arrival: it is not committed there yet
	if h.has("HEAD", file) {
		line, err := h.log("--first-parent", "HEAD", "--", file)
		if err != nil {
			return false, err
		}
		if len(line) == 0 {
			return false, fmt.Errorf("git log does not find the commit that adds %s", file)
		}
		arrival = line[len(line)-1]
		above, err := h.parents(arrival)
		if err != nil {
			return false, err
		}
		if len(above) == 0 {
			return true, nil
		}
		main = above[0]
	}
	if fine, err := h.accepted(main, typ); fine || err != nil {
		return fine, err
	}
	added, err := h.log(append(slices.Clone(h.tips), "--", file)...)
	if err != nil {
		return false, err
	}
	var births []string
	above := map[string][]string{}
	for _, c := range added {
		if above[c], err = h.parents(c); err != nil {
			return false, err
		}
		if !slices.ContainsFunc(above[c], func(p string) bool { return h.has(p, file) }) {
			births = append(births, c)
		}
	}
	for _, c := range births {
		if slices.Contains(h.boundary, c) || slices.ContainsFunc(births, func(b string) bool { return b != c && h.ancestor(b, c) }) {
			continue
		}
		fine := false
		for _, p := range above[c] {
			one, err := h.accepted(p, typ)
			if err != nil {
				return false, err
			}
			fine = fine || one
		}
		if !fine {
			return false, nil
		}
	}
	return len(births) > 0, nil
}

// accepted says whether a commit has an accepted record that decides a type, whatever its number: a record may be renamed
// later, and another may take its place.
func (h *past) accepted(commit, typ string) (bool, error) {
	found, err := h.git("grep", "--name-only", "-E", "-e", "^# [0-9]{4}: Type "+regexp.QuoteMeta(typ)+": ", commit, "--", "docs/adr")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for name := range strings.FieldsSeq(found) { // COMMIT:docs/adr/NNNN-some.md
		text, err := h.git("show", name)
		if err != nil {
			return false, err
		}
		if r := parse(text); r.status == "Accepted" && r.names(typ) {
			return true, nil
		}
	}
	return false, nil
}

// log gives the commits that add a file compared with one of their parents, the newest first. A merge is compared with each
// parent, since what only a merge brings is in no other commit.
func (h *past) log(args ...string) ([]string, error) {
	out, err := h.git(append([]string{"-c", "log.showRoot=true", "log", "--full-history", "--topo-order", "-m", "--no-renames", "--diff-filter=A", "--format=%H"}, args...)...)
	return slices.Compact(strings.Fields(out)), err
}

func (h *past) parents(commit string) ([]string, error) {
	out, err := h.git("rev-parse", commit+"^@")
	return strings.Fields(out), err
}

func (h *past) has(commit, file string) bool {
	_, err := h.git("cat-file", "-e", commit+":"+file)
	return err == nil
}

func (h *past) ancestor(old, young string) bool {
	_, err := h.git("merge-base", "--is-ancestor", old, young)
	return err == nil
}

func (g *gate) git(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"--no-replace-objects", "-C", g.root}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		reason, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, reason)
	}
	return strings.TrimSpace(string(out)), err
}
