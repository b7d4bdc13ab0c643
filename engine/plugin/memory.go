package plugin

import (
	"context"
	"slices"
	"sync"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// Of the memories that instances are done with, so many are kept for later ones, and none that grew beyond keptSize: a
// usual guest has some 2.5 MiB, one with a batch of a thousand more.
const (
	keptMemories = 2
	keptSize     = 4 << 20
)

// memories gives instances their memory. The kernel takes a third of an instance's time to find pages for it, so a few that are
// filled already serve the next ones. What an instance had is cleared before anybody else gets it: each begins with zeros.
type memories struct {
	mu sync.Mutex
	// spare has the one that came back last at its end.
	spare  [][]byte
	closed bool
}

// lease is what the instance of one call has of memory. The runtime frees it when it closes an instance, which it does not do
// for one that fails to begin, nor always for one that a deadline has ended: so what was lent is freed by who lent it, when the
// call is over, and not before.
type lease struct {
	from *memories
	lent []*guestMemory
}

// Allocate is an experimental.MemoryAllocator's.
func (l *lease) Allocate(_, limit uint64) experimental.LinearMemory {
	m := l.from.allocate(limit)
	l.lent = append(l.lent, m)
	return kept{m}
}

// end frees what was lent, once who inspects has seen it. No code of the instance may run any more.
func (l *lease) end(ctx context.Context) {
	see, inspected := ctx.Value(inspectKey{}).(func([]byte))
	for _, m := range l.lent {
		if inspected {
			see(m.space[:m.had])
		}
		m.free()
	}
}

// kept is a memory that the runtime cannot free.
type kept struct{ *guestMemory }

// Free does nothing; see lease.
func (kept) Free() {}

// allocate gives a memory of zeros that may grow up to the limit.
func (k *memories) allocate(limit uint64) *guestMemory {
	if space := k.take(limit); space != nil {
		return &guestMemory{from: k, space: space}
	}
	space, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return &guestMemory{space: make([]byte, limit)} // where the kernel gives no address space, Go's heap has to
	}
	return &guestMemory{from: k, space: space}
}

// take takes a spare memory of exactly this limit, nil when there is none.
func (k *memories) take(limit uint64) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, space := range k.spare {
		if uint64(len(space)) == limit {
			k.spare = append(k.spare[:i], k.spare[i+1:]...)
			return space
		}
	}
	return nil
}

// giveBack takes a memory of which an instance had the first bytes, and lets it go unless it is worth keeping. Where there are
// enough, one of another limit makes room, that which came back first: a module with a limit of its own does not keep the
// places from all others.
func (k *memories) giveBack(space []byte, had uint64) {
	if had <= keptSize {
		clear(space[:had])
		space = k.keep(space)
	}
	if space != nil {
		_ = syscall.Munmap(space)
	}
}

// keep puts a clear memory among the spare ones and gives what is not kept for it, nil for nothing.
func (k *memories) keep(space []byte) (over []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return space
	}
	if len(k.spare) == keptMemories {
		other := slices.IndexFunc(k.spare, func(s []byte) bool { return len(s) != len(space) })
		if other < 0 {
			return space
		}
		over = k.spare[other]
		k.spare = slices.Delete(k.spare, other, other+1)
	}
	k.spare = append(k.spare, space)
	return over
}

// close lets the spare ones go, and those that come back later.
func (k *memories) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, space := range k.spare {
		_ = syscall.Munmap(space)
	}
	k.spare, k.closed = nil, true
}

// guestMemory backs an instance's memory by address space that is reserved in whole and filled by the kernel page by
// page: growing copies nothing, and nothing of it stays in Go's heap until a collection.
type guestMemory struct {
	// from is nil for what is Go's.
	from  *memories
	space []byte
	// had is how much of it the instance could write.
	had uint64
}

// Reallocate gives the first size bytes, nil when there are not so many.
func (m *guestMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	m.had = max(m.had, size)
	return m.space[:size]
}

// free gives the address space back; once is enough.
func (m *guestMemory) free() {
	if m.from != nil {
		m.from.giveBack(m.space, m.had)
	}
	m.from, m.space = nil, nil
}
