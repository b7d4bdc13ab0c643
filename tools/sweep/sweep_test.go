// Package sweep cuts an apply before and after every single effect and every write of its journal, on the model host, and proves
// that the next one tells truly what happened and reaches the same end.
package sweep

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/journal"
	"gyrum.ai/engine/resource"
)

var (
	only = flag.Int("cut", -1, "cut at this point only")
	seed = flag.Uint64("seed", 1, "what takes its turn when, and what a lost power takes where it takes anything")
)

// ways in which a run ends in the middle.
var ways = []struct {
	name string
	// loses says of a change that is not durable, the nth since all was durable, whether a lost power takes it; nil where only the
	// program ends.
	loses func(c cut, n int, change hosttest.Change) bool
}{
	{"the program is killed", nil},
	{"the power fails and nothing unsynced is left", func(cut, int, hosttest.Change) bool { return true }},
	{"the power fails and all unsynced is there", func(cut, int, hosttest.Change) bool { return false }},
	{"the power fails and takes every second change", func(c cut, n int, _ hosttest.Change) bool { return (c.at+n)%2 == 0 }},
	{"the power fails and takes contents", func(_ cut, _ int, change hosttest.Change) bool { return change.Call == "write" }},
	{"the power fails and takes names", func(_ cut, _ int, change hosttest.Change) bool { return change.Call != "write" }},
	{"the power fails and takes anything", func(c cut, n int, _ hosttest.Change) bool { return c.random(n).IntN(2) == 0 }},
}

// cut is where and how an apply ends.
type cut struct {
	// at is how many effects and writes still happen, roles how many roles are dealt with at once.
	at, roles int
	seed      uint64
}

// random gives the same numbers for the same cut and purpose each time.
func (c cut) random(purpose int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, uint64(c.at)<<32|uint64(c.roles)<<24|uint64(purpose)))
}

func (c cut) String() string {
	return fmt.Sprintf("cut at %d (again: -args -cut %[1]d -seed %d)", c.at, c.seed)
}

// apply applies on the host until the cut; it gives what was begun.
func (c cut) apply(t *testing.T, h *hosttest.Host, target engine.Target) (actions []string) {
	h.Power.Cut(c.at)
	if c.roles == 1 {
		_, actions, _ = run(h, target, 1, nil)
		return actions
	}
	s := &turns{random: c.random(1 << 20)}
	s.take(t, func() { _, actions, _ = run(h, target, c.roles, s) })
	return actions
}

// crash gives a host as the way leaves one on which a run was cut off, and what was lost.
func (c cut) crash(h *hosttest.Host, loses func(c cut, n int, change hosttest.Change) bool) (after *hosttest.Host, lost string, err error) {
	after = scripted(h.Clone())
	if loses == nil {
		after.Power.Restore()
		return after, "the program", nil
	}
	after.FS.Crash(func(n int, change hosttest.Change) bool {
		if !loses(c, n, change) {
			return false
		}
		lost += fmt.Sprintf("%d ", n)
		return true
	})
	return after, lost, after.Units.Reboot()
}

// begun is a hand that remembers which actions it was given.
type begun struct {
	hand
	turns   *turns
	mu      *sync.Mutex
	actions *[]string
}

func (b begun) Apply(ctx context.Context, r resource.Resource, o drift.Observation, a drift.Action) (json.RawMessage, error) {
	b.turns.wait("apply " + r.ID)
	b.mu.Lock()
	*b.actions = append(*b.actions, string(a.Verb)+" "+r.ID)
	b.mu.Unlock()
	return b.hand.Apply(ctx, r, o, a)
}

// looking makes a point before each look.
type looking struct {
	engine.Observer
	turns *turns
}

func (l looking) Observe(ctx context.Context, typ string, rs []resource.Resource) ([]drift.Observation, error) {
	l.turns.wait("look at " + rs[0].ID)
	return l.Observer.Observe(ctx, typ, rs)
}

