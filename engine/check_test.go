package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/resource"
)

// prober is the requirement's worked example.
func prober() []any {
	conf := file("/etc/gyrum/prober.yaml", "heartbeat")
	conf.Group = "gyrum"
	return []any{"gyrum-prober", pkg("gyrum-prober"), dir("/etc/gyrum"), conf, unit("gyrum-prober.service")}
}

func TestCheckOfTheWorkedExampleOnABareHost(t *testing.T) {
	b := newBench(t, prober()...)
	r := b.check()
	same(t, "items", entries(r), []string{
		"install package:gyrum-prober", "write directory:/etc/gyrum", "write file:/etc/gyrum/prober.yaml", "start systemd_unit:gyrum-prober.service"})
	if code := ExitCode(r); code != ExitDrift {
		t.Errorf("exit code %d, want %d", code, ExitDrift)
	}
	if note := r.Items[2].Note; !strings.Contains(note, "group gyrum is not there yet; package:gyrum-prober must bring it") {
		t.Errorf("note of the file: %q", note)
	}
	if r.Stats.ResourcesChecked != 4 || r.Stats.InSync != 0 || !r.DryRun || !strings.HasPrefix(r.PlanHash, "sha256:") {
		t.Errorf("report: %+v", r)
	}
	if len(b.did) != 0 || b.lock.owner != nil {
		t.Errorf("check did %v", b.did)
	}
}

func TestWhatAnItemNeedsIsSettledByWhatActsEarlier(t *testing.T) {
	grouped := func(s spec, group string) spec { s.Group = group; return s }
	held := func(s spec) spec { s.Held = true; return s }
	gone := func(s spec) spec { s.State = "absent"; return s }
	for name, tt := range map[string]struct {
		declared []any
		want     []string
	}{
		"a directory item makes the parent":           {[]any{"r", dir("/a"), file("/a/f", "x")}, []string{"write directory:/a", "write file:/a/f"}},
		"a directory item that comes later does not":  {[]any{"r", file("/a/f", "x"), dir("/a")}, []string{"write file:/a/f error !", "write directory:/a"}},
		"another directory does not":                  {[]any{"r", dir("/b"), file("/a/f", "x")}, []string{"write directory:/b", "write file:/a/f error !"}},
		"every folder of a chain must be made":        {[]any{"r", dir("/a"), dir("/a/b"), file("/a/b/f", "x")}, []string{"write directory:/a", "write directory:/a/b", "write file:/a/b/f"}},
		"a package may make a parent":                 {[]any{"r", pkg("p"), file("/a/f", "x")}, []string{"install package:p", "write file:/a/f"}},
		"a package that is blocked makes nothing":     {[]any{"r", held(pkg("p")), file("/a/f", "x")}, []string{"install package:p error !", "write file:/a/f error !"}},
		"a package that goes away makes nothing":      {[]any{"r", gone(pkg("p")), file("/a/f", "x")}, []string{"install package:p", "write file:/a/f error !"}},
		"a command may make a group":                  {[]any{"r", command("c", false), grouped(file("/f", "x"), "g")}, []string{"run command:c", "write file:/f"}},
		"nothing makes a group":                       {[]any{"r", dir("/a"), grouped(file("/a/f", "x"), "g")}, []string{"write directory:/a", "write file:/a/f error !"}},
		"what is blocked for a need makes no parent":  {[]any{"r", grouped(dir("/a"), "g"), file("/a/f", "x")}, []string{"write directory:/a error !", "write file:/a/f error !"}},
		"a command that runs every time may bring it": {[]any{"r", command("c", true), file("/a/f", "x")}, []string{"run command:c warn", "write file:/a/f"}},
	} {
		t.Run(name, func(t *testing.T) { same(t, "items", entries(newBench(t, tt.declared...).check()), tt.want) })
	}
}

