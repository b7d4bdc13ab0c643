package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/journal"
)

func TestApplyConvergesAndASecondOneDoesNothing(t *testing.T) {
	b := newBench(t, prober()...)
	b.after["package:gyrum-prober"] = func() { b.groups["gyrum"] = true }
	plan := b.check()
	b.o.AutoConfirm, b.o.ConfirmPlan = false, plan.PlanHash
	result := b.apply()
	if code := result.ExitCode(); code != ExitOK {
		t.Fatalf("exit code %d: %v, %v", code, results(result.Executed), result.Err)
	}
	same(t, "results", results(result.Executed), []string{
		"package:gyrum-prober applied", "directory:/etc/gyrum applied", "file:/etc/gyrum/prober.yaml applied", "systemd_unit:gyrum-prober.service applied"})
	if result.Executed.DryRun || result.After.Follows != result.Executed.RunID || result.After.RunID == result.Executed.RunID || len(result.After.Items) != 0 {
		t.Errorf("reports: %+v, %+v", result.Executed, result.After)
	}
	if result.Executed.Items[0].Pass != 1 || result.Executed.PlanHash != plan.PlanHash {
		t.Errorf("executed: %+v", result.Executed)
	}
	if n := b.state().Number; n != 1 {
		t.Errorf("apply number %d", n)
	}
	if b.lock.owner != nil {
		t.Error("the lock is still held")
	}

	// An approval is spent once, even when the host is where it was.
	again := b.apply()
	if !again.Refused || again.ExitCode() != ExitRefused || again.Executed != nil || len(again.Plan.Items) != 0 {
		t.Errorf("a spent approval: %+v", again)
	}
	b.o.ConfirmPlan = ""
	b.did = nil
	quiet := b.apply()
	if code := quiet.ExitCode(); code != ExitOK || len(b.did) != 0 || len(quiet.Executed.Items) != 0 || b.ended != 2 {
		t.Errorf("second apply: exit code %d, did %v, finished %d times", code, b.did, b.ended)
	}
	if n := b.state().Number; n != 1 {
		t.Errorf("apply number %d after an apply that did nothing", n)
	}
}

func TestAPlanIsConfirmedOrNothingHappens(t *testing.T) {
	yes := func(*drift.Report) (bool, error) { return true, nil }
	no := func(*drift.Report) (bool, error) { return false, nil }
	for name, tt := range map[string]struct {
		set     func(*ApplyOptions, string)
		refused string
		how     string
	}{
		"by its hash":         {func(o *ApplyOptions, hash string) { o.ConfirmPlan = hash }, "", journal.ByHash},
		"by a yes":            {func(o *ApplyOptions, _ string) { o.Confirm = yes }, "", journal.ByYes},
		"by a flag":           {func(o *ApplyOptions, _ string) { o.AutoConfirm = true }, "", journal.ByFlag},
		"not by another hash": {func(o *ApplyOptions, _ string) { o.ConfirmPlan = "sha256:00" }, "is not the plan that the host needs now", ""},
		"not by a no":         {func(o *ApplyOptions, _ string) { o.Confirm = no }, "was not confirmed", ""},
		"not by nobody":       {func(*ApplyOptions, string) {}, "no terminal", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "r", file("/a", "1"))
			b.o.AutoConfirm = false
			tt.set(&b.o, b.check().PlanHash)
			b.o.Confirmer = journal.Confirmer{User: "root", SudoUser: "jo", Via: "terminal"}
			before := b.fs.Power.Count()
			result := b.apply()
			if tt.refused == "" {
				if result.Refused || len(b.did) != 1 {
					t.Fatalf("refused %v (%s), did %v", result.Refused, result.Why, b.did)
				}
				want := journal.Confirmer{How: tt.how, User: "root", SudoUser: "jo", Via: "terminal"}
				if got := readStart(t, b).Confirmed; got != want {
					t.Errorf("confirmed %+v, want %+v", got, want)
				}
				return
			}
			if !result.Refused || !strings.Contains(result.Why, tt.refused) || result.ExitCode() != ExitRefused || len(result.Plan.Items) != 1 {
				t.Errorf("result %+v", result)
			}
			if len(b.did) != 0 || b.fs.Power.Count() != before {
				t.Errorf("did %v and wrote to the state folder", b.did)
			}
		})
	}
}

