package plugin

import (
	"fmt"
	"slices"
	"strings"
)

// signatures of what a plugin may import besides capabilities, by module and name.
var (
	callSignatures = map[string]string{
		"input":  "(i32)",
		"output": "(i32, i32)",
		"take":   "(i32)",
	}
	wasiSignatures = map[string]string{
		"args_get":          "(i32, i32) -> i32",
		"args_sizes_get":    "(i32, i32) -> i32",
		"clock_time_get":    "(i32, i64, i32) -> i32",
		"environ_get":       "(i32, i32) -> i32",
		"environ_sizes_get": "(i32, i32) -> i32",
		"fd_write":          "(i32, i32, i32, i32) -> i32",
		"poll_oneoff":       "(i32, i32, i32, i32) -> i32",
		"proc_exit":         "(i32)",
		"random_get":        "(i32, i32) -> i32",
		"sched_yield":       "() -> i32",
	}
)

// startExport is the function by which every instance starts.
const startExport = "_initialize"

const capabilitySignature = "(i32, i32) -> i32"

// checkOutside holds a module's outside against the boundary and against what its manifest grants the phase.
func checkOutside(b *outside, m *Manifest, p Phase) error {
	if b.start {
		return fmt.Errorf("it has a start function; the boundary starts a plugin by _initialize")
	}
	for _, im := range b.imports {
		if err := checkImport(im, m, p); err != nil {
			return err
		}
	}
	want := map[string]Export{
		"memory":    {Kind: "memory"},
		startExport: {Kind: "func", Signature: "()"},
		"gyrum_abi": {Kind: "func", Signature: "() -> i32"},
	}
	for _, name := range p.exports() {
		want[name] = Export{Kind: "func", Signature: "(i32) -> i32"}
	}
	for _, e := range b.exports {
		w, ok := want[e.Name]
		if !ok {
			continue
		}
		if w.Kind != e.Kind || w.Signature != e.Signature {
			return fmt.Errorf("its export %s is a %s %s; the boundary has a %s %s", e.Name, e.Kind, e.Signature, w.Kind, w.Signature)
		}
		delete(want, e.Name)
	}
	if len(want) > 0 {
		var missing []string
		for name := range want {
			missing = append(missing, name)
		}
		slices.Sort(missing)
		return fmt.Errorf("it does not export %s", strings.Join(missing, ", "))
	}
	return nil
}

func checkImport(im Import, m *Manifest, p Phase) error {
	name := im.Module + "." + im.Name
	if im.Kind != "func" {
		return fmt.Errorf("it imports the %s %s; a plugin imports only functions", im.Kind, name)
	}
	var want string
	switch im.Module {
	case moduleCall:
		want = callSignatures[im.Name]
	case moduleWASI:
		want = wasiSignatures[im.Name]
		if want == "" {
			return fmt.Errorf("it imports %s, which no plugin is given; package os or another door to the host was linked in", name)
		}
	case moduleRead, moduleWrite:
		c, ok := capability(im.Name)
		if !ok || "gyrum:"+string(c.Side) != im.Module {
			return fmt.Errorf("it imports %s, and there is no such capability", name)
		}
		if im.Module == moduleWrite && p == ObservePhase {
			return fmt.Errorf("it imports %s; a module that observes never writes", name)
		}
		if _, ok := m.grants(p)[im.Name]; !ok {
			return fmt.Errorf("it imports %s, which its manifest does not grant to %s", name, p)
		}
		want = capabilitySignature
	}
	if want == "" {
		return fmt.Errorf("it imports %s, which the boundary does not have", name)
	}
	if im.Signature != want {
		return fmt.Errorf("it imports %s as %s; it is %s", name, im.Signature, want)
	}
	return nil
}