func TestAUnitWhoseInputsChangeRestartsOnceBehindTheLastOfThem(t *testing.T) {
	first, second := file("/etc/a", "1"), file("/etc/b", "1")
	u := unit("u.service", first.ID, second.ID)
	b := newBench(t, "r", dir("/etc"), first, u, second, file("/z", "1"))
	b.has(dir("/etc"))
	b.has(spec{ID: first.ID, Want: "0"}, spec{ID: second.ID, Want: "0"}, spec{ID: "file:/z", Want: "0"})
	b.units["u.service"] = map[string]string{first.ID: "0", second.ID: "0"}
	want := []string{"write file:/etc/a", "write file:/etc/b", "start systemd_unit:u.service", "write file:/z"}
	r := b.check()
	same(t, "items", entries(r), want)
	if code := r.Items[2].Reason.Code; code != "input-changes" {
		t.Errorf("reason %s", code)
	}
	result := b.apply()
	same(t, "done", b.did, want)
	if code := result.ExitCode(); code != ExitOK || len(result.After.Items) != 0 {
		t.Errorf("exit code %d, left %v", code, entries(result.After))
	}

	// A unit that does not run yet starts at the same place, once.
	delete(b.units, "u.service")
	b.has(spec{ID: second.ID, Want: "0"})
	same(t, "items", entries(b.check()), []string{"write file:/etc/b", "start systemd_unit:u.service"})
}

// Folders in folders go in one apply, in whichever order they are declared; what nobody takes away keeps all above it.
func TestNestedFoldersGoInOneApply(t *testing.T) {
	gone := func(s spec) spec { s.State = "absent"; return s }
	a, b, c, f, g := gone(dir("/a")), gone(dir("/a/b")), gone(dir("/a/b/c")), gone(file("/a/b/c/f", "")), gone(file("/a/g", ""))
	up := []string{"remove file:/a/b/c/f", "remove directory:/a/b/c", "remove directory:/a/b", "remove file:/a/g", "remove directory:/a"}
	for name, tt := range map[string]struct {
		declared []any
		want     []string
	}{
		"from the innermost":  {[]any{"r", f, c, b, g, a}, up},
		"from the outermost":  {[]any{"r", a, b, c, f, g}, []string{up[0], up[1], up[2], up[3], up[4]}},
		"in no order":         {[]any{"r", b, g, a, f, c}, []string{up[3], up[0], up[1], up[2], up[4]}},
		"of several roles":    {[]any{"q", a, b, "r<q", c, f, g}, []string{up[0], up[1], up[2], up[3], up[4]}},
		"one entry remains":   {[]any{"r", f, c, b, a}, []string{up[0], up[1], up[2], up[4] + " error !"}},
		"the innermost stays": {[]any{"r", c, b, g, a}, []string{up[1] + " error !", up[2] + " error !", up[3], up[4] + " error !"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newBench(t, tt.declared...)
			w.has(a, b, c, f, g)
			r := w.check()
			same(t, "items", entries(r), tt.want)
			if code := ExitCode(r); code != ExitDrift {
				return
			}
			for _, parallel := range []int{1, 4} {
				w.has(a, b, c, f, g)
				w.did, w.o.Parallel = nil, parallel
				if result := w.apply(); result.ExitCode() != ExitOK || len(result.After.Items) != 0 || len(w.did) != len(tt.want) {
					t.Errorf("%d at once: exit code %d, done %v, left %v", parallel, result.ExitCode(), w.did, entries(result.After))
				}
			}
		})
	}
}

func TestADropInThatIsNotThereYetIsAnInput(t *testing.T) {
	b := newBench(t, "r", unit("u@x.service"), file("/etc/systemd/system/u@.service.d/10.conf", "1"))
	b.units["u@x.service"] = map[string]string{}
	same(t, "items", entries(b.check()), []string{"write file:/etc/systemd/system/u@.service.d/10.conf", "start systemd_unit:u@x.service"})
}

