//go:build wasip1

// The module that looks at a file and compares it with its declaration. It can change nothing.
package main

import (
	"gyrum.ai/plugins/file"
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

//go:wasmexport observe
func observe(length int32) int32 {
	return guest.Serve(length, guest.Observing(func(declared guest.Value) guest.Observation {
		return file.Observe(read.Host{}, declared)
	}))
}

//go:wasmexport diff
func diff(length int32) int32 { return guest.Serve(length, guest.Diffing(file.Diff)) }

func main() {}
