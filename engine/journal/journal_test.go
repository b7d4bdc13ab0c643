package journal

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
)

const stateDir = "/var/lib/gyrum"

var epoch = time.Date(2026, 5, 6, 10, 0, 0, 0, time.UTC)

// model is a state folder on the model host.
type model struct {
	t   *testing.T
	fs  *hosttest.FS
	now time.Time
}

func newModel(t *testing.T) *model {
	return &model{t: t, fs: hosttest.NewFS(hosttest.NewPower()), now: epoch}
}

func (m *model) clock() time.Time {
	m.now = m.now.Add(time.Second)
	return m.now
}

func (m *model) state() State {
	m.t.Helper()
	s, err := Load(m.fs, stateDir)
	if err != nil {
		m.t.Fatal(err)
	}
	return s
}

func (m *model) begin() *Run {
	m.t.Helper()
	s := m.state()
	run, err := Begin(m.fs, stateDir, s, Start{Host: "t", Number: s.Number, PlanHash: "sha256:plan"}, 2, m.clock, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	return run
}

// act records an action; cut leaves it without its outcome.
func (m *model) act(run *Run, item int, id string, cut bool) {
	m.t.Helper()
	do := func(err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
	}
	do(run.Intent(Intent{Item: item, Pass: 1, Resource: id, Action: drift.Action{Verb: drift.Write}, PlanHash: "sha256:plan", Plugin: "sha256:p"}))
	e := host.Effect{Resource: id, Name: "file_replace", Target: "/a", Before: "sha256:1", After: "sha256:2"}
	do(run.Effect("before", e, nil))
	do(run.Effect("after", e, nil))
	if !cut {
		do(run.Outcome(Outcome{Item: item, Pass: 1, Resource: id, Result: drift.Result{Status: drift.Applied}}))
	}
}

// run records a whole run with these actions.
func (m *model) run(ids ...string) string {
	m.t.Helper()
	run := m.begin()
	items := make([]drift.Item, len(ids))
	for i, id := range ids {
		items[i].Resource.ID = id
	}
	if err := run.Plan(Plan{Pass: 1, PlanHash: "sha256:plan", Items: items}); err != nil {
		m.t.Fatal(err)
	}
	for i, id := range ids {
		m.act(run, i, id, false)
	}
	if err := run.Observed(&drift.Report{RunID: "after", Follows: run.ID(), Items: []drift.Item{}}); err != nil {
		m.t.Fatal(err)
	}
	if err := run.End(End{Executed: len(ids)}); err != nil {
		m.t.Fatal(err)
	}
	return run.ID()
}

// bytes gives and sets what a run's file holds, as another hand would.
func (m *model) bytes(id string) []byte {
	m.t.Helper()
	runs, err := openRead(m.fs, stateDir+"/runs")
	if err != nil {
		m.t.Fatal(err)
	}
	raw, err := readAll(runs, id+runSuffix)
	if err != nil {
		m.t.Fatal(err)
	}
	return raw
}

func (m *model) set(id string, raw []byte) {
	m.t.Helper()
	runs, err := openWrite(m.fs, stateDir+"/runs")
	if err == nil {
		err = replace(runs, id+runSuffix, raw)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) verify(anchor string) *Verdict {
	m.t.Helper()
	v, err := Verify(m.fs, stateDir, anchor)
	if err != nil {
		m.t.Fatal(err)
	}
	return v
}

func TestTheNumberCountsAppliesThatExecutedAnAction(t *testing.T) {
	m := newModel(t)
	if s := m.state(); s.Number != 0 || s.LastRun != "" || s.LastHash != "" {
		t.Errorf("a host that saw no apply: %+v", s)
	}
	m.run("file:/a")
	m.run()
	m.run("file:/a", "file:/b")
	if s := m.state(); s.Number != 2 {
		t.Errorf("number %d, want 2", s.Number)
	}
	cut := m.begin()
	m.act(cut, 0, "file:/a", true)
	if s := m.state(); s.Number != 3 {
		t.Errorf("number %d after a run that was cut off in its first action, want 3", s.Number)
	}
}

func TestAnIntentWithoutOutcomeIsInterruptedUntilARunLooked(t *testing.T) {
	m := newModel(t)
	cut := m.begin()
	m.act(cut, 0, "file:/a", false)
	m.act(cut, 1, "file:/b", true)
	want := drift.Interrupted{RunID: cut.ID(), Resource: "file:/b", Verb: drift.Write}
	if s := m.state(); !slices.Equal(s.Interrupted, []drift.Interrupted{want}) {
		t.Errorf("interrupted %+v", s.Interrupted)
	}
	// A run that does not look at the resource hands the word on.
	s := m.state()
	run, err := Begin(m.fs, stateDir, s, Start{Number: s.Number, Interrupted: s.Interrupted, Carried: s.Interrupted}, 0, m.clock, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.End(End{}); err != nil {
		t.Fatal(err)
	}
	if s := m.state(); !slices.Equal(s.Interrupted, []drift.Interrupted{want}) {
		t.Errorf("interrupted after a run elsewhere %+v", s.Interrupted)
	}
	m.run()
	if s := m.state(); len(s.Interrupted) != 0 {
		t.Errorf("interrupted after a run that looked %+v", s.Interrupted)
	}
}

// An item that a look found in order is settled, also when the plan had expected more to do; one that nobody looked at is not.
func TestOnlyWhatARunLookedAtIsSettled(t *testing.T) {
	for _, left := range []bool{false, true} {
		m := newModel(t)
		cut := m.begin()
		m.act(cut, 0, "systemd_unit:a.service", true)
		s := m.state()
		run, err := Begin(m.fs, stateDir, s, Start{Number: s.Number, Interrupted: s.Interrupted}, 1, m.clock, nil)
		if err == nil {
			err = run.Outcome(Outcome{Resource: "systemd_unit:a.service", Left: left, Result: drift.Result{Status: drift.Skipped, Error: "not necessary any more"}})
		}
		if err == nil {
			err = run.End(End{})
		}
		if err != nil {
			t.Fatal(err)
		}
		if open := m.state().Interrupted; (len(open) > 0) != left {
			t.Errorf("left %v: still interrupted are %v", left, open)
		}
	}
}

func TestRunsAreInTheOrderOfTheirIDsAlsoWhenTheClockIsSetBack(t *testing.T) {
	m := newModel(t)
	var ids []string
	for range 5 {
		ids = append(ids, m.run("file:/a"))
		m.now = m.now.Add(-24 * time.Hour)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids %v", ids)
	}
	if v := m.verify(""); len(v.Damage) != 0 || v.Runs != 5 {
		t.Errorf("verdict %+v", v)
	}
}

func TestATornEndIsNoDamage(t *testing.T) {
	m := newModel(t)
	run := m.begin()
	m.act(run, 0, "file:/a", true)
	id := run.ID()
	whole := m.bytes(id)
	at := strings.LastIndex(strings.TrimSuffix(string(whole), "\n"), "\n") + 1 // where the last record begins
	for end := at; end <= len(whole); end += 7 {
		m := newModel(t)
		run := m.begin()
		m.act(run, 0, "file:/a", true)
		id := run.ID()
		m.set(id, m.bytes(id)[:end])
		if s := m.state(); s.Number != 1 || len(s.Interrupted) != 1 {
			t.Errorf("cut at %d: %+v", end, s)
		}
		m.run("file:/a")
		if v := m.verify(""); len(v.Damage) != 0 || v.Runs != 2 {
			t.Errorf("cut at %d: %+v", end, v)
		}
		if log, err := Read(m.fs, stateDir, id); err != nil || log.End != nil || log.Start == nil {
			t.Errorf("cut at %d: %+v, %v", end, log, err)
		}
	}
}

func TestVerifyFindsWhatWasChangedDroppedOrReordered(t *testing.T) {
	split := func(raw []byte) []string { return strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n") }
	join := func(l []string) []byte {
		s := strings.Join(l, "")
		if !strings.HasSuffix(s, "\n") {
			s += "\n"
		}
		return []byte(s)
	}
	edits := map[string]func(l []string, i int) []string{
		"changed": func(l []string, i int) []string {
			l[i] = strings.Replace(l[i], `"time":"2026`, `"time":"2025`, 1)
			return l
		},
		"made unreadable": func(l []string, i int) []string { l[i] = "x" + l[i]; return l },
		"dropped":         func(l []string, i int) []string { return slices.Delete(l, i, i+1) },
		"swapped": func(l []string, i int) []string {
			a, b := strings.TrimSuffix(l[i], "\n")+"\n", strings.TrimSuffix(l[i+1], "\n")+"\n"
			l[i], l[i+1] = b, a
			return l
		},
	}
	for name, edit := range edits {
		for of := range 2 {
			whole := newModelWithRuns(t)
			records := len(split(whole.bytes(whole.ids()[of])))
			for i := range records {
				if of == 1 && i >= records-2 {
					continue // the newest end is what only an anchor shows
				}
				if name == "swapped" && i == records-1 {
					continue
				}
				m := newModelWithRuns(t)
				id := m.ids()[of]
				m.set(id, join(edit(split(m.bytes(id)), i)))
				if v := m.verify(""); len(v.Damage) == 0 {
					t.Errorf("record %d of run %d %s: not found", i, of, name)
				}
			}
		}
	}
	m := newModelWithRuns(t)
	head := m.verify("").Head
	m.drop(m.ids()[0])
	if v := m.verify(""); len(v.Damage) == 0 {
		t.Error("a dropped run was not found")
	}
	m = newModelWithRuns(t)
	m.drop(m.ids()[1])
	if v := m.verify(head); v.Anchored {
		t.Error("the anchor was found although the newest run is gone")
	}
	m = newModelWithRuns(t)
	head = m.verify("").Head
	m.run("file:/c")
	if v := m.verify(head); !v.Anchored || len(v.Damage) != 0 {
		t.Errorf("verdict %+v", v)
	}
}

func newModelWithRuns(t *testing.T) *model {
	m := newModel(t)
	m.run("file:/a")
	m.run("file:/a", "file:/b")
	return m
}

func (m *model) ids() []string {
	m.t.Helper()
	list, err := List(m.fs, stateDir)
	if err != nil {
		m.t.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.RunID)
	}
	return ids
}

func (m *model) drop(id string) {
	m.t.Helper()
	runs, err := openWrite(m.fs, stateDir+"/runs")
	if err == nil {
		err = runs.Unlink(id + runSuffix)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func TestRetentionLeavesAnAnchorAndTheNewestRun(t *testing.T) {
	m := newModel(t)
	for range 6 {
		m.run("file:/a")
	}
	if err := SaveCheck(m.fs, stateDir, &drift.Report{RunID: mustID(t, epoch), Items: []drift.Item{}}); err != nil {
		t.Fatal(err)
	}
	ids := m.ids()
	removed, err := Prune(m.fs, stateDir, Retention{MaxRuns: 3}, m.now)
	if err != nil || len(removed) != 3 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if v := m.verify(""); len(v.Damage) != 0 || v.Runs != 3 || v.Removed != 3 {
		t.Errorf("verdict %+v", v)
	}
	if s := m.state(); s.Number != 6 {
		t.Errorf("number %d, want 6", s.Number)
	}
	if removed, err = Prune(m.fs, stateDir, Retention{MaxAge: time.Minute}, m.now.Add(time.Hour)); err != nil || len(removed) != 3 {
		t.Fatalf("removed %v (two runs and the saved check are due), %v", removed, err)
	}
	if left := m.ids(); !slices.Equal(left, ids[len(ids)-1:]) {
		t.Errorf("left %v", left)
	}
	m.run("file:/a")
	if v := m.verify(""); len(v.Damage) != 0 || v.Runs != 2 || v.Removed != 5 {
		t.Errorf("verdict %+v", v)
	}
	if s := m.state(); s.Number != 7 {
		t.Errorf("number %d, want 7", s.Number)
	}
}

func TestWhatIsNoRunLeadsNothingAstray(t *testing.T) {
	m := newModel(t)
	first := m.run("file:/a")
	before := m.state()
	for _, name := range []string{first + " copy", strings.ToLower(first), "zzz"} {
		m.set(name, m.bytes(first))
	}
	if s := m.state(); s.LastRun != first || s.LastHash != before.LastHash || s.Number != before.Number {
		t.Errorf("state %+v, before %+v", s, before)
	}
	m.run("file:/b")
	if v := m.verify(""); len(v.Damage) != 0 || v.Runs != 2 {
		t.Errorf("verdict %+v", v)
	}
}

func TestARecordThatIsTakenAwayStopsTheRun(t *testing.T) {
	for name, take := range map[string]func(*model, *Run){
		"removed": func(m *model, r *Run) { m.drop(r.ID()) },
		"cut":     func(m *model, r *Run) { m.set(r.ID(), m.bytes(r.ID())[:10]) },
	} {
		m := newModel(t)
		run := m.begin()
		m.act(run, 0, "file:/a", false)
		take(m, run)
		if err := run.Intent(Intent{Item: 1, Resource: "file:/b"}); err == nil || !strings.Contains(err.Error(), "taken away") {
			t.Errorf("%s: the next intent: %v", name, err)
		}
		if err := run.End(End{}); err == nil {
			t.Errorf("%s: the run ends as if nothing were wrong", name)
		}
	}
}

func TestAgeAloneNeverTakesTheNewestRuns(t *testing.T) {
	m := newModel(t)
	for range 5 {
		m.run("file:/a")
	}
	removed, err := Prune(m.fs, stateDir, Retention{MaxAge: time.Hour, AtLeast: 3}, m.now.Add(1000*time.Hour))
	if err != nil || len(removed) != 2 || len(m.ids()) != 3 {
		t.Errorf("removed %v, left %v, %v", removed, m.ids(), err)
	}
	if v := m.verify(""); len(v.Damage) != 0 || v.Removed != 2 {
		t.Errorf("verdict %+v", v)
	}
}

func TestARetentionThatIsCutOffLosesNothing(t *testing.T) {
	for cut := 0; ; cut++ {
		m := newModel(t)
		for range 4 {
			m.run("file:/a")
		}
		m.fs.Power.Cut(cut)
		_, err := Prune(m.fs, stateDir, Retention{MaxRuns: 1}, m.now)
		m.fs.Crash(nil)
		if s := m.state(); s.Number != 4 {
			t.Errorf("cut at effect %d: number %d", cut, s.Number)
		}
		if v := m.verify(""); len(v.Damage) != 0 {
			t.Errorf("cut at effect %d: %+v", cut, v)
		}
		if err == nil {
			return
		}
	}
}

func TestAShownRunHasItsItemsAndEffects(t *testing.T) {
	m := newModel(t)
	id := m.run("file:/a", "file:/b")
	log, err := Read(m.fs, stateDir, id)
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Items) != 2 || log.Items[1].Resource.ID != "file:/b" || log.Items[1].Result.Status != drift.Applied || log.After == nil || log.End == nil {
		t.Errorf("log %+v", log)
	}
	if e := log.Effects(1); len(e) != 2 || e[0].Phase != "before" || e[1].Phase != "after" || e[1].Resource != "file:/b" {
		t.Errorf("effects %+v", e)
	}
	s := log.Summary()
	if s.Executed != 2 || s.ExitCode == nil || *s.ExitCode != 0 || s.FinishedAt.Before(s.StartedAt) || s.Host != "t" {
		t.Errorf("summary %+v", s)
	}
	for _, id := range []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "../lock", ""} {
		if _, err := Read(m.fs, stateDir, id); !errors.Is(err, ErrNoRun) {
			t.Errorf("run %q: %v", id, err)
		}
	}
}

func TestAFollowerSeesEveryRecordOnce(t *testing.T) {
	m := newModel(t)
	f := Follow(m.fs, stateDir, "")
	if records, err := f.Next(); err != nil || len(records) != 0 {
		t.Fatalf("before the first run: %v, %v", records, err)
	}
	m.run("file:/a")
	first, err := f.Next()
	if err != nil || len(first) != 8 || first[0].Kind != KindStart || first[7].Kind != KindEnd {
		t.Fatalf("%d records, %v", len(first), err)
	}
	if more, err := f.Next(); err != nil || len(more) != 0 {
		t.Errorf("again: %v, %v", more, err)
	}
	run := m.begin()
	if more, err := f.Next(); err != nil || len(more) != 1 {
		t.Errorf("of the run under way: %v, %v", more, err)
	}
	m.act(run, 0, "file:/a", false)
	if more, err := f.Next(); err != nil || len(more) != 4 {
		t.Errorf("of the run under way: %v, %v", more, err)
	}
}

func TestEveryCutOfARunLeavesTheTruth(t *testing.T) {
	// Whatever a lost power takes of what was not synced: an action that began is known, the chain holds, and the next run can
	// be recorded.
	for seed := range 6 {
		for cut := 0; ; cut++ {
			m := newModel(t)
			m.run("file:/a")
			m.fs.Power.Cut(cut)
			began, ended := false, false
			err := func() error {
				s, err := Load(m.fs, stateDir)
				if err != nil {
					return err
				}
				run, err := Begin(m.fs, stateDir, s, Start{Number: s.Number}, 1, m.clock, nil)
				if err != nil {
					return err
				}
				if err := run.Plan(Plan{Items: []drift.Item{{}}}); err != nil {
					return err
				}
				if err := run.Intent(Intent{Resource: "file:/b", Action: drift.Action{Verb: drift.Write}}); err != nil {
					return err
				}
				began = true
				e := host.Effect{Resource: "file:/b", Name: "file_replace"}
				if err := errors.Join(run.Effect("before", e, nil), run.Effect("after", e, nil)); err != nil {
					return err
				}
				if err := run.Outcome(Outcome{Resource: "file:/b"}); err != nil {
					return err
				}
				ended = true
				return run.End(End{})
			}()
			m.fs.Crash(func(n int, c hosttest.Change) bool { return (n+cut+seed)%3 != 0 == (seed%2 == 0) })
			s := m.state()
			if began && s.Number != 2 {
				t.Errorf("cut %d, losing %d: the action began, number %d", cut, seed, s.Number)
			}
			if began && !ended && len(s.Interrupted) != 1 && !logHasOutcome(m, s.LastRun) {
				t.Errorf("cut %d, losing %d: nobody knows of the action: %+v", cut, seed, s)
			}
			if ended && len(s.Interrupted) != 0 {
				t.Errorf("cut %d, losing %d: interrupted %+v", cut, seed, s.Interrupted)
			}
			m.run("file:/c")
			if v := m.verify(""); len(v.Damage) != 0 {
				t.Errorf("cut %d, losing %d: %+v", cut, seed, v.Damage)
			}
			if err == nil {
				break
			}
		}
	}
}

func logHasOutcome(m *model, id string) bool {
	log, err := Read(m.fs, stateDir, id)
	return err == nil && slices.ContainsFunc(log.Records, func(r Record) bool { return r.Outcome != nil })
}

func TestPrepareRefusesAFolderThatOthersCanWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := Prepare(fsys.System("/"), dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("made %v, %v", info, err)
	}
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := Prepare(fsys.System("/"), dir); err == nil || !strings.Contains(err.Error(), "chmod 0700") {
		t.Errorf("error %v", err)
	}
}

func TestTheStateFolderMayStandBehindSymlinks(t *testing.T) {
	base := t.TempDir()
	for _, step := range []error{
		os.MkdirAll(filepath.Join(base, "disk/deep"), 0o755),
		os.Symlink("../disk/deep", filepath.Join(base, "disk/relative")),
		os.Symlink(filepath.Join(base, "disk/relative"), filepath.Join(base, "absolute")),
		os.Symlink("loop", filepath.Join(base, "loop")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if err := Prepare(fsys.System("/"), filepath.Join(base, "absolute/state")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(base, "disk/deep/state")); err != nil {
		t.Error(err)
	}
	if err := Prepare(fsys.System("/"), filepath.Join(base, "loop/state")); err == nil || !strings.Contains(err.Error(), "too many symlinks") {
		t.Errorf("error %v", err)
	}
	if err := Prepare(fsys.System("/"), "state"); err == nil {
		t.Error("a relative path was taken")
	}
}

func mustID(t *testing.T, at time.Time) string {
	t.Helper()
	id, err := NewID(at, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAChainBuiltOnAKilledRunOutlivesALostPower(t *testing.T) {
	m := newModel(t)
	killed := m.begin()
	m.act(killed, 0, "file:/a", true) // the page cache has its effects, the disk does not
	m.run("file:/a")
	m.fs.Crash(nil)
	if v := m.verify(""); len(v.Damage) != 0 || v.Runs != 2 {
		t.Errorf("verdict %+v", v)
	}
}