func TestAPlanThatMovedIsRefusedWithTheFreshOne(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"))
	b.o.AutoConfirm, b.o.ConfirmPlan = false, b.check().PlanHash
	b.values["file:/a"] = "another hand's"
	result := b.apply()
	if !result.Refused || len(result.Plan.Items) != 1 || result.Plan.PlanHash == b.o.ConfirmPlan {
		t.Errorf("result %+v", result)
	}
}

func TestAnotherApplyInBetween(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"))
	b.o.AutoConfirm = false
	// While a person reads the plan, a timer's apply does it.
	b.o.Confirm = func(*drift.Report) (bool, error) {
		other := b.o
		other.AutoConfirm, other.Confirm = true, nil
		if _, err := Apply(context.Background(), other); err != nil {
			t.Error(err)
		}
		b.values["file:/a"] = "moved on"
		return true, nil
	}
	result := b.apply()
	if !result.Refused || !strings.Contains(result.Why, "another apply ran") || len(b.did) != 1 {
		t.Errorf("result %+v, did %v", result, b.did)
	}
}

func TestASecondApplyIsTurnedAway(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"))
	b.lock.owner = &journal.Owner{PID: 42, StartedAt: epoch}
	_, err := Apply(context.Background(), b.o)
	if !errors.Is(err, journal.ErrLocked) || ErrorCode(err) != ExitLocked || !strings.Contains(err.Error(), "process 42, started 2026-05-06T10:00:00Z") {
		t.Errorf("error %v", err)
	}
	// Also when it is the running apply that spoils the second one's plan.
	b.o.AutoConfirm, b.o.ConfirmPlan = false, "sha256:0"
	b.lock.owner = nil
	b.before["file:/a"] = func() { b.lock.owner = &journal.Owner{PID: 42, StartedAt: epoch} }
	if _, err := Apply(context.Background(), b.o); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("error %v", err)
	}
	if r := b.check(); len(r.Items) != 1 {
		t.Errorf("a check beside it: %v", entries(r))
	}
}

func TestAnotherHandBetweenPlanAndAction(t *testing.T) {
	for name, tt := range map[string]struct {
		declared []any
		// meddle happens just before the last file is looked at again.
		meddle func(*bench)
		want   []string
		code   int
	}{
		"blocks the item": {[]any{"r", file("/a", "1"), file("/b", "1")},
			func(b *bench) { b.values["file:/b"] = "theirs" }, []string{"file:/a applied", "file:/b blocked"}, ExitError},
		"blocks it also when it did what was declared": {[]any{"r", file("/a", "1"), file("/b", "1")},
			func(b *bench) { b.values["file:/b"] = "1" }, []string{"file:/a applied", "file:/b blocked"}, ExitError},
		"is not told apart from a package's scripts": {[]any{"r", pkg("p"), file("/b", "1")},
			func(b *bench) { b.values["file:/b"] = "theirs" }, []string{"package:p applied", "file:/b applied"}, ExitOK},
		"is not told apart from a command": {[]any{"r", command("c", false), file("/b", "1")},
			func(b *bench) { b.values["file:/b"] = "1" }, []string{"command:c applied", "file:/b skipped"}, ExitOK},
		"that changes only what is volatile is none": {[]any{"r", file("/a", "1"), file("/b", "1")},
			func(b *bench) { b.noise++ }, []string{"file:/a applied", "file:/b applied"}, ExitOK},
		"that hides the state": {[]any{"r", file("/a", "1"), file("/b", "1")},
			func(b *bench) { b.unseen["file:/b"] = "gone dark" }, []string{"file:/a applied", "file:/b blocked"}, ExitError},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tt.declared...)
			b.o.AutoConfirm, b.o.ConfirmPlan = false, b.check().PlanHash
			looks := 0
			b.before["file:/b"] = func() {
				if len(b.did) == 0 {
					return // the plan is being made
				}
				if looks++; looks == 1 {
					tt.meddle(b)
				}
			}
			result := b.apply()
			same(t, "results", results(result.Executed), tt.want)
			if code := result.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
}

