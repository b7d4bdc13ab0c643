//go:build wasip1

// The module that looks at a group and compares it with its declaration. It can change nothing.
package main

import (
	"gyrum.ai/plugins/group"
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

//go:wasmexport observe
func observe(length int32) int32 {
	return guest.Serve(length, guest.Observing(func(declared guest.Value) guest.Observation {
		return group.Observe(read.Host{}, declared)
	}))
}

//go:wasmexport diff
func diff(length int32) int32 { return guest.Serve(length, guest.Diffing(group.Diff)) }

func main() {}