func TestAUnitThatAPackageMayStartIsAnItem(t *testing.T) {
	stopped := unit("d.service")
	stopped.State = "stopped"
	b := newBench(t, "r", pkg("d"), stopped)
	same(t, "items", entries(b.check()), []string{"install package:d", "stop systemd_unit:d.service"})
	b.after["package:d"] = func() { b.units["d.service"] = map[string]string{} }
	result := b.apply()
	same(t, "done", b.did, []string{"install package:d", "stop systemd_unit:d.service"})
	if code := result.ExitCode(); code != ExitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestWhatCannotBeSeenIsAnErrorAndNeverAbsent(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"), file("/b", "1"))
	b.has(file("/b", "1"))
	b.unseen["file:/a"] = "permission denied"
	r := b.check()
	same(t, "items", entries(r), []string{"noop file:/a error"})
	if it := r.Items[0]; string(it.Observed) != "null" || it.Reason.Code != "unobservable" || it.Reason.Text != "permission denied" {
		t.Errorf("item %+v", it)
	}
	if code := ExitCode(r); code != ExitError {
		t.Errorf("exit code %d", code)
	}
}

func TestAnUnreadableStateFolderLeavesTheReportWithoutAHash(t *testing.T) {
	b := newBench(t, "r", file("/a", "1"))
	b.apply()
	b.o.State = denied{}
	b.values["file:/a"] = "2"
	r := b.check()
	if r.PlanHash != "" || !strings.Contains(r.NoPlanHash, "permission") {
		t.Errorf("plan hash %q, reason %q", r.PlanHash, r.NoPlanHash)
	}
	same(t, "items", entries(r), []string{"write file:/a"})
	b.o.AutoConfirm, b.o.ConfirmPlan = false, "sha256:0"
	if result := b.apply(); !result.Refused {
		t.Error("a plan without a hash was confirmed by one")
	}
}

// denied is a file system whose state folder nobody may read.
type denied struct{}

func (denied) Root() (fsys.ReadDir, error) { return nil, fs.ErrPermission }

func TestSelection(t *testing.T) {
	declared := []any{"a", file("/1", "x"), dir("/2"), "b", file("/3", "x")}
	for name, tt := range map[string]struct {
		only, skip []string
		want       []string
	}{
		"everything":     {nil, nil, []string{"write file:/1", "write directory:/2", "write file:/3"}},
		"a role":         {[]string{"a"}, nil, []string{"write file:/1", "write directory:/2"}},
		"a type":         {[]string{"file"}, nil, []string{"write file:/1", "write file:/3"}},
		"an id":          {[]string{"file:/3"}, nil, []string{"write file:/3"}},
		"but":            {[]string{"file"}, []string{"b"}, []string{"write file:/1"}},
		"all but a type": {nil, []string{"file"}, []string{"write directory:/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, declared...)
			b.o.Selection = Selection{Only: tt.only, Skip: tt.skip}
			same(t, "items", entries(b.check()), tt.want)
		})
	}
	b := newBench(t, declared...)
	b.o.Selection = Selection{Only: []string{"fiel"}}
	_, err := Check(context.Background(), b.o.CheckOptions)
	if !errors.Is(err, ErrSelection) || !strings.Contains(err.Error(), "fiel") || ErrorCode(err) != ExitUsage {
		t.Errorf("error %v", err)
	}
}

func TestCheckChangesNothing(t *testing.T) {
	b := newBench(t, prober()...)
	before, effects := b.frozen(), b.fs.Power.Count()
	b.check()
	if !maps.Equal(before, b.values) || b.fs.Power.Count() != effects {
		t.Error("check changed the host")
	}
}

func TestTwoResourcesThatOwnOnePathByTwoNamesAreBlocked(t *testing.T) {
	b := newBench(t, "r", file("/data/a", "1"), file("/srv/a", "2"), file("/srv/b", "1"))
	b.has(dir("/data"), dir("/srv"), file("/srv/a", "2"))
	b.o.Resolve = func(p string) (string, error) { return strings.Replace(p, "/srv/", "/data/", 1), nil }
	r := b.check()
	same(t, "items", entries(r), []string{"write file:/data/a error !", "noop file:/srv/a error !", "write file:/srv/b"})
	if why := r.Items[1].Blocked; !strings.Contains(why, "the same path as file:/data/a of role r, namely /data/a") {
		t.Errorf("blocked: %q", why)
	}
	b.o.Selection = Selection{Only: []string{"file:/srv/a"}}
	same(t, "items of one", entries(b.check()), []string{"noop file:/srv/a error !"})
}

// TestAFolderIsAnInputByItsMode: of a folder nothing but mode and owner is declared, so a change of those is the change that
// restart_on waits for. Of a file they are none.
func TestAFolderIsAnInputByItsMode(t *testing.T) {
	f := func(typ string) *finding {
		return &finding{resource: resource.Resource{Type: typ, ID: typ + ":/a"}, touches: touches{path: "/a", brings: true}, decision: &drift.Decision{Verb: drift.Chmod}}
	}
	u := &finding{resource: resource.Resource{Type: typeUnit}, obs: drift.Observation{Inputs: []string{"directory:/a", "file:/a"}}}
	if got := u.input(f("directory")); got != "directory:/a" {
		t.Errorf("the mode of a folder: %q", got)
	}
	if got := u.input(f("file")); got != "" {
		t.Errorf("the mode of a file: %q", got)
	}
}

// TestWhatAPackageTakesAlongMustLeave: a change that removes another package is settled by an item that removes it too, wherever
// it stands, and by no later one that changes it otherwise.
func TestWhatAPackageTakesAlongMustLeave(t *testing.T) {
	for name, tt := range map[string]struct {
		at     int
		brings bool
		want   string
	}{
		"it leaves later":         {2, false, "package:b"},
		"it leaves earlier":       {0, false, "package:b"},
		"it is upgraded earlier":  {0, true, "package:b"},
		"it is upgraded later on": {2, true, ""},
	} {
		a := &finding{at: 1, resource: resource.Resource{Type: typePackage, ID: "package:a"}, obs: drift.Observation{Inputs: []string{"package:b"}}}
		b := &finding{at: tt.at, resource: resource.Resource{Type: typePackage, ID: "package:b"}, touches: touches{brings: tt.brings}, decision: &drift.Decision{Verb: drift.Upgrade}}
		if got := a.input(b); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAUnitIsStoppedBeforeItsFileGoes: without its file systemd can no longer undo what enables the unit.
func TestAUnitIsStoppedBeforeItsFileGoes(t *testing.T) {
	gone, stopped := file("/etc/systemd/system/u.service", ""), unit("u.service")
	gone.State, stopped.State = "absent", "stopped"
	other := file("/etc/systemd/system/v.service", "")
	other.State = "absent"
	b := newBench(t, "r", other, gone, file("/f", "1"), stopped)
	b.values[gone.ID], b.values[other.ID], b.units["u.service"] = "x", "x", map[string]string{}
	same(t, "items", entries(b.check()), []string{"remove " + other.ID, "write file:/f", "stop systemd_unit:u.service", "remove " + gone.ID})
	same(t, "results", results(b.apply().Executed), []string{other.ID + " applied", "file:/f applied", "systemd_unit:u.service applied", gone.ID + " applied"})
}

// A command that runs at every apply says why in the words of its role; a plugin, which knows no role, says only that.
func TestACommandThatAlwaysRunsShowsItsReason(t *testing.T) {
	b := newBench(t, "r", command("again", true), command("once", false))
	for i := range b.o.Target.Resources {
		b.o.Target.Resources[i].Why = "others push keys"
	}
	r := b.check()
	for i, want := range []string{": others push keys", ""} {
		if it := r.Items[i]; !strings.HasSuffix(it.Reason.Text, want) || want == "" && strings.Contains(it.Reason.Text, "others") {
			t.Errorf("%s: %q, want %q", it.Resource.ID, it.Reason.Text, want)
		}
	}
	hash := r.PlanHash
	b.o.Target.Resources[0].Why = "other words"
	if r := b.check(); r.PlanHash != hash {
		t.Error("another description is another plan")
	}
}

// What an item was executed for goes with what was observed just before, not with what the plan saw.
func TestTheReasonOfAnExecutedItemIsOfItsOwnObservation(t *testing.T) {
	f := file("/etc/a", "1")
	b := newBench(t, "r", pkg("p"), f)
	b.has(dir("/etc"))
	b.after["package:p"] = func() { b.values[f.ID] = "0" }
	if planned := b.check().Items[1].Reason.Text; planned != "has " {
		t.Fatalf("planned for %q", planned)
	}
	it := b.apply().Executed.Items[1]
	if it.Result.Status != drift.Applied || it.Reason.Text != "has 0" {
		t.Errorf("%s, for %q", it.Result.Status, it.Reason.Text)
	}
}
