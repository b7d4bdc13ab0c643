package sweep

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"gyrum.ai/engine/host"
)

// turns lets only one goroutine of an apply go on at a time, and a seed says which: roles that are dealt with beside each other
// come between each other's looks, effects and records in the same way each time. Without turns everything goes on as it comes.
type turns struct {
	random *rand.Rand

	mu      sync.Mutex
	waiting []turn
}

// turn is a goroutine that waits; of two that go on at once none may have the same name.
type turn struct {
	name  string
	start chan struct{}
}

// wait stands at every point at which others may come in between. The caller holds no lock that they may want.
func (s *turns) wait(name string) {
	if s == nil {
		return
	}
	mine := turn{name, make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, mine)
	s.mu.Unlock()
	<-mine.start
}

// effect makes a point before each effect and behind it. Reloads and lines happen under locks of the writer.
func (s *turns) effect(on host.EffectFunc) host.EffectFunc {
	if s == nil {
		return on
	}
	return func(phase string, e host.Effect, failure error) error {
		if e.Name != host.DaemonReload && e.Name != "reset_failed" && !strings.HasPrefix(e.Name, "line_") {
			s.wait(phase + " " + e.Resource)
		}
		return on(phase, e, failure)
	}
}

// take plays f to its end, turn by turn.
func (s *turns) take(t *testing.T, f func()) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		for {
			synctest.Wait() // everybody waits for a turn, or for somebody who does
			select {
			case <-done:
				return
			default:
			}
			if len(s.waiting) == 0 {
				t.Fatal("the apply stands still")
			}
			slices.SortFunc(s.waiting, func(a, b turn) int { return cmp.Compare(a.name, b.name) })
			next := s.random.IntN(len(s.waiting))
			mine := s.waiting[next]
			s.waiting = slices.Delete(s.waiting, next, next+1)
			close(mine.start)
		}
	})
}