func TestARestartThatProvesUnnecessaryIsSkipped(t *testing.T) {
	conf := file("/etc/a", "1")
	b := newBench(t, "r", conf, unit("u.service", conf.ID))
	b.values[conf.ID] = "0"
	b.units["u.service"] = map[string]string{conf.ID: "0"}
	b.after[conf.ID] = func() { b.units["u.service"] = map[string]string{conf.ID: "1"} } // something restarted it already
	result := b.apply()
	same(t, "results", results(result.Executed), []string{"file:/etc/a applied", "systemd_unit:u.service skipped"})
	if code := result.ExitCode(); code != ExitOK || len(b.did) != 1 {
		t.Errorf("exit code %d, did %v", code, b.did)
	}
}

func TestWhatAProviderDidNotBringBlocksTheItem(t *testing.T) {
	conf := file("/f", "1")
	conf.Group = "g"
	b := newBench(t, "r", pkg("p"), conf)
	result := b.apply()
	same(t, "results", results(result.Executed), []string{"package:p applied", "file:/f blocked"})
	if text := result.Executed.Items[1].Result.Error; text != "group g does not exist (package:p was expected to bring it and did not)" {
		t.Errorf("error %q", text)
	}
}

func TestAFailureHoldsBackItsRoleAndWhatRequiresIt(t *testing.T) {
	declared := []any{"host", file("/h", "1"), "a", file("/a1", "1"), file("/a2", "1"), "b<a", file("/b", "1"), "c<b", file("/c", "1"), "d", file("/d", "1")}
	for name, tt := range map[string]struct {
		set  func(*bench)
		want []string
	}{
		"in a role": {func(b *bench) { b.fail["file:/a1"] = errors.New("EIO") },
			[]string{"file:/h applied", "file:/a1 failed", "file:/a2 skipped", "file:/b skipped", "file:/c skipped", "file:/d applied"}},
		"in the base role": {func(b *bench) { b.fail["file:/h"] = errors.New("EIO") },
			[]string{"file:/h failed", "file:/a1 applied", "file:/a2 applied", "file:/b applied", "file:/c applied", "file:/d applied"}},
		"of an observation": {func(b *bench) { b.unseen["file:/b"] = "EACCES" },
			[]string{"file:/h applied", "file:/a1 applied", "file:/a2 applied", "file:/b blocked", "file:/c skipped", "file:/d applied"}},
	} {
		for _, parallel := range []int{1, 3} {
			t.Run(name, func(t *testing.T) {
				b := newBench(t, declared...)
				tt.set(b)
				b.o.Parallel = parallel
				result := b.apply()
				same(t, "results", results(result.Executed), tt.want)
				if code := result.ExitCode(); code != ExitError {
					t.Errorf("exit code %d", code)
				}
			})
		}
	}
	b := newBench(t, declared...)
	b.unseen["file:/a1"] = "EACCES"
	for _, it := range b.check().Items {
		if held := strings.Contains(it.Note, "hold this back: file:/a1"); held != slices.Contains([]string{"file:/a2", "file:/b", "file:/c"}, it.Resource.ID) {
			t.Errorf("%s: note %q", it.Resource.ID, it.Note)
		} else if held != (it.HeldBack == "file:/a1") {
			t.Errorf("%s: held back by %q", it.Resource.ID, it.HeldBack)
		}
	}
}

func TestAFailedActionFailsTheRunAlsoWhenItLeftWhatWasDeclared(t *testing.T) {
	b := newBench(t, "r", command("c", false))
	b.fail["command:c"] = errors.New("exit status 7")
	b.after["command:c"] = nil
	b.world.before["command:c"] = func() {
		if len(b.did) > 0 {
			b.values["command:c"] = "ran"
		}
	}
	result := b.apply()
	if code := result.ExitCode(); code != ExitError || len(result.After.Items) != 0 {
		t.Errorf("exit code %d, left %v", code, entries(result.After))
	}
}

