package guest

import (
	"runtime"
	"unsafe"
)

//go:wasmimport gyrum:call input
func callInput(into unsafe.Pointer)

//go:wasmimport gyrum:call output
func callOutput(from unsafe.Pointer, length int32)

//go:wasmimport gyrum:call take
func callTake(into unsafe.Pointer)

//go:wasmexport gyrum_abi
func abi() int32 { return ABI }

// Serve runs one phase on the request of the announced length and hands its output over. The buffers live on the heap,
// which does not move, and the engine copies at once: no pointer outlives a call.
func Serve(length int32, phase Phase) int32 {
	request := make([]byte, length)
	if length > 0 {
		callInput(unsafe.Pointer(unsafe.SliceData(request)))
	}
	output, status := phase(request)
	callOutput(unsafe.Pointer(unsafe.SliceData(output)), int32(len(output)))
	runtime.KeepAlive(output)
	return status
}

// Import is a capability as the engine exports it: it takes the request and returns the length of the reply.
type Import func(request unsafe.Pointer, length int32) int32

// Exchange makes one call of a capability and takes the reply.
func Exchange(capability Import, request []byte) []byte {
	length := capability(unsafe.Pointer(unsafe.SliceData(request)), int32(len(request)))
	runtime.KeepAlive(request)
	reply := make([]byte, length)
	if length > 0 {
		callTake(unsafe.Pointer(unsafe.SliceData(reply)))
	}
	return reply
}
