package plugin

import (
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
	mu     sync.Mutex
	spare  [][]byte
	closed bool
}

// Allocate is an experimental.MemoryAllocator's: it gives a memory of zeros that may grow up to the limit.
func (k *memories) Allocate(_, limit uint64) experimental.LinearMemory {
	if space := k.kept(limit); space != nil {
		return &guestMemory{from: k, space: space}
	}
	space, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return &guestMemory{space: make([]byte, limit)} // where the kernel gives no address space, Go's heap has to
	}
	return &guestMemory{from: k, space: space}
}

// kept takes a spare memory of exactly this limit, nil when there is none.
func (k *memories) kept(limit uint64) []byte {
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

// giveBack takes a memory of which an instance had the first bytes, and lets it go unless it is worth keeping.
func (k *memories) giveBack(space []byte, had uint64) {
	if had <= keptSize {
		clear(space[:had])
		k.mu.Lock()
		keep := !k.closed && len(k.spare) < keptMemories
		if keep {
			k.spare = append(k.spare, space)
		}
		k.mu.Unlock()
		if keep {
			return
		}
	}
	_ = syscall.Munmap(space)
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

// Free gives the address space back.
func (m *guestMemory) Free() {
	if m.from != nil {
		m.from.giveBack(m.space, m.had)
	}
	m.from, m.space = nil, nil
}
