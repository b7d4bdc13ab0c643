package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/journal"
)

// crashing is a host whose every effect, and every write of its journal, can be the last one.
func crashing(t *testing.T) *bench {
	conf, other := file("/etc/a", "1"), file("/etc/b", "1")
	b := newBench(t, "host", pkg("p"), "web<host", dir("/srv"), file("/srv/x", "1"), conf, unit("u.service", conf.ID, other.ID), other,
		command("once", false), command("again", true))
	b.values[conf.ID], b.values[other.ID] = "0", "0"
	b.units["u.service"] = map[string]string{conf.ID: "0", other.ID: "0"}
	b.power = b.fs.Power
	return b
}

// Every point at which an apply can be cut, with several choices of what a lost power takes of what was not synced: the next apply
// tells truly what was interrupted, reaches the same end, and the chain of the journal holds.
func TestEveryCutOfAnApplyIsHealedByTheNext(t *testing.T) {
	whole := crashing(t)
	whole.apply()
	points := whole.fs.Power.Count()
	if points < 40 {
		t.Fatalf("%d points only", points)
	}
	for cut := range points + 1 {
		for _, lose := range []func(n int, c hosttest.Change) bool{
			nil,
			func(int, hosttest.Change) bool { return false },
			func(n int, _ hosttest.Change) bool { return n%2 == 0 },
			func(n int, _ hosttest.Change) bool { return n%2 == 1 },
			func(_ int, c hosttest.Change) bool { return c.Call == "create" || c.Call == "mkdir" },
			func(_ int, c hosttest.Change) bool { return c.Call == "write" },
		} {
			b := crashing(t)
			b.fs.Power.Cut(cut)
			result, err := Apply(context.Background(), b.o)
			if err == nil && cut < points && result.ExitCode() == ExitOK {
				t.Fatalf("cut at %d: nothing was noticed", cut)
			}
			did := slices.Clone(b.did)
			b.fs.Crash(lose)
			b.lock.owner = nil
			b.resume(t, cut, did, whole)
		}
	}
}

// resume checks what the run after a cut says and does.
func (b *bench) resume(t *testing.T, cut int, did []string, whole *bench) {
	t.Helper()
	said := map[string]bool{}
	report := b.check()
	for _, i := range report.Interrupted {
		said[string(i.Verb)+" "+i.Resource] = true
	}
	// What was begun and is not on record with its outcome is said; nothing else is.
	recorded := map[string]bool{}
	if state := b.state(); state.LastRun != "" {
		log, err := journal.Read(b.fs, stateDir, state.LastRun)
		if err == nil {
			for _, it := range log.Items {
				if it.Result != nil {
					recorded[string(it.Action.Verb)+" "+it.Resource.ID] = true
				}
			}
		}
	}
	for _, action := range did {
		if !said[action] && !recorded[action] {
			t.Errorf("cut at %d: %q happened and nobody knows", cut, action)
		}
	}
	b.did = nil
	result, err := Apply(context.Background(), b.o)
	if err != nil {
		t.Fatalf("cut at %d: the next apply: %v", cut, err)
	}
	if code := result.ExitCode(); code != ExitOK {
		t.Errorf("cut at %d: the next apply ends with %d: %v, left %v, %v", cut, code, results(result.Executed), entries(result.After), result.Err)
	}
	if !maps.Equal(b.values, whole.values) || !maps.EqualFunc(b.units, whole.units, maps.Equal) {
		t.Errorf("cut at %d: the end is %v %v, not %v %v", cut, b.values, b.units, whole.values, whole.units)
	}
	// A command that is not idempotent runs again only with a word about it.
	if said["run command:again"] {
		i := slices.IndexFunc(result.Executed.Items, func(it drift.Item) bool { return it.Resource.ID == "command:again" })
		if i < 0 || !strings.Contains(result.Executed.Items[i].Note, "runs again") {
			t.Errorf("cut at %d: the command ran again without a word", cut)
		}
	}
	if slices.Contains(did, "run command:once") && slices.Contains(b.did, "run command:once") {
		t.Errorf("cut at %d: a command ran twice although its mark was there", cut)
	}
	verdict, err := journal.Verify(b.fs, stateDir, "")
	if err != nil || len(verdict.Damage) != 0 {
		t.Errorf("cut at %d: %+v, %v", cut, verdict, err)
	}
	b.did = nil
	if again := b.apply(); again.ExitCode() != ExitOK || !slices.Equal(b.did, []string{"run command:again"}) || len(again.Executed.Interrupted) != 0 {
		t.Errorf("cut at %d: the apply after that did %v, interrupted %v", cut, b.did, again.Executed.Interrupted)
	}
}

