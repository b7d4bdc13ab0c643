package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
)

// session stands for a test, so that a program can boot hosts.
type session struct {
	cleanups []func()
	failed   bool
}

func (s *session) Helper()                           {}
func (s *session) Errorf(format string, args ...any) { s.fail(fmt.Sprintf(format, args...)) }
func (s *session) Fatal(args ...any)                 { s.fail(fmt.Sprint(args...)); runtime.Goexit() }
func (s *session) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }
func (s *session) Cleanup(f func())                  { s.cleanups = append(s.cleanups, f) }

func (s *session) fail(text string) {
	s.failed = true
	fmt.Fprintln(os.Stderr, "bench:", text)
}

func (s *session) TempDir() string {
	dir, err := os.MkdirTemp("", "gyrum-bench-")
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// run calls f to its end, or to its first fatal failure or an interrupt, and cleans up. It gives the exit status.
func (s *session) run(f func()) int {
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-interrupt:
		s.fail("interrupted")
	}
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
	if s.failed {
		return 1
	}
	return 0
}
