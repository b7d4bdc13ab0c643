// Package tinywasm assembles small WebAssembly modules by hand, for tests that need a module which no Go toolchain
// makes: one in another language, or one that breaks the rules of its own outside.
//
// It checks nothing; what it makes may well be invalid.
package tinywasm

import "encoding/binary"

// Module is a module in the making. Functions are numbered in the order in which they are imported and defined; all
// imports come first.
type Module struct {
	types     []string
	imports   [][]byte
	functions []int
	exports   [][]byte
	bodies    [][]byte
	data      [][]byte
	imported  int
	pages     int
	start     int
	hasStart  bool
}

// New begins a module with so many pages of memory; none for less than one.
func New(pages int) *Module { return &Module{pages: pages} }

// Import imports a function and gives its index. A signature is such as "ii>i": i is i32 and I is i64.
func (m *Module) Import(module, name, signature string) int {
	m.imports = append(m.imports, cat(text(module), text(name), []byte{0}, uleb(m.typeOf(signature))))
	m.imported++
	return m.imported - 1
}

// ImportMemory imports a memory of one page.
func (m *Module) ImportMemory(module, name string) {
	m.imports = append(m.imports, cat(text(module), text(name), []byte{2, 0, 1}))
}

// Func defines a function with so many i32 locals besides its parameters, from the text of its instructions, and gives
// its index.
func (m *Module) Func(signature string, locals int, code string) int {
	m.functions = append(m.functions, m.typeOf(signature))
	body := []byte{0}
	if locals > 0 {
		body = cat([]byte{1}, uleb(locals), []byte{0x7f})
	}
	body = cat(body, Assemble(code), []byte{0x0b})
	m.bodies = append(m.bodies, cat(uleb(len(body)), body))
	return m.imported + len(m.functions) - 1
}

// Export exports a function.
func (m *Module) Export(name string, function int) *Module {
	m.exports = append(m.exports, cat(text(name), []byte{0}, uleb(function)))
	return m
}

// ExportMemory exports the memory under a name.
func (m *Module) ExportMemory(name string) *Module {
	m.exports = append(m.exports, cat(text(name), []byte{2, 0}))
	return m
}

// Data puts bytes into memory.
func (m *Module) Data(offset int, content string) *Module {
	m.data = append(m.data, cat([]byte{0, 0x41}, sleb(offset), []byte{0x0b}, text(content)))
	return m
}

// Start makes a function run at instantiation.
func (m *Module) Start(function int) *Module {
	m.start, m.hasStart = function, true
	return m
}

// Bytes gives the module in the binary format.
func (m *Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	var types [][]byte
	for _, t := range m.types {
		types = append(types, functionType(t))
	}
	out = section(out, 1, types)
	out = section(out, 2, m.imports)
	var functions [][]byte
	for _, f := range m.functions {
		functions = append(functions, uleb(f))
	}
	out = section(out, 3, functions)
	if m.pages > 0 {
		out = section(out, 5, [][]byte{cat([]byte{0}, uleb(m.pages))})
	}
	out = section(out, 7, m.exports)
	if m.hasStart {
		body := uleb(m.start)
		out = append(cat(out, []byte{8}, uleb(len(body))), body...)
	}
	out = section(out, 10, m.bodies)
	return section(out, 11, m.data)
}

func (m *Module) typeOf(signature string) int {
	for i, t := range m.types {
		if t == signature {
			return i
		}
	}
	m.types = append(m.types, signature)
	return len(m.types) - 1
}

func functionType(signature string) []byte {
	out := []byte{0x60}
	var params, results []byte
	into := &params
	for _, c := range signature {
		switch c {
		case 'i':
			*into = append(*into, 0x7f)
		case 'I':
			*into = append(*into, 0x7e)
		case '>':
			into = &results
		}
	}
	return cat(out, uleb(len(params)), params, uleb(len(results)), results)
}

func section(out []byte, id byte, entries [][]byte) []byte {
	if len(entries) == 0 {
		return out
	}
	body := uleb(len(entries))
	for _, e := range entries {
		body = append(body, e...)
	}
	return append(cat(out, []byte{id}, uleb(len(body))), body...)
}

func text(s string) []byte { return append(uleb(len(s)), s...) }

func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// sleb is the signed form; binary.AppendVarint has another one.
func sleb(n int) []byte {
	var out []byte
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func cat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
