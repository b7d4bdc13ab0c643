package plugin

import (
	"bytes"
	"strings"
	"testing"

	"gyrum.ai/engine/internal/tinywasm"
)

// Whatever an instance left in its memory, the next one that gets the same finds zeros, as far as it may ever grow.
func TestAMemoryThatServesAgainIsClear(t *testing.T) {
	var k memories
	defer k.close()
	const limit = 8 << 20
	first := k.allocate(limit)
	at := &first.Reallocate(1 << 20)[0]
	fill := func(b []byte) {
		for i := range b {
			b[i] = 0xff
		}
	}
	fill(first.Reallocate(3 << 20))
	first.free()
	first.free() // once is enough
	second := k.allocate(limit)
	if &second.Reallocate(1)[0] != at {
		t.Error("the memory was not kept")
	}
	if !bytes.Equal(second.Reallocate(limit), make([]byte, limit)) {
		t.Error("something was left in it")
	}
	if second.Reallocate(limit+1) != nil {
		t.Error("it grew beyond its limit")
	}
	second.free()
	if len(k.spare) != 0 {
		t.Errorf("one that had grown to %d bytes is kept", limit)
	}
}

func TestFewMemoriesAreKept(t *testing.T) {
	var k memories
	use := func(limits ...uint64) {
		for _, limit := range limits {
			m := k.allocate(limit)
			m.Reallocate(1 << 16)
			defer m.free()
		}
	}
	use(1<<20, 1<<20, 1<<20)
	if len(k.spare) != keptMemories {
		t.Errorf("%d are kept, want %d", len(k.spare), keptMemories)
	}
	if k.take(2<<20) != nil {
		t.Error("one of another limit was given out")
	}
	// Those with a limit that nobody has any more make room.
	use(3<<20, 3<<20, 3<<20)
	if len(k.spare) != keptMemories || len(k.spare[0]) != 3<<20 || len(k.spare[1]) != 3<<20 {
		t.Errorf("%d are kept, not the last", len(k.spare))
	}
	k.close()
	use(1 << 20)
	if len(k.spare) != 0 {
		t.Error("one is kept for nobody")
	}
}

// endings are the ways in which an instance ends, with what is then said.
var endings = map[string]struct {
	module []byte
	want   string
}{
	"with its call":               {bare(1, "i32.const 0", nil), "without an answer"},
	"by a trap":                   {bare(1, "unreachable", nil), "trapped"},
	"by its deadline":             {bare(1, "loop\nbr 0\nend\ni32.const 0", nil), "computed longer"},
	"before it begins":            {bare(1, "i32.const 0", func(m *tinywasm.Module) { m.Data(1<<16, "x") }), "out of bounds"},
	"while it begins":             {beginning("unreachable"), "trapped"},
	"by a deadline as it begins":  {beginning("loop\nbr 0\nend"), "computed longer"},
	"as one of another boundary":  {tinyABI(2), "speaks version 2"},
	"by an import that is no use": {bare(1, "i32.const -1\ni32.const -1\ncall 0\ndrop\nunreachable", nil), "trapped"},
}

// beginning is a module of which a test says how it begins.
func beginning(code string) []byte {
	m := tinywasm.New(1)
	m.Export("_initialize", m.Func(">", 0, code))
	m.Export("gyrum_abi", m.Func(">i", 0, "i32.const 1"))
	f := m.Func("i>i", 0, "i32.const 0")
	return m.Export("observe", f).Export("diff", f).ExportMemory("memory").Bytes()
}

// However an instance ends, its memory comes back, and who inspects has seen it before.
func TestEveryMemoryComesBack(t *testing.T) {
	for name, c := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tinyStore(t, c.module, nil)
			seen := 0
			ctx := Inspect(t.Context(), func(memory []byte) { seen += len(memory) })
			for range 2 {
				if err := runBare(ctx, s); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
				if len(s.memories.spare) != 1 {
					t.Errorf("%d memories came back", len(s.memories.spare))
				}
			}
			if seen != 2<<16 {
				t.Errorf("%d bytes were seen", seen)
			}
		})
	}
}

// A memory that is too large to be kept is read before it is gone, also when a deadline has ended its instance.
func TestALargeMemoryIsInspectedBeforeItIsGone(t *testing.T) {
	s := tinyStore(t, bare(1, "i32.const 100\nmemory.grow\ndrop\n"+fill+"loop\nbr 0\nend\ni32.const 0", nil), nil)
	seen := 0
	ctx := Inspect(t.Context(), func(memory []byte) { seen += bytes.Count(memory, []byte{255}) })
	if err := runBare(ctx, s); err == nil || !strings.Contains(err.Error(), "computed longer") {
		t.Errorf("%v", err)
	}
	if seen != 101<<16 || len(s.memories.spare) != 0 {
		t.Errorf("%d bytes were seen, %d memories are kept", seen, len(s.memories.spare))
	}
}
