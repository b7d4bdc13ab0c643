package plugin

import (
	"bytes"
	"testing"
)

// Whatever an instance left in its memory, the next one that gets the same finds zeros, as far as it may ever grow.
func TestAMemoryThatServesAgainIsClear(t *testing.T) {
	var k memories
	defer k.close()
	const limit = 8 << 20
	first := k.Allocate(0, limit)
	at := &first.Reallocate(1 << 20)[0]
	fill := func(b []byte) {
		for i := range b {
			b[i] = 0xff
		}
	}
	fill(first.Reallocate(3 << 20))
	first.Free()
	first.Free() // once is enough
	second := k.Allocate(0, limit)
	if &second.Reallocate(1)[0] != at {
		t.Error("the memory was not kept")
	}
	if !bytes.Equal(second.Reallocate(limit), make([]byte, limit)) {
		t.Error("something was left in it")
	}
	if second.Reallocate(limit+1) != nil {
		t.Error("it grew beyond its limit")
	}
	second.Free()
	if len(k.spare) != 0 {
		t.Errorf("one that had grown to %d bytes is kept", limit)
	}
}

func TestFewMemoriesAreKept(t *testing.T) {
	var k memories
	use := func(limits ...uint64) {
		for _, limit := range limits {
			m := k.Allocate(0, limit)
			m.Reallocate(1 << 16)
			defer m.Free()
		}
	}
	use(1<<20, 1<<20, 1<<20)
	if len(k.spare) != keptMemories {
		t.Errorf("%d are kept, want %d", len(k.spare), keptMemories)
	}
	if k.kept(2<<20) != nil {
		t.Error("one of another limit was given out")
	}
	k.close()
	use(1 << 20)
	if len(k.spare) != 0 {
		t.Error("one is kept for nobody")
	}
}