func TestACommandThatIsNotIdempotentRunsOnceAnApply(t *testing.T) {
	b := newBench(t, "r", command("c", true))
	if code := ExitCode(b.check()); code != ExitOK {
		t.Errorf("check: exit code %d", code)
	}
	for range 2 {
		b.did = nil
		result := b.apply()
		same(t, "done", b.did, []string{"run command:c"})
		same(t, "left", entries(result.After), []string{"run command:c warn"})
		if code := result.ExitCode(); code != ExitOK {
			t.Errorf("exit code %d", code)
		}
	}
	if n := b.state().Number; n != 2 {
		t.Errorf("apply number %d", n)
	}
}

func TestPasses(t *testing.T) {
	for name, tt := range map[string]struct {
		auto bool
		// undo is what else happens once /a is written.
		undo func(*bench)
		want []string
		code int
	}{
		"what was disturbed is healed by a second pass": {true, func(b *bench) { b.values["file:/z"] = "0" },
			[]string{"file:/a applied", "file:/z applied"}, ExitOK},
		"which only a standing yes allows": {false, func(b *bench) { b.values["file:/z"] = "0" }, []string{"file:/a applied"}, ExitDrift},
		"no progress ends it":              {true, func(b *bench) { delete(b.values, "file:/a") }, []string{"file:/a applied"}, ExitDrift},
		"three passes are the end": {true, func(b *bench) {
			b.values["file:/z"] = "0"
			b.after["file:/z"] = func() { b.values["file:/a"] = "0" }
		}, []string{"file:/a applied", "file:/z applied", "file:/a applied"}, ExitDrift},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "r", file("/a", "1"), file("/z", "1"))
			b.has(file("/z", "1"))
			b.after["file:/a"] = func() { tt.undo(b) }
			if !tt.auto {
				b.o.AutoConfirm, b.o.ConfirmPlan = false, b.check().PlanHash
			}
			result := b.apply()
			same(t, "results", results(result.Executed), tt.want)
			for i, it := range result.Executed.Items {
				if it.Pass != i+1 {
					t.Errorf("%s: pass %d", it.Resource.ID, it.Pass)
				}
			}
			if code := result.ExitCode(); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
		})
	}
}

func TestASignalLetsTheActionInHandFinish(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"), file("/b", "1"))
	ctx, stop := context.WithCancel(context.Background())
	b.after["file:/a"] = stop
	result, err := Apply(ctx, b.o)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "results", results(result.Executed), []string{"file:/a applied", "file:/b skipped"})
	if !result.Interrupted || result.ExitCode() != ExitError || b.ended != 1 {
		t.Errorf("interrupted %v, exit code %d, finished %d times", result.Interrupted, result.ExitCode(), b.ended)
	}
	same(t, "left", entries(result.After), []string{"write file:/b"})
	if _, err := Apply(ctx, b.o); !errors.Is(err, context.Canceled) || ErrorCode(err) != ExitError {
		t.Errorf("an apply that is stopped before it began: %v", err)
	}
}

func TestAStateFolderThatCannotBeWrittenStopsTheApplyBeforeTheFirstAction(t *testing.T) {
	for _, failure := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EACCES} {
		for _, call := range []string{"mkdir", "create", "write", "sync"} {
			b := newBench(t, "r", file("/a", "1"))
			b.fs.Inject = func(did, name string) error {
				if did == call {
					return failure
				}
				return nil
			}
			_, err := Apply(context.Background(), b.o)
			if !errors.Is(err, failure) || len(b.did) != 0 || ErrorCode(err) != ExitError || b.lock.owner != nil {
				t.Errorf("%s fails with %v: did %v, error %v", call, failure, b.did, err)
			}
		}
	}
}

