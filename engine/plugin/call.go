package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// call is the state of one request to a guest: what the functions of the boundary work on.
type call struct {
	request []byte
	// talk answers capabilities; nil where the guest may ask nothing.
	talk   *dialogue
	budget *budget
	wasi   *wasi
	watch  *stopwatch

	answer   []byte
	answered bool
	reply    []byte
	replied  bool
	// fault is why the guest was stopped by the host side, nil when it was not.
	fault error
}

type callKey struct{}

// errTrap unwinds the guest; the reason is in the call.
var errTrap = errors.New("the guest was stopped")

// trap ends the guest for good.
func (c *call) trap(err error) {
	c.fault = err
	panic(errTrap)
}

var errBounds = errors.New("points outside its memory")

func (c *call) input(m api.Module, ptr uint32) {
	if err := c.budget.move(len(c.request)); err != nil {
		c.trap(err)
	}
	if !m.Memory().Write(ptr, c.request) {
		c.trap(fmt.Errorf("input(%#x) of %d bytes %w", ptr, len(c.request), errBounds))
	}
}

func (c *call) output(m api.Module, ptr, size uint32) {
	if int64(size) > c.budget.room() {
		c.trap(fmt.Errorf("its answer of %d bytes is over its budget", size))
	}
	view, ok := m.Memory().Read(ptr, size)
	if !ok {
		c.trap(fmt.Errorf("output(%#x, %d) %w", ptr, size, errBounds))
	}
	if err := c.budget.move(len(view)); err != nil {
		c.trap(err)
	}
	c.answer, c.answered = slices.Clone(view), true
}

func (c *call) take(m api.Module, ptr uint32) {
	if !c.replied {
		c.trap(errors.New("it took a reply before it asked anything"))
	}
	if err := c.budget.move(len(c.reply)); err != nil {
		c.trap(err)
	}
	if !m.Memory().Write(ptr, c.reply) {
		c.trap(fmt.Errorf("take(%#x) of %d bytes %w", ptr, len(c.reply), errBounds))
	}
}

func (c *call) ask(ctx context.Context, m api.Module, capability string, ptr, size uint32) uint32 {
	if c.talk == nil {
		c.trap(fmt.Errorf("it called %s where a plugin may ask nothing", capability))
	}
	if int64(size) > int64(c.budget.message) {
		c.trap(fmt.Errorf("its request to %s has %d bytes; at most %d are taken", capability, size, c.budget.message))
	}
	view, ok := m.Memory().Read(ptr, size)
	if !ok {
		c.trap(fmt.Errorf("its request to %s at %#x of %d bytes %w", capability, ptr, size, errBounds))
	}
	if err := c.budget.call(len(view)); err != nil {
		c.trap(err)
	}
	// The host works on its own copy and on its own time.
	c.watch.pause()
	reply, err := c.talk.ask(c.watch.outer, capability, slices.Clone(view))
	c.watch.resume()
	if err != nil {
		c.trap(err)
	}
	if len(reply) > c.budget.message {
		c.trap(fmt.Errorf("the reply to %s has %d bytes; at most %d are passed", capability, len(reply), c.budget.message))
	}
	c.reply, c.replied = reply, true
	return uint32(len(reply))
}

// stopwatch counts a guest's own time down and cancels its context at the end of it.
type stopwatch struct {
	// outer is the caller's context, which the host side works under.
	outer context.Context
	// inner is what the guest runs under.
	inner  context.Context
	cancel context.CancelFunc
	timer  *time.Timer
	left   time.Duration
	since  time.Time
	spent  atomic.Bool
}

func startWatch(ctx context.Context, limit time.Duration) *stopwatch {
	w := &stopwatch{outer: ctx, left: limit, since: time.Now()}
	w.inner, w.cancel = context.WithCancel(ctx)
	w.timer = time.AfterFunc(limit, func() {
		w.spent.Store(true)
		w.cancel()
	})
	return w
}

func (w *stopwatch) pause() {
	w.timer.Stop()
	w.left -= time.Since(w.since)
}

func (w *stopwatch) resume() {
	w.since = time.Now()
	w.timer.Reset(max(w.left, 0))
}

// stop ends the watch and gives the time that the guest used.
func (w *stopwatch) stop(limit time.Duration) time.Duration {
	w.pause()
	w.cancel()
	return limit - w.left
}
