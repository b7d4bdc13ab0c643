package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// magic begins a module of version 1.
const magic = "\x00asm\x01\x00\x00\x00"

var errNoModule = errors.New("it is no WebAssembly module of version 1")

// importsOf lists the functions that a WebAssembly module imports, as module.name, in the order of its import section.
// It reads what the Go linker writes: function imports only.
func importsOf(raw []byte) ([]string, error) {
	if !bytes.HasPrefix(raw, []byte(magic)) {
		return nil, errNoModule
	}
	r := &reader{rest: raw[len(magic):]}
	for len(r.rest) > 0 && !r.short {
		id := r.bytes(1)
		section := r.bytes(r.number())
		if !r.short && id[0] == sectionImports {
			return importSection(section)
		}
	}
	return nil, errors.New("it has no import section")
}

func importSection(section []byte) ([]string, error) {
	r := &reader{rest: section}
	var names []string
	for range r.number() {
		module, name := string(r.bytes(r.number())), string(r.bytes(r.number()))
		if kind := r.bytes(1); len(kind) != 1 || kind[0] != 0 {
			return nil, errors.New("it imports something that is no function: " + module + "." + name)
		}
		r.number() // the type
		if r.short {
			return nil, errors.New("its import section is cut off")
		}
		names = append(names, module+"."+name)
	}
	if r.short {
		return nil, errors.New("its import section is cut off")
	}
	return names, nil
}

// reader takes bytes and LEB128 numbers from a section.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > 1<<31 {
		r.short, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

// skipSigned moves over a signed LEB128.
func (r *reader) skipSigned() {
	for c := r.bytes(1); !r.short && c[0]&0x80 != 0; {
		c = r.bytes(1)
	}
}

// end says what is wrong with the entries of a section that were read, or follows them.
func (r *reader) end(entries string) error {
	if r.short || len(r.rest) > 0 {
		return errors.New("its " + entries + " section is cut off or longer than its entries")
	}
	return nil
}
