package plugin

import (
	"errors"
	"fmt"
)

// The opcodes of WebAssembly (core specification, chapter 5.4) that are more than a number of operands and results here.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBranch       = 0x0c
	opBranchIf     = 0x0d
	opBranchTable  = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd
)

// The opcodes behind opMisc; those before memory.init turn fractions into integers.
const (
	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17
)

// step is what one instruction does, as far as it matters how long it takes to compile and to run.
type step struct {
	op byte
	// stack is by how many values the stack is higher afterwards. Calls and what ends a block are not in it.
	stack int
	// index is the function that is called, or the type of what is called by a table.
	index uint32
	// targets is how many places it may branch to, or makes that are branched to.
	targets int
	// result says that the block which it begins leaves a value.
	result bool
	// bulk says that it works on as much of memory or of a table as it is told, so that it may take long.
	bulk bool
	// tables says that it changes a table.
	tables bool
}

// step reads one instruction. What a plugin may not use fails the reader.
func (r *sectionReader) step() (s step) {
	s.op = r.byte()
	switch op := s.op; {
	case op <= 0x01, op == opElse, op == opEnd, op == opReturn, op == opRefIsNull:
	case op == opBlock, op == opLoop, op == opIf:
		s.result = r.blockType()
		s.targets = 1
		if op == opIf {
			s.stack, s.targets = -1, 2
		}
	case op == opBranch:
		r.u32()
		s.targets = 1
	case op == opBranchIf:
		r.u32()
		s.stack, s.targets = -1, 1
	case op == opBranchTable:
		s.stack, s.targets = -1, r.count()+1
		for i := 0; i < s.targets && r.err == nil; i++ {
			r.u32()
		}
	case op == opCall:
		s.index = r.u32()
	case op == opCallIndirect:
		s.index = r.u32()
		r.u32()
		s.stack = -1
	case op == opDrop:
		s.stack = -1
	case op == opSelect:
		s.stack = -2
	case op == opSelectTyped:
		r.take(r.u32())
		s.stack = -2
	case op == opLocalGet, op == opGlobalGet, op == opRefFunc:
		r.u32()
		s.stack = 1
	case op == opLocalSet, op == opGlobalSet:
		r.u32()
		s.stack = -1
	case op == opLocalTee, op == opTableGet:
		r.u32()
	case op == opTableSet:
		r.u32()
		s.stack, s.tables = -2, true
	case op >= 0x28 && op <= 0x3e: // loads and then stores: alignment and offset
		r.u32()
		r.u32()
		if op >= 0x36 {
			s.stack = -2
		}
	case op == opMemorySize, op == opRefNull:
		r.byte()
		s.stack = 1
	case op == opMemoryGrow:
		r.byte()
	case op == opI32Const:
		r.skipNumber(5)
		s.stack = 1
	case op == opI64Const:
		r.skipNumber(10)
		s.stack = 1
	case op == opF32Const:
		r.take(4)
		s.stack = 1
	case op == opF64Const:
		r.take(8)
		s.stack = 1
	case op >= 0x45 && op <= 0xc4:
		if twoToOne[op] {
			s.stack = -1
		}
	case op == opMisc:
		r.miscellaneous(&s)
	case op == opVector:
		r.fail(errors.New("it has vector instructions; compile it without SIMD"))
	default:
		r.fail(fmt.Errorf("it has the instruction %#x, which a plugin may not use", op))
	}
	return s
}

// twoToOne holds the operators that make one value of two: comparisons and arithmetic.
var twoToOne = func() (set [256]bool) {
	for _, span := range [][2]byte{{0x46, 0x4f}, {0x51, 0x66}, {0x6a, 0x78}, {0x7c, 0x8a}, {0x92, 0x98}, {0xa0, 0xa6}} {
		for op := span[0]; op <= span[1]; op++ {
			set[op] = true
		}
	}
	return set
}()

func (r *sectionReader) miscellaneous(s *step) {
	switch op := r.u32(); op {
	case 0, 1, 2, 3, 4, 5, 6, 7:
	case miscMemoryInit:
		r.u32()
		r.byte()
		s.takesLong()
	case miscMemoryCopy:
		r.take(2)
		s.takesLong()
	case miscMemoryFill:
		r.byte()
		s.takesLong()
	case miscTableInit, miscTableCopy:
		r.u32()
		r.u32()
		s.takesLong()
		s.tables = true
	case miscTableFill:
		r.u32()
		s.takesLong()
		s.tables = true
	case miscDataDrop, miscElemDrop:
		r.u32()
	case miscTableSize:
		r.u32()
		s.stack = 1
	case miscTableGrow:
		r.fail(errors.New("it lets a table grow, which costs memory beside its own; a plugin's tables stay as they begin"))
	default:
		r.fail(fmt.Errorf("it has the instruction 0xfc %d, which a plugin may not use", op))
	}
}

// takesLong says what is common to what works on a memory or a table: the compiler makes blocks of it, and its brake is some.
func (s *step) takesLong() { s.stack, s.targets, s.bulk = -3, 6, true }

// blockType reads the type of a block and says whether it leaves a value.
func (r *sectionReader) blockType() bool {
	if len(r.in) > 0 && (r.in[0] < 0x40 || r.in[0] >= 0x80) {
		r.fail(errSeveralValues) // an index of a type, which is for what takes values or leaves several
		return false
	}
	if len(r.in) > 0 && r.in[0] == 0x40 {
		r.byte()
		return false
	}
	r.valueType()
	return true
}

var errSeveralValues = errors.New("it has blocks or functions that leave several values; compile it without multi-value")

// skipNumber moves over a LEB128 of at most so many bytes.
func (r *sectionReader) skipNumber(most int) {
	for range most {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(errLongNumber)
}
