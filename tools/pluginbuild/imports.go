package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// wasi are the functions that a Go guest without package os imports; the engine serves these and no others.
var wasi = []string{
	"args_get", "args_sizes_get", "clock_time_get", "environ_get", "environ_sizes_get",
	"fd_write", "poll_oneoff", "proc_exit", "random_get", "sched_yield",
}

// imports compares what the modules import with what their manifest grants: a module may import nothing else, and a
// manifest may grant nothing that the module does not use.
func (b *build) imports() error {
	for _, m := range b.modules {
		raw, err := os.ReadFile(filepath.Join(b.dist, m.file()))
		if err != nil {
			return err
		}
		used, err := importsOf(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", m.file(), err)
		}
		granted := b.granted(m)
		for _, name := range used {
			space, function, _ := strings.Cut(name, ".")
			switch {
			case space == "wasi_snapshot_preview1" && slices.Contains(wasi, function):
			case space == "wasi_snapshot_preview1":
				return fmt.Errorf("%s imports %s, which the engine does not serve; does it reach package os?", m.file(), name)
			case space == "gyrum:call":
			case space == "gyrum:write" && m.Phase == "observe":
				return fmt.Errorf("%s imports %s; what observes must not be able to write", m.file(), name)
			case !slices.Contains(granted, function):
				return fmt.Errorf("%s imports %s, which plugin.cue does not grant to %s", m.file(), name, m.Phase)
			default:
				granted = slices.DeleteFunc(granted, func(g string) bool { return g == function })
			}
		}
		if len(granted) > 0 {
			return fmt.Errorf("%s does not import %s, which plugin.cue grants to %s; take it out there", m.file(), strings.Join(granted, ", "), m.Phase)
		}
	}
	return nil
}

func (b *build) granted(m *module) []string {
	var names []string
	for _, t := range b.types {
		if t.Type == m.Type {
			for name := range t.grants(m.Phase) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
