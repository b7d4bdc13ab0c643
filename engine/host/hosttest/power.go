// Package hosttest is a host in memory, with the same interfaces as a real one, for tests: it can be cut off after any
// single effect, and a crash can lose any part of what was not made durable.
//
// Nothing outside of tests uses it.
package hosttest

import (
	"errors"
	"sync"
)

// ErrCut is what everything fails with once the power is off.
var ErrCut = errors.New("the model host is switched off")

// Power counts the effects on a model host and can be cut after any of them. All parts of one host share it.
type Power struct {
	mu    sync.Mutex
	done  int
	limit int // effects that may still happen, counted from the start; negative is no limit
	off   bool
}

// NewPower makes power that is never cut.
func NewPower() *Power { return &Power{limit: -1} }

// Cut lets n more effects happen and fails everything after them: further effects, and questions too.
func (p *Power) Cut(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = p.done + n
}

// Restore switches the power on again and forgets the limit.
func (p *Power) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit, p.off = -1, false
}

// Count gives the number of effects so far.
func (p *Power) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Effect must be called before each effect; an error means that it does not happen.
func (p *Power) Effect() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off || p.limit >= 0 && p.done >= p.limit {
		p.off = true
		return ErrCut
	}
	p.done++
	return nil
}

// On must be called before each question.
func (p *Power) On() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.off {
		return ErrCut
	}
	return nil
}
