//go:build wasip1

// The module that performs one action on a systemd_unit.
package main

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
	systemdunit "gyrum.ai/plugins/systemd_unit"
)

//go:wasmexport apply
func apply(length int32) int32 {
	return guest.Serve(length, guest.Applying(func(declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
		return systemdunit.Apply(write.Host{}, declared, action)
	}))
}

func main() {}