func TestADiskThatFillsUpInTheMiddleLosesNoOutcome(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"), file("/b", "1"))
	full := false
	b.after["file:/a"] = func() { full = true }
	b.fs.Inject = func(call, name string) error {
		switch {
		case call == "unlink" && name == ".reserve":
			full = false // the reserve is the room that the journal needs
		case call == "write" && full:
			return syscall.ENOSPC
		}
		return nil
	}
	result := b.apply()
	if code := result.ExitCode(); code != ExitOK || result.Err != nil {
		t.Errorf("exit code %d, %v", code, result.Err)
	}
	if state := b.state(); len(state.Interrupted) != 0 || state.Number != 1 {
		t.Errorf("state %+v", state)
	}
}

func TestAJournalThatBreaksInTheMiddleStopsTheRun(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"), file("/b", "1"))
	broken := false
	b.after["file:/a"] = func() { broken = true }
	b.fs.Inject = func(call, name string) error {
		if broken && call == "write" {
			return syscall.EIO
		}
		return nil
	}
	result := b.apply()
	same(t, "done", b.did, []string{"write file:/a"})
	if result.ExitCode() != ExitError || !errors.Is(result.Err, syscall.EIO) || result.Executed.Items[1].Result.Status != drift.Skipped {
		t.Errorf("result %v, error %v", results(result.Executed), result.Err)
	}
	b.fs.Inject = nil
	r := b.check()
	if len(r.Interrupted) != 1 || r.Interrupted[0].Resource != "file:/a" {
		t.Errorf("interrupted %+v", r.Interrupted)
	}
}

func TestTimesAreUTCAndNothingEndsBeforeItBegan(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"))
	kolkata := time.FixedZone("IST", 5*3600+1800)
	now := epoch.In(kolkata)
	b.o.Clock = func() time.Time {
		now = now.Add(-time.Hour) // a clock that is set back all the time, without a monotonic reading
		return now
	}
	result := b.apply()
	for _, r := range []*drift.Report{result.Executed, result.After} {
		if r.FinishedAt.Before(r.StartedAt) || r.StartedAt.Location() != time.UTC {
			t.Errorf("from %v to %v", r.StartedAt, r.FinishedAt)
		}
	}
	if ms := result.Executed.Items[0].Result.DurationMS; ms != 0 {
		t.Errorf("took %d ms", ms)
	}
}

func TestRolesRunBesideEachOther(t *testing.T) {
	shared := file("/a2", "1")
	b := newBench(t, "host", file("/h", "1"), "a", file("/a1", "1"), shared, "b", file("/b1", "1"), unit("b.service", shared.ID), "c<a", file("/c1", "1"))
	b.values[shared.ID] = "0"
	b.o.Parallel = 4
	result := b.apply()
	if code := result.ExitCode(); code != ExitOK || len(b.did) != 6 {
		t.Fatalf("exit code %d, did %v", code, b.did)
	}
	before := func(first, second string) {
		if slices.Index(b.did, first) > slices.Index(b.did, second) {
			t.Errorf("%s came before %s: %v", second, first, b.did)
		}
	}
	for _, id := range []string{"write file:/a1", "write file:/b1", "write file:/c1"} {
		before("write file:/h", id)
	}
	before("write file:/a1", "write file:/a2")
	before("write file:/a2", "write file:/c1")
	before("write file:/a2", "start systemd_unit:b.service")
}

// readStart reads the first record of the newest run.
func readStart(t *testing.T, b *bench) *journal.Start {
	t.Helper()
	run, err := journal.Read(b.fs, stateDir, b.state().LastRun)
	if err != nil {
		t.Fatal(err)
	}
	return run.Start
}

func TestAUnitIsLookedAtOnceItsReloadIsDone(t *testing.T) {
	b := newBench(t, "r", file("/etc/a", "1"), unit("u.service"), file("/etc/b", "1"))
	b.apply()
	if b.settled != 1 {
		t.Errorf("settled %d times for one unit", b.settled)
	}
	b = newBench(t, "r", file("/etc/a", "1"), unit("u.service"))
	b.unsettled = errors.New("daemon-reload: timed out")
	result := b.apply()
	same(t, "results", results(result.Executed), []string{"file:/etc/a applied", "systemd_unit:u.service blocked"})
	if text := result.Executed.Items[1].Result.Error; !strings.Contains(text, "daemon-reload: timed out") {
		t.Errorf("error %q", text)
	}
}
