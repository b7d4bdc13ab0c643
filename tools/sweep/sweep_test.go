// Package sweep cuts an apply before and after every single effect and every write of its journal, on the model host, and proves
// that the next one tells truly what happened and reaches the same end.
package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/resource"
)

// ways in which a run ends in the middle.
var ways = []struct {
	name string
	// crash leaves the host as the way does; n is the point of the cut.
	crash func(h *hosttest.Host, n int) error
}{
	{"the program is killed", func(h *hosttest.Host, _ int) error { h.Power.Restore(); return nil }},
	{"the power fails and nothing unsynced is left", power(func(int, int, hosttest.Change) bool { return true })},
	{"the power fails and all unsynced is there", power(func(int, int, hosttest.Change) bool { return false })},
	{"the power fails and takes every second change", power(func(cut, n int, _ hosttest.Change) bool { return (cut+n)%2 == 0 })},
	{"the power fails and takes contents", power(func(_, _ int, c hosttest.Change) bool { return c.Call == "write" })},
	{"the power fails and takes names", power(func(_, _ int, c hosttest.Change) bool { return c.Call != "write" })},
}

func power(lose func(cut, n int, c hosttest.Change) bool) func(*hosttest.Host, int) error {
	return func(h *hosttest.Host, cut int) error {
		h.FS.Crash(func(n int, c hosttest.Change) bool { return lose(cut, n, c) })
		return h.Units.Reboot()
	}
}

// begun is a hand that remembers which actions it was given.
type begun struct {
	hand
	actions *[]string
}

func (b begun) Apply(ctx context.Context, r resource.Resource, o drift.Observation, a drift.Action) (json.RawMessage, error) {
	*b.actions = append(*b.actions, string(a.Verb)+" "+r.ID)
	return b.hand.Apply(ctx, r, o, a)
}

// run applies once; it gives what was begun.
func run(h *hosttest.Host, target engine.Target, parallel int) (*engine.ApplyResult, []string, error) {
	var actions []string
	o := program(h, target)
	o.Parallel = parallel
	build := o.NewHand
	o.NewHand = func(ctx context.Context, on host.EffectFunc) (engine.Hand, error) {
		built, err := build(ctx, on)
		if err != nil {
			return nil, err
		}
		return begun{built.(hand), &actions}, nil
	}
	result, err := engine.Apply(context.Background(), o)
	return result, actions, err
}

