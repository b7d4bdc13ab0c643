package plugin

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gyrum.ai/engine/internal/tinywasm"
)

// nested is n blocks within each other, a branch out of each, and all of so many variables changed on the way.
func nested(n, locals int) string {
	var s strings.Builder
	s.WriteString(strings.Repeat("block\n", n))
	for i := range n {
		fmt.Fprintf(&s, "local.get 0\nbr_if %d\nlocal.get %d\ni32.const 1\ni32.add\nlocal.set %d\n", i, 1+i%locals, 1+i*7%locals)
	}
	for i := range n {
		fmt.Fprintf(&s, "end\nlocal.get %d\nlocal.get 0\ni32.add\nlocal.set %d\n", 1+i%locals, 1+i*3%locals)
	}
	return s.String() + "i32.const 0"
}

// Modules that would keep the compiler busy are refused, with the bound that they are over.
func TestModulesOverTheBounds(t *testing.T) {
	with := func(locals int, code string) []byte {
		return bare(1, "i32.const 0", func(m *tinywasm.Module) { m.Func("i>i", locals, code) })
	}
	table := func(entries string) []byte {
		module := bare(1, "i32.const 0", nil)
		at := bytes.Index(module, []byte("\x05\x03\x01\x00\x01")) // before the memory
		return bytes.Join([][]byte{module[:at], append([]byte{4, byte(3 + len(entries)), 1, 0x70, 0}, entries...), module[at:]}, nil)
	}
	if _, err := braked(table("\x80\x80\x04")); err != nil {
		t.Errorf("a table at the bound: %v", err)
	}
	for name, c := range map[string]struct {
		module []byte
		want   string
	}{
		"its size":             {append(bare(1, "i32.const 0", nil), make([]byte, maxModule)...), "bytes: "},
		"its code":             {bare(1, "i32.const 0", func(m *tinywasm.Module) { many(m, maxCode/maxBody+1, strings.Repeat("call 3\n", maxBody/2-10)) }), "bytes of code: "},
		"functions":            {bare(1, "i32.const 0", func(m *tinywasm.Module) { many(m, maxFunctions, "") }), "functions: 16387; gyrum takes at most 16384"},
		"one function":         {with(0, strings.Repeat("call 3\n", maxBody/2)+"i32.const 0"), "in one function: "},
		"variables":            {with(maxLocals, "i32.const 0"), "local variables in one function: 1025; gyrum takes at most 1024"},
		"blocks within blocks": {with(1, nested(maxDepth, 1)), "blocks within blocks: 4097; gyrum takes at most 4096"},
		"the stack":            {with(0, strings.Repeat("i32.const 1\n", maxStack+1)+strings.Repeat("drop\n", maxStack)), "stack of one function: 1025"},
		"branches":             {with(501, nested(500, 500)), "branches times variables in one function: "},
		"branches of a table":  {with(0, "local.get 0\n"+strings.Repeat("block\nlocal.get 0\nbr_if 0\nend\n", 6000)), "branches times variables in one function: "},
		"branches in all":      {bare(1, "i32.const 0", func(m *tinywasm.Module) { many(m, 150, nested(200, 1)+"\ndrop", 136) }), "branches times variables in all: "},
		"tables":               {table("\x81\x80\x04"), "entries of tables: 65537; gyrum takes at most 65536"},
	} {
		_, err := braked(c.module)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "gyrum takes at most") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// many defines so many functions that take an integer each.
func many(m *tinywasm.Module, n int, code string, locals ...int) {
	for range n {
		m.Func("i>", append(locals, 0)[0], code)
	}
}

func braked(raw []byte) ([]byte, error) {
	shape, err := parseOutside(raw)
	if err != nil {
		return nil, err
	}
	return withBrakes(raw, shape)
}

// No bound is near: what the Go toolchain makes of a plugin is an eighth of each, or a third of those in bytes.
func TestModulesOfGoAreFarFromTheBounds(t *testing.T) {
	for name, file := range probeModules(t) {
		if !strings.HasSuffix(name, ".wasm") {
			continue
		}
		out, err := braked(file.Data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := braked(out); err != nil {
			t.Errorf("%s with brakes: %v", name, err)
		}
		if len(file.Data) > maxModule/3 {
			t.Errorf("%s has %d bytes", name, len(file.Data))
		}
	}
}
