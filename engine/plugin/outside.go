package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Import is one entry of a module's import section.
type Import struct {
	// Module and Name are as the import section has them, such as gyrum:read and file_stat.
	Module string `json:"module"`
	Name   string `json:"name"`
	// Kind is func, table, memory, global or tag.
	Kind string `json:"kind"`
	// Signature is such as "(i32, i32) -> i32"; empty for what is no function.
	Signature string `json:"signature,omitempty"`
}

// Export is one entry of a module's export section.
type Export struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Signature string `json:"signature,omitempty"`
}

// outside is what the import check needs of a module. Function bodies are wazero's to judge.
type outside struct {
	imports []Import
	exports []Export
	start   bool
	// types are signatures by type index, functions by function index, the imported ones first.
	types, functions []string
}

// Bounds of a module's outside; the largest honest module has some thirty imports.
const (
	maxEntries   = 1 << 16
	maxTypeWidth = 64
)

var (
	errTruncated  = errors.New("it ends in the middle of an entry")
	errLongNumber = errors.New("a number is too long")
)

// parseOutside reads the type, import, function, export and start sections of a module in the binary format
// (WebAssembly core specification, chapter 5), before anything compiles it.
func parseOutside(raw []byte) (*outside, error) {
	if !bytes.HasPrefix(raw, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errors.New("it is no WebAssembly module of version 1")
	}
	r := &sectionReader{in: raw[8:]}
	b := &outside{}
	for len(r.in) > 0 && r.err == nil {
		id := r.byte()
		s := &sectionReader{in: r.take(r.u32())}
		if r.err != nil {
			break
		}
		switch id {
		case 1:
			s.each(func() { b.types = append(b.types, s.signature()) })
		case 2:
			s.each(func() {
				im := s.imported(b.types)
				if im.Kind == "func" {
					b.functions = append(b.functions, im.Signature)
				}
				b.imports = append(b.imports, im)
			})
		case 3:
			s.each(func() { b.functions = append(b.functions, s.index(b.types)) })
		case 7:
			s.each(func() {
				e := Export{Name: s.name(), Kind: s.kind()}
				if index := s.u32(); e.Kind == "func" {
					if int64(index) >= int64(len(b.functions)) {
						s.fail(fmt.Errorf("the export %q names a function that does not exist", e.Name))
						return
					}
					e.Signature = b.functions[index]
				}
				b.exports = append(b.exports, e)
			})
		case 8:
			b.start = true
		}
		if s.err != nil {
			return nil, fmt.Errorf("section %d: %w", id, s.err)
		}
	}
	return b, r.err
}

// sectionReader reads the entries of one section; after the first error it yields zeros.
type sectionReader struct {
	in  []byte
	err error
}

func (r *sectionReader) fail(err error) {
	if r.err == nil {
		r.err, r.in = err, nil
	}
}

func (r *sectionReader) byte() byte {
	if len(r.in) == 0 {
		r.fail(errTruncated)
		return 0
	}
	c := r.in[0]
	r.in = r.in[1:]
	return c
}

// u32 reads an unsigned LEB128 of at most five bytes.
func (r *sectionReader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	r.fail(errLongNumber)
	return 0
}

func (r *sectionReader) count() int {
	n := r.u32()
	if n > maxEntries {
		r.fail(fmt.Errorf("it has more than %d entries", maxEntries))
		return 0
	}
	return int(n)
}

// each reads a vector: as many entries as its count says, up to the first error.
func (r *sectionReader) each(entry func()) {
	for range r.count() {
		if entry(); r.err != nil {
			return
		}
	}
}

func (r *sectionReader) take(n uint32) []byte {
	if int64(n) > int64(len(r.in)) {
		r.fail(errTruncated)
		return nil
	}
	out := r.in[:n]
	r.in = r.in[n:]
	return out
}

func (r *sectionReader) name() string {
	s := r.take(r.u32())
	if !utf8.Valid(s) {
		r.fail(errors.New("a name is not UTF-8"))
	}
	return string(s)
}

func (r *sectionReader) kind() string {
	c := r.byte()
	kinds := [...]string{"func", "table", "memory", "global", "tag"}
	if int(c) >= len(kinds) {
		r.fail(fmt.Errorf("there is no kind %d", c))
		return ""
	}
	return kinds[c]
}

func (r *sectionReader) index(types []string) string {
	i := r.u32()
	if int64(i) >= int64(len(types)) {
		r.fail(errors.New("an entry names a type that does not exist"))
		return ""
	}
	return types[i]
}

func (r *sectionReader) signature() string {
	if form := r.byte(); form != 0x60 {
		r.fail(fmt.Errorf("type form %#x is none of a function", form))
		return ""
	}
	params := r.valueTypes()
	results := r.valueTypes()
	if results == "" {
		return "(" + params + ")"
	}
	return "(" + params + ") -> " + results
}

func (r *sectionReader) valueTypes() string {
	n := r.count()
	if n > maxTypeWidth {
		r.fail(fmt.Errorf("a signature is wider than %d", maxTypeWidth))
		return ""
	}
	var out string
	for i := range n {
		if i > 0 {
			out += ", "
		}
		out += r.valueType()
	}
	return out
}

func (r *sectionReader) valueType() string {
	switch c := r.byte(); c {
	case 0x7f:
		return "i32"
	case 0x7e:
		return "i64"
	case 0x7d:
		return "f32"
	case 0x7c:
		return "f64"
	case 0x7b:
		return "v128"
	case 0x70:
		return "funcref"
	case 0x6f:
		return "externref"
	default:
		r.fail(fmt.Errorf("there is no value type %#x", c))
		return ""
	}
}

func (r *sectionReader) limits() {
	flags := r.byte()
	r.skipNumber(10)
	if flags&1 != 0 {
		r.skipNumber(10)
	}
}

func (r *sectionReader) imported(types []string) Import {
	im := Import{Module: r.name(), Name: r.name(), Kind: r.kind()}
	switch im.Kind {
	case "func":
		im.Signature = r.index(types)
	case "table":
		r.valueType()
		r.limits()
	case "memory":
		r.limits()
	case "global":
		r.valueType()
		r.byte()
	case "tag":
		r.byte()
		r.u32()
	}
	return im
}
