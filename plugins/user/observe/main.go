//go:build wasip1

// The module that looks at a user and compares it with its declaration. It can change nothing.
package main

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/user"
)

//go:wasmexport observe
func observe(length int32) int32 {
	return guest.Serve(length, guest.Observing(func(declared guest.Value) guest.Observation {
		return user.Observe(read.Host{}, declared)
	}))
}

//go:wasmexport diff
func diff(length int32) int32 { return guest.Serve(length, guest.Diffing(user.Diff)) }

func main() {}
