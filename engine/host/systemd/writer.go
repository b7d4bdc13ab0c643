package systemd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"gyrum.ai/engine/host/fault"
)

// settle is how long a service must stay up whose type lets systemd call it started at once.
const settle = 2 * time.Second

// Bounds of waiting for a job where the unit sets none, and what is added to its own for the units that it pulls in.
const (
	longestStart = 15 * time.Minute
	longestStop  = 5 * time.Minute
	slack        = 30 * time.Second
)

// Clock lets a model host wait without waiting.
type Clock interface {
	Sleep(ctx context.Context, d time.Duration)
}

// RealClock waits.
type RealClock struct{}

// Sleep returns after d or when the context ends.
func (RealClock) Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Writer changes units. It implements host.UnitWriter.
type Writer struct {
	units   *Units
	control Control
	store   RecordStore
	clock   Clock
	saving  sync.Mutex
}

// NewWriter makes the changing side of u.
func NewWriter(u *Units, c Control, store RecordStore, clock Clock) *Writer {
	return &Writer{units: u, control: c, store: store, clock: clock}
}

// Start starts a unit and sees that it stays up: a service of type simple, exec, idle or forking for two seconds, any other
// until systemd calls it started, within its own start timeout.
func (w *Writer) Start(ctx context.Context, name string) error { return w.up(ctx, JobStart, name) }

// Restart stops the unit, if it runs, and starts it as Start does.
func (w *Writer) Restart(ctx context.Context, name string) error { return w.up(ctx, JobRestart, name) }

func (w *Writer) up(ctx context.Context, job JobKind, name string) error {
	before, err := w.units.manager.Properties(ctx, name)
	if err != nil {
		return err
	}
	defer w.units.Forget()
	defer w.control.Hold(ctx, name)()
	if before.waitsToRestart() {
		// systemd lets a start job wait until RestartSec= is over. What ended needs no such rest when somebody asks for it.
		job = JobRestart
	}
	bound := longestStart
	if before.StartTimeout > 0 {
		bound = before.StartTimeout + slack
	}
	if job == JobRestart {
		bound += before.StopTimeout
	}
	waiting, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	result, err := w.control.Job(waiting, job, name)
	p, perr := w.units.manager.Properties(ctx, name)
	switch {
	case err != nil && waiting.Err() != nil && ctx.Err() == nil:
		return fault.New(fault.Timeout, "%s has not come up within %v and is still %s (%s); systemd goes on with it%s", name, bound, p.ActiveState, p.SubState, log(name, p))
	case err != nil:
		return err
	case perr != nil:
		return perr
	case result != "done":
		return fault.New(fault.Failed, "%s did not start: %s%s", name, why(p, result), log(name, p))
	}
	p, err = w.settled(ctx, p, before)
	if err != nil {
		return err
	}
	w.units.note(ctx, name, p)
	return nil
}

// settled watches a unit whose job is done. Every look must find the same run of it active.
func (w *Writer) settled(ctx context.Context, first, before Properties) (Properties, error) {
	name, p := first.ID, first
	if name == "" {
		name = before.ID
	}
	watch := time.Duration(0)
	switch first.Type {
	case "simple", "exec", "idle", "forking":
		watch = settle
	}
	const step = 100 * time.Millisecond
	for spent := time.Duration(0); ; spent += step {
		switch {
		case p.ActiveState == "activating" && !p.waitsToRestart():
			// Its job is done all the same when the unit was taken up again by others meanwhile; it may still make it.
			if spent > first.StartTimeout+slack {
				return p, fault.New(fault.Timeout, "%s is still activating (%s) after %v", name, p.SubState, spent)
			}
		case p.ActiveState != "active" && p.ActiveState != "reloading" && p.ActiveState != "refreshing":
			return p, fault.New(fault.Failed, "%s", fell(name, p))
		case p.Invocation != first.Invocation || p.Restarts != first.Restarts:
			return p, fault.New(fault.Failed, "%s was started, ended within %v and was started again: %s%s", name, watch, why(p, "restart"), log(name, p))
		case spent >= watch:
			return p, nil
		}
		if ctx.Err() != nil {
			return p, fault.New(fault.CodeOf(ctx.Err()), "%s: waiting whether it stays up: %w", name, ctx.Err())
		}
		w.clock.Sleep(ctx, step)
		var err error
		if p, err = w.units.manager.Properties(ctx, first.ID); err != nil {
			return p, err
		}
	}
}

// fell says why a unit whose start was called done is not up.
func fell(name string, p Properties) string {
	switch {
	case len(p.Unmet) > 0:
		return fmt.Sprintf("%s was not started, since this is not met: %s", name, strings.Join(p.Unmet, ", "))
	case p.ActiveState == "inactive" && p.Type == "oneshot" && !p.RemainAfterExit:
		return fmt.Sprintf("%s ran and ended, as a oneshot service without RemainAfterExit=yes does; it cannot stay started: set RemainAfterExit=yes, or declare the timer that starts it", name)
	case p.ActiveState == "inactive":
		return fmt.Sprintf("%s did not stay up: it ended by itself%s%s", name, status(p), log(name, p))
	case p.ActiveState == "activating":
		return fmt.Sprintf("%s does not stay up: it ended%s and systemd restarts it again and again%s", name, status(p), log(name, p))
	}
	return fmt.Sprintf("%s did not stay up: it is %s (%s): %s%s", name, p.ActiveState, p.SubState, why(p, ""), log(name, p))
}

// log says where to read on, for a unit that systemd took up at all. What a service says about itself is not taken into a
// report: it may hold secrets.
func log(name string, p Properties) string {
	if p.LoadState != "" && p.LoadState != "loaded" && p.LoadState != "merged" || len(p.Unmet) > 0 {
		return ""
	}
	return "; its log says more: journalctl -u '" + name + "'"
}