// run applies once; it gives what was begun.
func run(h *hosttest.Host, target engine.Target, parallel int, s *turns) (*engine.ApplyResult, []string, error) {
	var actions []string
	var mu sync.Mutex
	o := program(h, target)
	o.Parallel = parallel
	look, build := o.Look, o.NewHand
	o.Look = func(ctx context.Context) engine.Observer { return looking{look(ctx), s} }
	o.NewHand = func(ctx context.Context, on host.EffectFunc) (engine.Hand, error) {
		built, err := build(ctx, s.effect(on))
		if err != nil {
			return nil, err
		}
		return begun{built.(hand), s, &mu, &actions}, nil
	}
	result, err := engine.Apply(context.Background(), o)
	return result, actions, err
}

func TestAnApplyCutAnywhereIsHealedByTheNext(t *testing.T) {
	target, drifted := target(t), scene(t)
	whole := scripted(drifted.Clone())
	result, actions, err := run(whole, target, 1, nil)
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
	// There is little to keep and much to throw away, so that most of the time would go to collecting.
	percent := debug.SetGCPercent(800)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	points, step := whole.Power.Count(), 1
	if testing.Short() {
		step = 17
	}
	for roles, name := range []string{"role by role", "roles beside each other"} {
		for first, which := range []string{"even", "odd"} {
			t.Run(name+", "+which, func(t *testing.T) {
				t.Parallel()
				ends := 0
				for at := first * step; at <= points && !t.Failed(); at += 2 * step {
					if *only < 0 || *only == at {
						ends += cut{at, roles + 1, *seed}.everyWay(t, target, drifted, whole)
					}
				}
				t.Logf("%d points, %d ends", points, ends)
			})
		}
	}
}

// everyWay cuts one apply in every way, and counts how many different hosts came of it. Ways that lose the same are one. Roles beside
// each other are cut everywhere too, in every second way by turns: what a way takes hangs little on whose it is.
func (c cut) everyWay(t *testing.T, target engine.Target, drifted, whole *hosttest.Host) int {
	h := scripted(drifted.Clone())
	actions := c.apply(t, h, target)
	seen := map[string]bool{}
	for n, way := range ways {
		if c.roles > 1 && (c.at/2+n)%2 > 0 && *only < 0 {
			continue
		}
		after, lost, err := c.crash(h, way.loses)
		if err != nil {
			t.Fatalf("%v, %s: the host does not come up: %v", c, way.name, err)
		}
		if seen[lost] {
			continue
		}
		seen[lost] = true
		for _, wrong := range slices.Concat(torn(after, contents(drifted), contents(whole)), resume(after, target, actions, whole)) {
			t.Errorf("%v, %s: %s", c, way.name, wrong)
		}
	}
	return len(seen)
}

// Of each cut there is only one outcome, so that what a test found once it finds again.
func TestTheSameCutIsTheSameAgain(t *testing.T) {
	target, drifted := target(t), scene(t)
	different := map[string]bool{}
	for n := range 16 {
		c := cut{at: 200, roles: 1 + n%2, seed: uint64(n)}
		var first map[string]string
		for range 3 {
			t.Run(c.String(), func(t *testing.T) {
				cryptotest.SetGlobalRandom(t, c.seed) // the key of digests
				h := scripted(drifted.Clone())
				c.apply(t, h, target)
				after, lost, err := c.crash(h, ways[len(ways)-1].loses)
				if err != nil {
					t.Fatal(err)
				}
				state := after.FS.Dump()
				state["lost"] = lost
				if first == nil {
					first = state
					different[fmt.Sprint(state)] = true
				} else if !maps.Equal(first, state) {
					t.Errorf("%d roles at once: %v", c.roles, difference(state, first))
				}
			})
		}
	}
	if len(different) < 9 {
		t.Errorf("16 cuts came to %d hosts only", len(different))
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

	result, again, err := run(h, target, 1, nil)
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

	result, again, err = run(h, target, 1, nil)
	if err != nil || result.ExitCode() != engine.ExitOK || !slices.Equal(again, []string{"run command:again"}) || len(interrupted(result)) > 0 {
		fail("the apply after that did %v, %v, and says that %v are interrupted", again, err, interrupted(result))
	}
	return wrong
}

// interrupted lists what an apply says of earlier ones.
func interrupted(r *engine.ApplyResult) []drift.Interrupted {
	if r == nil {
		return nil
	}
	return r.Executed.Interrupted
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
