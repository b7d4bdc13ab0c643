package systemd

import (
	"context"
	"testing"
)

// asked is a manager of one unit that remembers which job it was asked for.
type asked struct {
	Manager
	p    Properties
	jobs []JobKind
}

func (a *asked) Properties(context.Context, string) (Properties, error) { return a.p, nil }
func (a *asked) Loads(context.Context) (Loads, error)                   { return Loads{}, nil }

// control is the changing side of it: every job leaves the unit active.
type control struct {
	Control
	a *asked
}

func (c control) Hold(context.Context, string) func() { return func() {} }
func (c control) Job(_ context.Context, kind JobKind, _ string) (string, error) {
	c.a.jobs = append(c.a.jobs, kind)
	c.a.p.ActiveState, c.a.p.SubState = "active", "running"
	return "done", nil
}

// TestAStartDoesNotWaitForARestart: systemd keeps a start job of a unit that waits for its next automatic restart until then; a
// restart job it begins at once.
func TestAStartDoesNotWaitForARestart(t *testing.T) {
	for sub, want := range map[string]JobKind{"auto-restart": JobRestart, "auto-restart-queued": JobRestart, "start": JobStart, "start-pre": JobStart} {
		a := &asked{p: Properties{ID: "a.service", LoadState: "loaded", ActiveState: "activating", SubState: sub, Type: "notify"}}
		w := NewWriter(NewUnits(a, Config{}), control{a: a}, nil, RealClock{})
		if err := w.Start(context.Background(), "a.service"); err != nil || len(a.jobs) != 1 || a.jobs[0] != want {
			t.Errorf("%s: jobs %v, %v", sub, a.jobs, err)
		}
	}
}