// why puts systemd's result words into a sentence.
func why(p Properties, job string) string {
	switch {
	case p.LoadState == "masked":
		return "it is masked"
	case p.LoadState != "" && p.LoadState != "loaded" && p.LoadState != "merged":
		return strings.TrimSpace("its unit file is " + p.LoadState + " " + p.LoadError)
	case job == "dependency":
		return "a unit that it requires did not start"
	case job == "timeout":
		return "it did not come up within its start timeout"
	case job == "canceled":
		return "its job was canceled by another one"
	case job == "assert" || len(p.Unmet) > 0:
		return "this is not met: " + strings.Join(p.Unmet, ", ")
	case p.Result == "start-limit-hit":
		return "it was started too often in a short time (start-limit-hit); systemctl reset-failed clears that"
	case p.Result == "timeout":
		return "it did not come up within its start timeout"
	case p.Result != "" && p.Result != "success":
		return "result " + p.Result + status(p)
	case job != "":
		return "the job's result is " + job + status(p)
	}
	return "result unknown"
}

// status tells how the main process ended.
func status(p Properties) string {
	switch p.ExecMainCode {
	case 1:
		return fmt.Sprintf(" with exit status %d", p.ExecMainStatus)
	case 2, 3:
		return fmt.Sprintf(" by signal %d", p.ExecMainStatus)
	}
	return ""
}

// Stop stops a unit and waits until it is down, within its own stop timeout. A unit that is down, failed or not there is
// stopped already.
func (w *Writer) Stop(ctx context.Context, name string) error {
	p, err := w.units.manager.Properties(ctx, name)
	if err != nil {
		return err
	}
	if down(p) && p.Job == "" {
		return nil
	}
	bound := longestStop
	if p.StopTimeout > 0 {
		bound = p.StopTimeout + slack
	}
	waiting, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	defer w.units.Forget()
	result, err := w.control.Job(waiting, JobStop, name)
	if err != nil && (waiting.Err() == nil || ctx.Err() != nil) {
		return err
	}
	after, perr := w.units.manager.Properties(ctx, name)
	switch {
	case perr != nil:
		return perr
	case down(after):
		return nil
	case err != nil:
		return fault.New(fault.Timeout, "%s has not stopped within %v and is still %s (%s)", name, bound, after.ActiveState, after.SubState)
	case after.Invocation != p.Invocation:
		return fault.New(fault.Failed, "%s was stopped and something started it again at once; %s", name, revivers(p))
	}
	return fault.New(fault.Failed, "%s did not stop: the job's result is %s, the unit is %s (%s)", name, result, after.ActiveState, after.SubState)
}

func down(p Properties) bool { return p.ActiveState == "inactive" || p.ActiveState == "failed" }

func revivers(p Properties) string {
	if len(p.TriggeredBy) == 0 {
		return "find out which unit pulls it in and stop that"
	}
	return "stop also " + strings.Join(p.TriggeredBy, ", ")
}

// Enable links the unit for the next boot. It is an error when systemd does not call it enabled then.
func (w *Writer) Enable(ctx context.Context, name string) error {
	defer w.units.Forget()
	carries, err := w.control.EnableFile(ctx, name)
	if err != nil {
		return err
	}
	state, err := w.units.manager.FileState(ctx, name)
	switch {
	case err != nil:
		return err
	case state == "enabled":
		return nil
	case !carries:
		return fault.New(fault.Failed, "%s cannot be enabled: its unit file has no [Install] section; enable the unit that pulls it in", name)
	}
	return fault.New(fault.Failed, "%s was enabled, but systemd calls it %s", name, word(state))
}

// Disable removes the links for the next boot. It is an error when systemd still calls the unit enabled then.
func (w *Writer) Disable(ctx context.Context, name string) error {
	defer w.units.Forget()
	if err := w.control.DisableFile(ctx, name); err != nil {
		return err
	}
	state, err := w.units.manager.FileState(ctx, name)
	if err == nil && state == "enabled" {
		err = fault.New(fault.Failed, "%s was disabled, but systemd still calls it enabled: a link outside of /etc/systemd/system does that", name)
	}
	return err
}

func word(state string) string {
	if state == "" {
		return "not found"
	}
	return state
}

// Witness keeps in mind when the manager last read all unit files, and tells it; zero when it cannot be asked.
func (w *Writer) Witness(ctx context.Context) int64 {
	w.units.Forget()
	l, err := w.units.loadTimes(ctx)
	if err != nil {
		return 0
	}
	return l.Last
}

// Appeared keeps in mind when a packaged unit file came to be.
func (w *Writer) Appeared(path string, ctime int64) {
	w.units.mu.Lock()
	defer w.units.mu.Unlock()
	if w.units.born == nil {
		w.units.born = map[string]int64{}
	}
	w.units.born[strings.TrimPrefix(path, "/usr")] = ctime
}

// Reload has the manager read all unit files anew.
func (w *Writer) Reload(ctx context.Context) error {
	w.Witness(ctx)
	defer w.units.Forget()
	return w.control.Reload(ctx)
}

// Failed lists the units with a latched failure that name stands for.
func (w *Writer) Failed(ctx context.Context, name string) ([]string, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	pattern := name // a name can hold no *, ? or [, and systemd takes a backslash in a pattern for itself
	if isTemplate(name) {
		i := strings.LastIndexByte(name, '.')
		pattern = name[:i] + "*" + name[i:]
	}
	return w.units.manager.Failed(ctx, pattern)
}

// ResetFailed clears the latched failure of one unit.
func (w *Writer) ResetFailed(ctx context.Context, name string) error {
	defer w.units.Forget()
	return w.control.ResetFailed(ctx, name)
}
