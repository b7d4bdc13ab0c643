package journal

import (
	"testing"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
)

// BenchmarkRun is what the journal of an apply of 100 files costs beside its fsyncs.
func BenchmarkRun(b *testing.B) {
	items := make([]drift.Item, 100)
	for i := range items {
		items[i] = drift.Item{Declared: []byte(`{"content":"x","group":"root","mode":"0644","owner":"root","path":"/etc/a"}`), Observed: []byte("null"),
			Action: drift.Action{Verb: drift.Write, Params: []byte(`{"group":"root","mode":"0644","owner":"root","sha256":"00","size":1}`)}}
	}
	for b.Loop() {
		m := &model{fs: hosttest.NewFS(hosttest.NewPower()), now: epoch}
		run, err := Begin(m.fs, stateDir, State{}, Start{}, len(items), m.clock, nil)
		if err == nil {
			err = run.Plan(Plan{Items: items})
		}
		for i := range items {
			if err != nil {
				b.Fatal(err)
			}
			err = run.Intent(Intent{Item: i, Action: items[i].Action, Observed: items[i].Observed})
			for _, phase := range []string{"before", "after"} {
				if err == nil {
					err = run.Effect(phase, host.Effect{Name: "file_replace", Target: "/etc/a"}, nil)
				}
			}
			if err == nil {
				err = run.Outcome(Outcome{Item: i})
			}
		}
		if err == nil {
			err = run.End(End{})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
