// Package plugin runs resource types. Each type is one sandboxed WebAssembly plugin of two modules: observe looks at
// the host and says what differs, apply closes one gap. The package loads the modules, checks what they import against
// what their manifest grants, speaks the boundary "gyrum/1" with them, holds them to their limits and judges every
// answer. Reading has no path to a writer: the module gyrum:write does not exist in the runtimes it uses.
//
// It must not know what a type means: paths, packages and units are words to it, and the host is an Asker or a Doer.
package plugin

// Boundary is the name and version of the interface between the engine and a plugin.
const Boundary = "gyrum/1"

// ABI is what a module's gyrum_abi export must answer.
const ABI = 1

// The modules that a plugin may import besides the WASI functions.
const (
	moduleCall  = "gyrum:call"
	moduleRead  = "gyrum:read"
	moduleWrite = "gyrum:write"
	moduleWASI  = "wasi_snapshot_preview1"
)

// Phase is one of the two modules of a plugin.
type Phase string

// The phases. Observe also exports diff, which may ask the host nothing.
const (
	ObservePhase Phase = "observe"
	ApplyPhase   Phase = "apply"
)

// exports lists the functions of a phase that take a request.
func (p Phase) exports() []string {
	if p == ApplyPhase {
		return []string{"apply"}
	}
	return []string{"observe", "diff"}
}