func TestAnApplyCutAnywhereIsHealedByTheNext(t *testing.T) {
	target := target(t)
	whole := scene(t)
	result, actions, err := run(whole, target, 1)
	if err != nil || result.ExitCode() != engine.ExitOK {
		t.Fatalf("uncut: %v, %s", err, results(result.Executed))
	}
	verbs := map[string]bool{}
	for _, action := range actions {
		verb, _, _ := strings.Cut(action, " ")
		verbs[verb] = true
	}
	for _, verb := range drift.Verbs() {
		if verb != drift.Noop && !verbs[string(verb)] {
			t.Errorf("the scene has no %s", verb)
		}
	}
	points, step := whole.Power.Count(), 1
	if testing.Short() {
		step = 17
	}
	t.Logf("%d points, %d ways", points, len(ways))
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			for cut := 0; cut <= points; cut += step {
				h := scene(t)
				before := contents(h)
				h.Power.Cut(cut)
				_, actions, _ := run(h, target, 1+cut%3) // also with roles beside each other
				if err := way.crash(h, cut); err != nil {
					t.Fatalf("cut at %d: the host does not come up: %v", cut, err)
				}
				for _, wrong := range slices.Concat(torn(h, before, contents(whole)), resume(h, target, actions, whole)) {
					t.Errorf("cut at %d: %s", cut, wrong)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// contents gives what the managed files hold.
func contents(h *hosttest.Host) map[string]string {
	dump := h.FS.Dump(hosttest.StateDir)
	out := map[string]string{}
	for _, p := range managed {
		if s, there := dump[p]; there {
			_, content, _ := strings.Cut(s, `"`)
			out[p] = content
		}
	}
	return out
}

// torn lists managed files that are neither as they were nor as they are declared.
func torn(h *hosttest.Host, before, after map[string]string) []string {
	var wrong []string
	now := contents(h)
	for _, p := range managed {
		is, there := now[p]
		old, was := before[p]
		declared, will := after[p]
		if (there != was || is != old) && (there != will || is != declared) {
			wrong = append(wrong, fmt.Sprintf("%s is torn: %q", p, is))
		}
	}
	return wrong
}

// resume runs the program on a host whose last run was cut off, and lists what is not as it should be.
func resume(h *hosttest.Host, target engine.Target, begun []string, whole *hosttest.Host) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	report, err := engine.Check(context.Background(), program(h, target).CheckOptions)
	if err != nil {
		fail("check: %v", err)
		return wrong
	}
	said, known := map[string]bool{}, map[string]bool{}
	for _, cut := range report.Interrupted {
		said[string(cut.Verb)+" "+cut.Resource] = true
	}
	runs, err := journal.List(h.FS, hosttest.StateDir)
	if err != nil {
		fail("history: %v", err)
	}
	for _, r := range runs {
		log, err := journal.Read(h.FS, hosttest.StateDir, r.RunID)
		if err != nil {
			fail("show %s: %v", r.RunID, err)
			continue
		}
		for _, it := range log.Items {
			if it.Result != nil {
				known[string(it.Action.Verb)+" "+it.Resource.ID] = true
			}
		}
	}
	for _, action := range begun {
		if !said[action] && !known[action] {
			fail("%s began and nobody knows", action)
		}
	}
	unbegun := 0
	for action := range said {
		if !slices.Contains(begun, action) {
			unbegun++
		}
	}
	if unbegun > 1 { // the last intent may be all that there was of one action
		fail("%v are said to be interrupted, and only %v began", report.Interrupted, begun)
	}

	result, again, err := run(h, target, 1)
	if err != nil {
		fail("the next apply: %v", err)
		return wrong
	}
	if code := result.ExitCode(); code != engine.ExitOK {
		fail("the next apply ends with %d, %v:\n%sleft:\n%s", code, result.Err, results(result.Executed), results(result.After))
	}
	if said["run command:again"] && !slices.ContainsFunc(result.Executed.Items, func(it drift.Item) bool {
		return it.Resource.ID == "command:again" && strings.Contains(it.Note, "runs again")
	}) {
		fail("the command that is not idempotent ran again without a word")
	}
	if known["run command:once"] && slices.Contains(again, "run command:once") {
		fail("a command that was done is done again")
	}
	if got, want := h.FS.Dump(hosttest.StateDir), whole.FS.Dump(hosttest.StateDir); !maps.Equal(got, want) {
		fail("the files are %v", difference(got, want))
	}
	if got, want := h.Packages.State(), whole.Packages.State(); !maps.Equal(got, want) {
		fail("the packages are %v", difference(got, want))
	}
	wrong = append(wrong, units(h)...)
	if verdict, err := journal.Verify(h.FS, hosttest.StateDir, ""); err != nil || len(verdict.Damage) > 0 {
		fail("the chain: %v, %v", verdict, err)
	}

	result, again, err = run(h, target, 1)
	if err != nil || result.ExitCode() != engine.ExitOK || !slices.Equal(again, []string{"run command:again"}) || len(result.Executed.Interrupted) > 0 {
		fail("the apply after that did %v, %v", again, err)
	}
	return wrong
}

// units lists what of the declared units does not hold: their states, and that web.service runs from what is there.
func units(h *hosttest.Host) []string {
	var wrong []string
	state := h.Units.State()
	is := func(name, word string) bool { return strings.Contains(state[name], word) }
	for name, holds := range map[string]bool{
		"web.service runs":        is("web.service", "running"),
		"web.service is enabled":  is("web.service", "enabled"),
		"app.service is stopped":  !is("app.service", "running"),
		"app.service is disabled": !is("app.service", "enabled"),
		"on.service is enabled":   is("on.service", "enabled"),
		"off.service is disabled": !is("off.service", "enabled"),
		"quiet.service is down":   !is("quiet.service", "running"),
	} {
		if !holds {
			wrong = append(wrong, "not so: "+name)
		}
	}
	for _, p := range []string{"/etc/systemd/system/web.service", "/etc/web.env"} {
		from, _ := h.Units.RunsFrom("web.service", p)
		if now, _ := h.FS.Content(p); from != now {
			wrong = append(wrong, fmt.Sprintf("web.service runs from %q of %s, and there stands %q", from, p, now))
		}
	}
	return wrong
}

// difference shows in what two descriptions differ.
func difference(got, want map[string]string) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			lines = append(lines, fmt.Sprintf("%s: %s, not %s", key, got[key], want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, expected := want[key]; !expected {
			lines = append(lines, fmt.Sprintf("%s: %s, not there", key, got[key]))
		}
	}
	return lines
}
