//go:build wasip1

// The module that looks at a symlink and compares it with its declaration. It can change nothing.
package main

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/symlink"
)

//go:wasmexport observe
func observe(length int32) int32 {
	return guest.Serve(length, guest.Observing(func(declared guest.Value) guest.Observation {
		return symlink.Observe(read.Host{}, declared)
	}))
}

//go:wasmexport diff
func diff(length int32) int32 { return guest.Serve(length, guest.Diffing(symlink.Diff)) }

func main() {}
