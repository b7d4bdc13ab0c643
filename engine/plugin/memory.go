package plugin

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// guestMemory backs an instance's memory by address space that is reserved in whole and filled by the kernel page by
// page: growing copies nothing, and closing the instance gives everything back at once, where Go's heap would keep it
// until a collection.
type guestMemory struct {
	space  []byte
	mapped bool
}

// newGuestMemory is an experimental.MemoryAllocatorFunc. Where the kernel gives no address space, Go's heap has to.
func newGuestMemory(_, limit uint64) experimental.LinearMemory {
	space, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return &guestMemory{space: make([]byte, limit)}
	}
	return &guestMemory{space, true}
}

// Reallocate gives the first size bytes, nil when there are not so many.
func (m *guestMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.space)) {
		return nil
	}
	return m.space[:size]
}

// Free gives the address space back.
func (m *guestMemory) Free() {
	if m.mapped {
		_ = syscall.Munmap(m.space)
	}
	m.space, m.mapped = nil, false
}
