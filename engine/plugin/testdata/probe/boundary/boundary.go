//go:build wasip1

// Package boundary is the guest's side of gyrum/1 for the probe, without any protection: the probe also plays the
// plugins that break its rules.
package boundary

import (
	"bytes"
	"unsafe"
)

//go:wasmimport gyrum:call input
func RawInput(ptr uint32)

//go:wasmimport gyrum:call output
func RawOutput(ptr, size uint32)

//go:wasmimport gyrum:call take
func RawTake(ptr uint32)

// Address gives where a slice lies in the guest's memory.
func Address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// Request takes the request.
func Request(n uint32) []byte {
	b := make([]byte, n+1)[:n]
	RawInput(Address(b))
	return b
}

// Answer hands the answer over.
func Answer(text string) uint32 {
	b := []byte(text)
	RawOutput(Address(b), uint32(len(b)))
	return 0
}

// Ask makes a capability call.
func Ask(capability func(ptr, size uint32) uint32, request string) string {
	b := []byte(request)
	reply := make([]byte, capability(Address(b), uint32(len(b)))+1)
	RawTake(Address(reply))
	return string(reply[:len(reply)-1])
}

// Field gives the string value that follows "name": anywhere in a record; the probe's records have no escapes.
func Field(record []byte, name string) string {
	_, rest, ok := bytes.Cut(record, []byte(`"`+name+`":"`))
	if !ok {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(value)
}

// Resources cuts the list of a request into its records.
func Resources(request []byte) (out [][]byte) {
	depth, start, text := 0, 0, false
	for i, c := range request {
		switch {
		case text:
			text = c != '"'
		case c == '"':
			text = true
		case c == '{':
			if depth++; depth == 2 {
				start = i
			}
		case c == '}':
			if depth--; depth == 1 {
				out = append(out, request[start:i+1])
			}
		}
	}
	return out
}