// A run that was to settle what an earlier one left open may be cut off too: nothing is forgotten over that.
func TestTwoCutsInARowForgetNothing(t *testing.T) {
	whole := crashing(t)
	whole.apply()
	points := whole.fs.Power.Count()
	for first := range points {
		b := crashing(t)
		b.fs.Power.Cut(first)
		_, _ = Apply(context.Background(), b.o)
		b.fs.Crash(nil)
		b.lock.owner = nil
		open := b.state().Interrupted
		if len(open) == 0 {
			continue
		}
		for second := 0; second < points; second += 7 {
			b := crashing(t)
			b.fs.Power.Cut(first)
			_, _ = Apply(context.Background(), b.o)
			b.fs.Crash(nil)
			b.lock.owner, b.did = nil, nil
			b.fs.Power.Cut(second)
			_, _ = Apply(context.Background(), b.o)
			b.fs.Crash(nil)
			b.lock.owner = nil
			state, did := b.state(), b.did
			for _, cut := range open {
				settled := slices.ContainsFunc(did, func(action string) bool { return strings.HasSuffix(action, " "+cut.Resource) }) ||
					b.ended > 0 && len(state.Interrupted) == 0
				still := slices.ContainsFunc(state.Interrupted, func(i drift.Interrupted) bool { return i.Resource == cut.Resource })
				if !settled && !still && !looked(b, cut.Resource) {
					t.Errorf("cut at %d and at %d: %s of %s is forgotten; the second run did %v", first, second, cut.Verb, cut.Resource, did)
				}
			}
			b.resume(t, first, did, whole)
		}
	}
}

// A run that is stopped before it comes to what was interrupted leaves it as open as it was.
func TestWhatAStoppedRunLeftIsStillNamed(t *testing.T) {
	for cut := 0; ; cut++ {
		b := crashing(t)
		b.fs.Power.Cut(cut)
		_, _ = Apply(context.Background(), b.o)
		b.fs.Crash(nil)
		b.lock.owner = nil
		open := b.state().Interrupted
		if !slices.ContainsFunc(open, func(i drift.Interrupted) bool { return i.Resource == "command:again" }) {
			continue // the last action of the scene: some cut meets it
		}
		ctx, stop := context.WithCancel(context.Background())
		stopping := b.o
		stopping.NewHand = func(ctx context.Context, on host.EffectFunc) (Hand, error) {
			stop()
			return b.o.NewHand(ctx, on)
		}
		result, err := Apply(ctx, stopping)
		if err != nil || !result.Interrupted || len(b.state().Interrupted) != len(open) {
			t.Fatalf("stopped: %v, %+v; still open are %v, and were %v", err, result, b.state().Interrupted, open)
		}
		after := b.apply()
		if it := after.Executed.Items[len(after.Executed.Items)-1]; !strings.Contains(it.Note, "runs again") {
			t.Errorf("the command ran again without a word: %+v", it)
		}
		if left := b.state().Interrupted; len(left) > 0 {
			t.Errorf("settled is settled: %v", left)
		}
		return
	}
}

// looked says whether the newest run has an outcome for the resource, or came to its end.
func looked(b *bench, id string) bool {
	log, err := journal.Read(b.fs, stateDir, b.state().LastRun)
	if err != nil {
		return false
	}
	return log.End != nil || slices.ContainsFunc(log.Items, func(it drift.Item) bool {
		return it.Resource.ID == id && it.Result != nil && (it.Result.Status != drift.Skipped || it.Result.Error == "")
	})
}
