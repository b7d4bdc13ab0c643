//go:build wasip1

// The module that performs one action on a user.
package main

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
	"gyrum.ai/plugins/user"
)

//go:wasmexport apply
func apply(length int32) int32 {
	return guest.Serve(length, guest.Applying(func(declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
		return user.Apply(write.Host{}, declared, action)
	}))
}

func main() {}
