package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Outcome is what became of one rule.
type Outcome struct {
	Rule   string `json:"rule"`
	Passed bool   `json:"passed"`
	// Said is what was wrong, and nothing where the rule holds.
	Said []string `json:"said,omitempty"`
}

// Try holds the subject against every rule without a test framework.
func Try(ctx context.Context, s Subject) ([]Outcome, error) {
	t := &Trial{ctx: ctx}
	t.do(func(t *Trial) { Run(t, s) })
	out := t.outcomes
	if t.failed {
		out = append(out, Outcome{Rule: "the suite itself", Said: t.said})
	}
	return out, t.end()
}

// Trial is a test of its own: it runs the rules and keeps what they say.
type Trial struct {
	ctx      context.Context
	failed   bool
	said     []string
	cleanups []func()
	outcomes []Outcome
	broken   error
}

// do runs f where Fatal can leave it.
func (t *Trial) do(f func(*Trial)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(t)
	}()
	<-done
}

// end cleans up, the latest first.
func (t *Trial) end() error {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
	return t.broken
}

// Run runs one rule.
func (t *Trial) Run(name string, f func(*Trial)) bool {
	if t.ctx.Err() != nil {
		return false
	}
	rule := &Trial{ctx: t.ctx}
	rule.do(f)
	t.broken = errors.Join(t.broken, rule.end())
	t.outcomes = append(t.outcomes, Outcome{Rule: name, Passed: !rule.failed, Said: rule.said})
	return !rule.failed
}

// Context ends the rules when the program is told to stop.
func (t *Trial) Context() context.Context { return t.ctx }

// Cleanup is called when the rule is through.
func (t *Trial) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// TempDir gives a folder that goes away afterwards.
func (t *Trial) TempDir() string {
	dir, err := os.MkdirTemp("", "gyrum-conformance-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { t.broken = errors.Join(t.broken, os.RemoveAll(dir)) })
	return dir
}

// Helper is for testing.T only.
func (t *Trial) Helper() {}

// Log is for what a rule that holds has to say, which nobody asked for.
func (t *Trial) Log(...any) {}

// Logf is like Log.
func (t *Trial) Logf(string, ...any) {}

// Error says what is wrong.
func (t *Trial) Error(args ...any) {
	t.failed = true
	t.said = append(t.said, strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

// Errorf is like Error.
func (t *Trial) Errorf(format string, args ...any) { t.Error(fmt.Sprintf(format, args...)) }

// Fatal says what is wrong and leaves the rule.
func (t *Trial) Fatal(args ...any) {
	t.Error(args...)
	runtime.Goexit()
}

// Fatalf is like Fatal.
func (t *Trial) Fatalf(format string, args ...any) { t.Fatal(fmt.Sprintf(format, args...)) }
