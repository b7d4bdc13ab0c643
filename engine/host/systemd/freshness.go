package systemd

import (
	"fmt"
	"slices"
	"strings"
)

// The words of a judgement.
const (
	Fresh      = "fresh"
	Stale      = "stale"
	Unknown    = "unknown"
	NotRunning = "not-running"
)

// Input is one thing that a unit is started from, as it is now.
type Input struct {
	// Name is a path, or a resource id for what restart_on names.
	Name string
	// UnitFile says that the manager reads it, when it loads unit files, and not the process when it starts.
	UnitFile bool
	// Generated says that generators write it anew at every load: its times tell nothing, MTime and CTime are those of
	// what it is made from, and a change there need not concern this unit.
	Generated bool
	// Absent says that there is no such thing now, such as an optional environment file. Without a record that is taken
	// for how it was at the start.
	Absent bool
	// Digest is empty where it could not be had; then only the times speak.
	Digest string
	// MTime and CTime are in nanoseconds; zero where there are none to be had.
	MTime, CTime int64
}

// Record is what an apply wrote down of a unit that it knew fresh.
type Record struct {
	Invocation string            `json:"invocation"`
	Inputs     map[string]string `json:"inputs"` // digest by name
}

// Process is what is known of a unit's running process.
type Process struct {
	Running    bool
	Invocation string
	// Start is when it began to start; nanoseconds.
	Start int64
	// Loads are moments at which the manager is known to have read all unit files; nanoseconds.
	Loads []int64
	// SameDefinition says that the manager's definition of the unit cannot have changed between the start and now, and
	// that it is not older than the files (systemd compares their mtimes): the unit came in for the first time since it
	// was loaded, all unit files were not read again since, and no reload is needed.
	SameDefinition bool
}

// Judgement says whether a running unit was started from its inputs as they are.
type Judgement struct {
	State string
	// Stale are the inputs that changed since the start; of an unknown state those that nothing can be said of.
	Inputs []string
	Text   string
}

// Judge decides by the newest record where it speaks, and by times where it does not:
//
//   - an input has the digest that the record has: fresh, whatever invocation the record is of;
//   - the record is of the process that runs now and has another digest: stale;
//   - an input's mtime is later than the start: stale;
//   - its ctime is before the start, and for a unit file a load of all unit files lies between: fresh;
//   - else nobody knows.
//
// One stale input makes the unit stale, else one unknown input makes it unknown.
func Judge(p Process, inputs []Input, record *Record) Judgement {
	if !p.Running {
		return Judgement{State: NotRunning}
	}
	var stale, unknown []string
	for _, in := range inputs {
		switch judgeInput(p, in, record) {
		case Stale:
			stale = append(stale, in.Name)
		case Unknown:
			unknown = append(unknown, in.Name)
		}
	}
	if record != nil && record.Invocation == p.Invocation && p.Invocation != "" {
		stale = append(stale, gone(inputs, record)...)
	}
	slices.Sort(stale)
	slices.Sort(unknown)
	switch {
	case len(stale) > 0:
		return Judgement{Stale, stale, fmt.Sprintf("changed since it was started: %s", strings.Join(stale, ", "))}
	case len(unknown) > 0:
		return Judgement{Unknown, unknown, fmt.Sprintf("whether it was started before or after a change cannot be told, there is no record of it: %s", strings.Join(unknown, ", "))}
	}
	return Judgement{State: Fresh}
}

func judgeInput(p Process, in Input, record *Record) string {
	if record != nil && in.Digest != "" {
		switch was, ok := record.Inputs[in.Name]; {
		case ok && was == in.Digest:
			return Fresh
		case ok && record.Invocation == p.Invocation && p.Invocation != "":
			return Stale
		}
	}
	switch {
	case in.Absent:
		return Fresh
	case p.Start == 0 || in.CTime == 0:
		return Unknown
	case in.Generated:
		if in.CTime < p.Start {
			return Fresh
		}
		return Unknown
	case in.MTime > p.Start:
		return Stale
	case in.CTime >= p.Start:
		return Unknown
	case !in.UnitFile || p.SameDefinition:
		return Fresh
	}
	for _, load := range p.Loads {
		if in.CTime < load && load < p.Start {
			return Fresh
		}
	}
	return Unknown
}

// gone lists the paths that the record has and the unit no longer has: a drop-in or an environment file that was taken
// away. Resources that restart_on no longer names are no change of the host's.
func gone(inputs []Input, record *Record) []string {
	var names []string
	for name := range record.Inputs {
		if strings.HasPrefix(name, "/") && !slices.ContainsFunc(inputs, func(in Input) bool { return in.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// digests is what a record keeps of inputs, and whether it can keep all of them.
func digests(inputs []Input) (map[string]string, bool) {
	m := map[string]string{}
	for _, in := range inputs {
		if in.Digest == "" {
			return nil, false
		}
		m[in.Name] = in.Digest
	}
	return m, true
}
