//go:build wasip1

// The module that performs one action on a group.
package main

import (
	"gyrum.ai/plugins/group"
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
)

//go:wasmexport apply
func apply(length int32) int32 {
	return guest.Serve(length, guest.Applying(func(declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
		return group.Apply(write.Host{}, declared, action)
	}))
}

func main() {}
