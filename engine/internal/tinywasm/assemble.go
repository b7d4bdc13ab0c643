package tinywasm

import (
	"fmt"
	"strconv"
	"strings"
)

// opcodes by their names in the text format; a name that ends in a space takes one operand.
var opcodes = map[string]byte{
	"unreachable": 0x00, "return": 0x0f, "else": 0x05, "end": 0x0b, "drop": 0x1a,
	"br ": 0x0c, "br_if ": 0x0d, "call ": 0x10,
	"local.get ": 0x20, "local.set ": 0x21, "local.tee ": 0x22,
	"i32.const ": 0x41, "i64.const ": 0x42,
	"i32.eqz": 0x45, "i32.eq": 0x46, "i32.ne": 0x47, "i32.lt_u": 0x49, "i32.gt_u": 0x4b, "i32.ge_u": 0x4f,
	"i32.add": 0x6a, "i32.sub": 0x6b, "i32.mul": 0x6c, "i32.and": 0x71, "i32.or": 0x72, "i32.shl": 0x74,
}

// Assemble turns instructions in the text format, one a line, into bytes: the few that tests need. Blocks, loops and
// ifs yield nothing. Loads and stores take no offset. Text after ";;" is a comment. It panics on what it does not know.
func Assemble(code string) []byte {
	var out []byte
	for line := range strings.Lines(code) {
		line, _, _ = strings.Cut(line, ";;")
		words := strings.Fields(line)
		if len(words) > 0 {
			out = append(out, instruction(words)...)
		}
	}
	return out
}

func instruction(words []string) []byte {
	switch words[0] {
	case "block":
		return []byte{0x02, 0x40}
	case "loop":
		return []byte{0x03, 0x40}
	case "if":
		return []byte{0x04, 0x40}
	case "i32.load":
		return []byte{0x28, 2, 0}
	case "i32.load8_u":
		return []byte{0x2d, 0, 0}
	case "i32.store8":
		return []byte{0x3a, 0, 0}
	case "i32.store":
		return []byte{0x36, 2, 0}
	case "memory.size":
		return []byte{0x3f, 0}
	case "memory.grow":
		return []byte{0x40, 0}
	case "memory.fill":
		return []byte{0xfc, 0x0b, 0}
	case "memory.copy":
		return []byte{0xfc, 0x0a, 0, 0}
	}
	if op, ok := opcodes[words[0]]; ok && len(words) == 1 {
		return []byte{op}
	}
	op, ok := opcodes[words[0]+" "]
	if !ok || len(words) != 2 {
		panic(fmt.Sprintf("tinywasm: no instruction %q", strings.Join(words, " ")))
	}
	n, err := strconv.ParseInt(words[1], 0, 64)
	if err != nil {
		panic(fmt.Sprintf("tinywasm: %q: %v", strings.Join(words, " "), err))
	}
	if words[0] == "i32.const" || words[0] == "i64.const" {
		return append([]byte{op}, sleb(int(n))...)
	}
	return append([]byte{op}, uleb(int(n))...)
}
