package plugin

import (
	"fmt"
	"time"
)

// Limits bound what one call of a plugin may cost. They are part of a trace's key.
type Limits struct {
	// Time is the guest's own computing for one type and phase of a run, the second tries after a failure included. Time
	// that passes on the host's side of a capability, such as a package installation, does not count.
	Time time.Duration
	// Pages is the size of a guest's memory, in units of 64 KiB.
	Pages uint32
	// Batch is how many resources one call takes; longer lists are cut.
	Batch int
	// Calls is how many capability calls one resource may cost on average over its batch.
	Calls int
	// Bytes is how many bytes one resource may move over the boundary, both ways together, on average over its batch.
	Bytes int64
	// Message is the largest single request or reply of a capability, in bytes.
	Message int
	// Log is how much of a guest's output is kept for an error message, in bytes.
	Log int
}

// DefaultLimits are generous for an honest plugin: a type needs a few calls and a few hundred bytes a resource, and a
// batch of a thousand takes some ten milliseconds.
func DefaultLimits() Limits {
	return Limits{
		Time:    30 * time.Second,
		Pages:   1024,
		Batch:   1000,
		Calls:   64,
		Bytes:   1 << 20,
		Message: 1 << 20,
		Log:     1 << 10,
	}
}

// Of a type's time, its batch may use half; what is left is for the tries one by one, of which each gets a tenth of
// the whole. So one record on which the plugin loops costs its neighbours nothing, and a plugin that always loops
// costs a run no more than its time.
func (l Limits) batchTime() time.Duration  { return l.Time / 2 }
func (l Limits) singleTime() time.Duration { return l.Time / 10 }

// basis is what a call may use however few resources it has: room for the requests of a single one.
const (
	basisCalls = 32
	basisBytes = 1 << 20
)

// budget counts one call's traffic down.
type budget struct {
	calls   int
	bytes   int64
	message int
}

func (l Limits) budget(resources int) *budget {
	return &budget{
		calls:   basisCalls + l.Calls*resources,
		bytes:   basisBytes + l.Bytes*int64(resources),
		message: l.Message,
	}
}

// call takes one capability call with its request.
func (b *budget) call(request int) error {
	if b.calls--; b.calls < 0 {
		return fmt.Errorf("it made more capability calls than its budget allows")
	}
	if request > b.message {
		return fmt.Errorf("its request has %d bytes; at most %d are taken", request, b.message)
	}
	return b.move(request)
}

// move takes bytes that cross the boundary.
func (b *budget) move(n int) error {
	if b.bytes -= int64(n); b.bytes < 0 {
		return fmt.Errorf("it moved more bytes than its budget allows")
	}
	return nil
}

// room is what a single answer may still have.
func (b *budget) room() int64 { return b.bytes }
