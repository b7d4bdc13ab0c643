package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"gyrum.ai/engine/plugin"
)

// The sections of a module that settle looks at (WebAssembly core specification, chapter 5.5).
const (
	sectionCustom    = 0
	sectionImports   = 2
	sectionFunctions = 3
	sectionMemories  = 5
	sectionGlobals   = 6
	sectionExports   = 7
	sectionStart     = 8
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// The opcodes and codes that it writes or reads.
const (
	opI32Const   = 0x41
	opI64Const   = 0x42
	opEnd        = 0x0b
	typeI32      = 0x7f
	typeI64      = 0x7e
	kindFunction = 0
	kindGlobal   = 3
	mutable      = 1
)

// startName is the export by which a module is started.
const startName = "_initialize"

// longestGap is the longest run of zeros that is written out in the middle of data. A piece of data costs an engine more
// than to copy so many.
const longestGap = 64

// settle gives a module of the Go linker's as it is when it was started: the memory and the globals are what _initialize
// leaves, and _initialize does nothing. A start takes an engine longer than most calls, and an instance serves only one. It is
// the same start every time, so nothing is lost by having it once. The data, which the linker writes in thousands of pieces,
// comes in a few.
//
// A table stays as it is: the linker writes no instruction that changes one, and plugin.Start refuses a module with one.
func settle(raw []byte) ([]byte, error) {
	m, err := sectionsOf(raw)
	if err != nil {
		return nil, err
	}
	if memory := m.body(sectionMemories); !bytes.HasPrefix(memory, []byte{1, 0}) {
		return nil, errors.New("it has no memory, or several, or one with a limit of its own")
	}
	if err := activeData(m); err != nil {
		return nil, err
	}
	globals, err := globalTypes(m)
	if err != nil {
		return nil, err
	}
	open, names, err := exportGlobals(m, len(globals))
	if err != nil {
		return nil, err
	}
	started, err := plugin.Start(context.Background(), open.encode(), names...)
	if err != nil {
		return nil, err
	}
	if err := m.replaceStart(); err != nil {
		return nil, err
	}
	m.set(sectionMemories, append([]byte{1, 0}, number(len(started.Memory)>>16)...))
	m.set(sectionGlobals, globalSection(globals, started.Globals))
	m.set(sectionData, dataSection(started.Memory))
	return m.encode(), nil
}

// sections are those of a module, in their order.
type sections []section

type section struct {
	id   byte
	body []byte
}

func sectionsOf(raw []byte) (sections, error) {
	if !bytes.HasPrefix(raw, []byte(magic)) {
		return nil, errNoModule
	}
	var m sections
	r := &reader{rest: raw[len(magic):]}
	for len(r.rest) > 0 {
		id := r.bytes(1)
		body := r.bytes(r.number())
		if r.short {
			return nil, errors.New("it is cut off")
		}
		switch {
		case id[0] == sectionStart || id[0] == sectionDataCount:
			return nil, fmt.Errorf("it has a section %d, which Go's linker does not write", id[0])
		case id[0] != sectionCustom && m.at(id[0]) >= 0:
			return nil, fmt.Errorf("it has two sections %d", id[0])
		}
		m = append(m, section{id[0], body})
	}
	for _, id := range []byte{sectionImports, sectionFunctions, sectionMemories, sectionGlobals, sectionExports, sectionCode, sectionData} {
		if m.at(id) < 0 {
			return nil, fmt.Errorf("it has no section %d", id)
		}
	}
	return m, nil
}

func (m sections) at(id byte) int {
	return slices.IndexFunc(m, func(s section) bool { return s.id == id })
}

// body gives the content of a section that is there.
func (m sections) body(id byte) []byte { return m[m.at(id)].body }

func (m sections) set(id byte, body []byte) { m[m.at(id)].body = body }

func (m sections) encode() []byte {
	out := []byte(magic)
	for _, s := range m {
		out = append(out, s.id)
		out = append(out, number(len(s.body))...)
		out = append(out, s.body...)
	}
	return out
}

// activeData says that all data of a module lies in its memory from the beginning. Other data would be lost.
func activeData(m sections) error {
	r := &reader{rest: m.body(sectionData)}
	for range r.number() {
		head := r.bytes(2)
		if r.short {
			break
		}
		if head[0] != 0 || head[1] != opI32Const {
			return errors.New("it has data that does not begin in its memory, at a constant")
		}
		r.skipSigned()
		if end := r.bytes(1); !r.short && end[0] != opEnd {
			return errors.New("it has data that does not begin in its memory, at a constant")
		}
		r.bytes(r.number())
	}
	return r.end("data")
}

// globalTypes lists the types of a module's globals. They have to be integers that change: others the linker does not write.
func globalTypes(m sections) ([]byte, error) {
	var types []byte
	r := &reader{rest: m.body(sectionGlobals)}
	for range r.number() {
		head := r.bytes(3)
		if r.short {
			break
		}
		constant, integer := map[byte]byte{typeI32: opI32Const, typeI64: opI64Const}[head[0]]
		if !integer || head[1] != mutable || head[2] != constant {
			return nil, errors.New("it has a global that is no integer which changes")
		}
		r.skipSigned()
		if end := r.bytes(1); !r.short && end[0] != opEnd {
			return nil, errors.New("it has a global whose first value is no constant")
		}
		types = append(types, head[0])
	}
	return types, r.end("global")
}

// exportGlobals gives the module with its globals exported, and their names. It imports none, so they count from 0.
func exportGlobals(m sections, n int) (sections, []string, error) {
	r := &reader{rest: m.body(sectionExports)}
	body := number(r.number() + n)
	if r.short {
		return nil, nil, errors.New("its export section is cut off")
	}
	body = append(body, r.rest...)
	var names []string
	for i := range n {
		name := fmt.Sprintf("settle.%d", i)
		names = append(names, name)
		body = append(append(body, byte(len(name))), name...)
		body = append(append(body, kindGlobal), number(i)...)
	}
	open := slices.Clone(m)
	open.set(sectionExports, body)
	return open, names, nil
}

// replaceStart adds a function that does nothing and exports it in place of the one by which the module was started.
func (m sections) replaceStart() error {
	raw := m.encode()
	imports, err := importsOf(raw)
	if err != nil {
		return err
	}
	own, code := &reader{rest: m.body(sectionFunctions)}, &reader{rest: m.body(sectionCode)}
	functions, types := own.number(), own.rest
	if bodies := code.number(); own.short || code.short || bodies != functions {
		return errors.New("it has not as many functions as bodies of functions")
	}
	exports := &reader{rest: m.body(sectionExports)}
	count := exports.number()
	changed := number(count)
	kind := -1 // the type of the start
	for range count {
		name := exports.bytes(exports.number())
		what := exports.bytes(1)
		index := exports.number()
		if exports.short {
			return errors.New("its export section is cut off")
		}
		if string(name) == startName && what[0] == kindFunction {
			if kind, err = typeOf(types, index-len(imports)); err != nil {
				return err
			}
			index = len(imports) + functions
		}
		changed = append(append(changed, number(len(name))...), name...)
		changed = append(append(changed, what...), number(index)...)
	}
	if kind < 0 {
		return fmt.Errorf("it exports no function %s", startName)
	}
	m.set(sectionExports, changed)
	m.set(sectionFunctions, slices.Concat(number(functions+1), types, number(kind)))
	m.set(sectionCode, slices.Concat(number(functions+1), code.rest, []byte{2, 0, opEnd})) // two bytes: no locals, the end
	return nil
}

// typeOf gives the type of a module's own function from the list of them all.
func typeOf(types []byte, function int) (int, error) {
	r := &reader{rest: types}
	kind := -1
	for range function + 1 {
		kind = r.number()
	}
	if r.short || kind < 0 {
		return 0, fmt.Errorf("%s is no function of its own", startName)
	}
	return kind, nil
}

func globalSection(types []byte, values []uint64) []byte {
	body := number(len(types))
	for i, kind := range types {
		body = append(body, kind, mutable)
		if kind == typeI32 {
			body = append(append(body, opI32Const), signed(int64(int32(uint32(values[i]))))...)
		} else {
			body = append(append(body, opI64Const), signed(int64(values[i]))...)
		}
		body = append(body, opEnd)
	}
	return body
}

// dataSection writes what of a memory is not zero.
func dataSection(memory []byte) []byte {
	var body []byte
	pieces := 0
	for at := 0; ; {
		for at < len(memory) && memory[at] == 0 {
			at++
		}
		if at == len(memory) {
			return append(number(pieces), body...)
		}
		end, zeros := at, 0
		for i := at; i < len(memory) && zeros <= longestGap; i++ {
			if zeros++; memory[i] != 0 {
				end, zeros = i+1, 0
			}
		}
		body = append(append(body, 0, opI32Const), signed(int64(int32(at)))...) // memory 0, at a constant
		body = append(append(body, opEnd), number(end-at)...)
		body = append(body, memory[at:end]...)
		pieces++
		at = end
	}
}

// number encodes an unsigned LEB128.
func number(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// signed encodes a signed LEB128.
func signed(v int64) []byte {
	var out []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(out, c)
		}
		out = append(out, c|0x80)
	}
}
