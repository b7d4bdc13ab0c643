package plugin

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The runtime looks for a passed deadline where a loop begins and nowhere else, and Go cannot preempt its code: what computes
// without a loop is stopped by nobody, and the whole process stops with it as soon as Go's collector waits. So a module that
// is not the program's own gets brakes before it is compiled: a loop that does nothing, and that looks, at the head of each
// function and behind each instruction that works on a whole memory. Digests are those of the module as it came.

// brake is an empty loop: loop, of no type, end.
var brake = []byte{opLoop, 0x40, opEnd}

// braking names the rules by which brakes are put in, and is part of the name of what the cache keeps of such a module.
// Whoever changes them counts up.
const braking = "braked-1"

// The sections that are looked at (WebAssembly core specification, chapter 5.5).
const (
	sectionCustom   = 0
	sectionTables   = 4
	sectionGlobals  = 6
	sectionElements = 9
	sectionCode     = 10
)

// withBrakes gives a module whose outside was read with brakes. It refuses what it cannot read and what is over the bounds of
// a module, so that nothing reaches the compiler that would keep it busy for long. Custom sections are left out: they speak
// of where code was.
func withBrakes(raw []byte, shape *outside) ([]byte, error) {
	return new(braker).module(raw, shape)
}

func (b *braker) module(raw []byte, shape *outside) (out []byte, err error) {
	if len(raw) > maxModule {
		return nil, boundError("bytes:", len(raw), maxModule)
	}
	if b.types, err = arities(shape.types); err != nil {
		return nil, err
	}
	if b.functions, err = arities(shape.functions); err != nil {
		return nil, err
	}
	out = append(make([]byte, 0, len(raw)+len(raw)/8), raw[:8]...)
	for r := (&sectionReader{in: raw[8:]}); len(r.in) > 0; {
		id := r.byte()
		body := r.take(r.u32())
		if r.err != nil {
			return nil, r.err
		}
		s := &sectionReader{in: body}
		switch id {
		case sectionCustom:
			continue
		case sectionTables:
			boundTables(s)
		case sectionGlobals:
			s.count() // each instance makes them
		case sectionElements:
			if len(body) > maxElements {
				s.fail(boundError("bytes of entries for tables:", len(body), maxElements))
			}
		case sectionCode:
			body = b.code(s)
		}
		if s.err != nil {
			return nil, fmt.Errorf("section %d: %w", id, s.err)
		}
		out = append(out, id)
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out, nil
}

// braker puts brakes into the functions of a module.
type braker struct {
	// types and functions are by their indices, the imported functions first.
	types, functions []arity
	// blocks are those that are open: how high the stack was where each began, and whether it leaves a value.
	blocks []block
	work   int
	// tables says that something in it changes a table.
	tables bool
}

type block struct {
	base   int
	result int
}

// code gives a code section with brakes.
func (b *braker) code(r *sectionReader) []byte {
	if len(r.in) > maxCode {
		r.fail(boundError("bytes of code:", len(r.in), maxCode))
		return nil
	}
	out := make([]byte, 0, len(r.in)+len(r.in)/8)
	n := r.count()
	switch {
	case n > maxFunctions:
		r.fail(boundError("functions:", n, maxFunctions))
	case n > len(b.functions):
		r.fail(errIndex)
	}
	out = binary.AppendUvarint(out, uint64(n))
	var body []byte
	for i := 0; i < n && r.err == nil; i++ {
		code := r.take(r.u32())
		f := &sectionReader{in: code, err: r.err}
		body = b.function(f, code, b.functions[len(b.functions)-n+i], body[:0])
		if f.err != nil {
			r.fail(fmt.Errorf("its function %d: %w", i, f.err))
			return nil
		}
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	switch {
	case len(r.in) > 0:
		r.fail(errors.New("something follows its last function"))
	case b.work > maxAllWork:
		r.fail(boundError("branches times variables in all:", b.work, maxAllWork))
	}
	return out
}

// function appends the body of a function with brakes.
func (b *braker) function(r *sectionReader, code []byte, own arity, out []byte) []byte {
	f := function{bytes: len(code), locals: own.takes}
	r.each(func() {
		f.locals = min(f.locals+int(r.u32()), 1<<31)
		r.valueType()
	})
	copied := 0
	put := func() {
		at := len(code) - len(r.in)
		out = append(append(out, code[copied:at]...), brake...)
		copied = at
	}
	if r.err == nil {
		put()
	}
	b.blocks = append(b.blocks[:0], block{0, own.leaves})
	for stack := 0; len(b.blocks) > 0 && r.err == nil; {
		s := r.step()
		stack = b.follow(r, s, stack)
		f.stack = max(f.stack, stack)
		b.tables = b.tables || s.tables
		f.branches += s.targets
		f.depth = max(f.depth, len(b.blocks))
		if s.bulk && r.err == nil {
			put()
		}
	}
	if r.err == nil && len(r.in) > 0 {
		r.fail(errors.New("something follows its end"))
	}
	if err := f.check(); r.err == nil && err != nil {
		r.fail(err)
	}
	if r.err != nil {
		return nil
	}
	b.work += f.work()
	return append(out, code[copied:]...)
}

// follow gives the height of the stack after an instruction, and opens and closes blocks. It never is below where the innermost
// block began: code that is not reached may take what is not there.
func (b *braker) follow(r *sectionReader, s step, stack int) int {
	in := &b.blocks[len(b.blocks)-1]
	stack += s.stack
	switch s.op {
	case opCall, opCallIndirect:
		list := b.functions
		if s.op == opCallIndirect {
			list = b.types
		}
		if int64(s.index) >= int64(len(list)) {
			r.fail(errIndex)
			return 0
		}
		stack += list[s.index].leaves - list[s.index].takes
	case opElse, opUnreachable, opReturn, opBranch:
		stack = in.base
	case opEnd:
		stack = in.base + in.result
		b.blocks = b.blocks[:len(b.blocks)-1]
		return stack
	}
	stack = max(stack, in.base)
	if s.op == opBlock || s.op == opLoop || s.op == opIf {
		result := 0
		if s.result {
			result = 1
		}
		b.blocks = append(b.blocks, block{stack, result})
	}
	return stack
}
