//go:build wasip1

// The module that looks at a systemd_unit and compares it with its declaration. It can change nothing.
package main

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	systemdunit "gyrum.ai/plugins/systemd_unit"
)

//go:wasmexport observe
func observe(length int32) int32 {
	return guest.Serve(length, guest.Observing(func(declared guest.Value) guest.Observation {
		return systemdunit.Observe(read.Host{}, declared)
	}))
}

//go:wasmexport diff
func diff(length int32) int32 { return guest.Serve(length, guest.Diffing(systemdunit.Diff)) }

func main() {}
