package plugin

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// wasi answers the ten WASI functions that a Go guest without package os imports (wasi_snapshot_preview1). It gives a
// guest no arguments, no files, an environment of two constants, a clock that only moves when it is read or waited for, and
// random bytes that are the same in every instance: so the same request gives the same answer, byte for byte.
type wasi struct {
	// environ is the environment, each variable with its closing NUL.
	environ []string
	// now is in nanoseconds since the instance began.
	now    uint64
	random *rand.ChaCha8
	log    guestLog
}

// Errors of WASI, by their numbers.
const (
	wasiOK     = 0
	wasiBadf   = 8
	wasiInval  = 28
	wasiFault  = 21
	wasiNotsup = 58
)

const (
	// clockBase is what the realtime clock shows at the beginning: 2000-01-01T00:00:00Z.
	clockBase = 946684800 * uint64(1e9)
	// clockStep is how far the clock moves at each reading.
	clockStep = uint64(1e3)
	maxVector = 1024
	maxEvents = 64
)

// newWASI makes the environment of one instance. The two variables are for Go's collector: a guest lives for one call, so it
// may let its heap grow to four times what lives, up to where the memory of the instance would become scarce. It makes
// a batch of a thousand a fifth faster.
func newWASI(l Limits) *wasi {
	scarce := uint64(l.Pages) << 16 / 2
	return &wasi{
		environ: []string{"GOGC=300\x00", fmt.Sprintf("GOMEMLIMIT=%d\x00", scarce)},
		now:     uint64(1e9), random: rand.NewChaCha8([32]byte([]byte("gyrum/1: the same in every guest"))), log: guestLog{limit: l.Log},
	}
}

// call answers one function. The error is for what ends the guest.
func (w *wasi) call(name string, mem api.Memory, a []uint64) (errno uint32, err error) {
	ok := true
	switch name {
	case "args_get", "sched_yield":
	case "environ_get":
		at := uint32(a[1])
		for i, v := range w.environ {
			ok = ok && mem.WriteUint32Le(uint32(a[0])+4*uint32(i), at) && mem.WriteString(at, v)
			at += uint32(len(v))
		}
	case "environ_sizes_get":
		ok = mem.WriteUint32Le(uint32(a[0]), uint32(len(w.environ))) && mem.WriteUint32Le(uint32(a[1]), uint32(len(strings.Join(w.environ, ""))))
	case "args_sizes_get":
		ok = mem.WriteUint32Le(uint32(a[0]), 0) && mem.WriteUint32Le(uint32(a[1]), 0)
	case "clock_time_get":
		w.now += clockStep
		switch uint32(a[0]) {
		case 0:
			ok = mem.WriteUint64Le(uint32(a[2]), clockBase+w.now)
		case 1:
			ok = mem.WriteUint64Le(uint32(a[2]), w.now)
		default:
			return wasiInval, nil
		}
	case "fd_write":
		return w.write(mem, uint32(a[0]), uint32(a[1]), uint32(a[2]), uint32(a[3])), nil
	case "poll_oneoff":
		return w.poll(mem, uint32(a[0]), uint32(a[1]), uint32(a[2]), uint32(a[3])), nil
	case "proc_exit":
		return 0, fmt.Errorf("it exited with status %d", uint32(a[0]))
	case "random_get":
		var view []byte
		if view, ok = mem.Read(uint32(a[0]), uint32(a[1])); ok {
			_, _ = w.random.Read(view) // never fails
		}
	}
	if !ok {
		return wasiFault, nil
	}
	return wasiOK, nil
}

// write takes output for the log, whatever of it is kept.
func (w *wasi) write(mem api.Memory, fd, vectors, count, written uint32) uint32 {
	if fd != 1 && fd != 2 {
		return wasiBadf
	}
	if count > maxVector {
		return wasiInval
	}
	var total uint32
	for i := range count {
		ptr, ok := mem.ReadUint32Le(vectors + 8*i)
		size, ok2 := mem.ReadUint32Le(vectors + 8*i + 4)
		if !ok || !ok2 {
			return wasiFault
		}
		text, ok := mem.Read(ptr, size)
		if !ok {
			return wasiFault
		}
		w.log.write(text)
		total += size
	}
	if !mem.WriteUint32Le(written, total) {
		return wasiFault
	}
	return wasiOK
}

// poll moves the clock to the earliest of the timers that are waited for and reports those that are due. Nothing else
// ever happens to a guest, so waiting for anything else is not supported.
func (w *wasi) poll(mem api.Memory, in, out, count, events uint32) uint32 {
	if count == 0 || count > maxEvents {
		return wasiInval
	}
	type timer struct{ data, due uint64 }
	var timers []timer
	for i := range count {
		s, ok := mem.Read(in+48*i, 48)
		if !ok {
			return wasiFault
		}
		if s[8] != 0 {
			continue
		}
		due := binary.LittleEndian.Uint64(s[24:])
		if binary.LittleEndian.Uint16(s[40:])&1 == 0 {
			due = w.now + min(due, 1<<62)
		} else if binary.LittleEndian.Uint32(s[16:]) == 0 {
			due -= min(due, clockBase)
		}
		timers = append(timers, timer{binary.LittleEndian.Uint64(s), due})
	}
	if len(timers) == 0 {
		return wasiNotsup
	}
	first := timers[0].due
	for _, t := range timers {
		first = min(first, t.due)
	}
	w.now = max(w.now, first)
	var n uint32
	for _, t := range timers {
		if t.due > w.now {
			continue
		}
		var event [32]byte
		binary.LittleEndian.PutUint64(event[:], t.data)
		if !mem.Write(out+32*n, event[:]) {
			return wasiFault
		}
		n++
	}
	if !mem.WriteUint32Le(events, n) {
		return wasiFault
	}
	return wasiOK
}

// guestLog keeps the end of what a guest printed.
type guestLog struct {
	limit int
	text  []byte
}

func (l *guestLog) write(p []byte) {
	if len(p) > l.limit {
		p = p[len(p)-l.limit:]
	}
	if over := len(l.text) + len(p) - l.limit; over > 0 {
		l.text = append(l.text[:0], l.text[over:]...)
	}
	l.text = append(l.text, p...)
}
