//go:build wasip1

// The module that performs one action on a line.
package main

import (
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/write"
	"gyrum.ai/plugins/line"
)

//go:wasmexport apply
func apply(length int32) int32 {
	return guest.Serve(length, guest.Applying(func(declared guest.Value, action guest.Action) (guest.Value, *guest.Error) {
		return line.Apply(write.Host{}, declared, action)
	}))
}

func main() {}
