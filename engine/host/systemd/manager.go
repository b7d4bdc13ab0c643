package systemd

import (
	"context"
	"time"
)

// Manager is the reading side of a service manager: the bus, or a model of it. Errors are faults.
type Manager interface {
	// Properties tells of one unit. The manager loads it if it has to; a unit that does not exist has LoadState
	// "not-found".
	Properties(ctx context.Context, name string) (Properties, error)
	// FileState is the manager's answer to GetUnitFileState: one of the words of FileStates, empty when there is no unit
	// file. The property of that name that a unit carries is older than the links on disk.
	FileState(ctx context.Context, name string) (string, error)
	// Loads tells when the manager read all unit files.
	Loads(ctx context.Context) (Loads, error)
	// Failed lists the units that match a pattern and have a latched failure.
	Failed(ctx context.Context, pattern string) ([]string, error)
}

// Control is the changing side.
type Control interface {
	// Job starts, stops or restarts a unit and waits until its job is gone. The result is the manager's word: done,
	// canceled, timeout, failed, dependency, skipped, and others in newer versions.
	Job(ctx context.Context, kind JobKind, name string) (result string, err error)
	// Hold keeps the manager from unloading a unit, where it can.
	Hold(ctx context.Context, name string) (release func())
	// EnableFile and DisableFile change the links of a unit file in /etc. carries is false when the file has no
	// [Install] section that says what to link.
	EnableFile(ctx context.Context, name string) (carries bool, err error)
	DisableFile(ctx context.Context, name string) error
	Reload(ctx context.Context) error
	ResetFailed(ctx context.Context, name string) error
}

// JobKind is what a job does.
type JobKind string

// The jobs that gyrum asks for.
const (
	JobStart   JobKind = "start"
	JobStop    JobKind = "stop"
	JobRestart JobKind = "restart"
)

// Loads are the two moments that a manager remembers of reading all unit files, in nanoseconds since the epoch.
type Loads struct {
	// Boot is when it began to do so for the first time, Last when it did so last (UnitsLoadTimestamp).
	Boot, Last int64
}

// Properties are what is asked of a unit, in systemd's words (org.freedesktop.systemd1(5)). Times are in nanoseconds
// since the epoch, zero for never.
type Properties struct {
	ID          string // the unit's real name, where the name asked for is an alias
	LoadState   string
	LoadError   string
	ActiveState string
	SubState    string
	Fragment    string
	Source      string // what a generated unit was made from
	DropIns     []string
	NeedReload  bool
	CanStart    bool
	Job         string // the type of a waiting job
	TriggeredBy []string
	Invocation  string // hexadecimal, empty when it never ran
	// InactiveExit is when it last began to start, InactiveEnter when it last came to rest, since it was loaded.
	InactiveExit, InactiveEnter int64
	// Unmet are the conditions and asserts that kept it from its last start, as a unit file has them; where systemd has
	// forgotten which ones, "a condition" or "an assertion".
	Unmet []string

	// Of services, and of other units that run processes.
	Type             string
	RemainAfterExit  bool
	Result           string
	ExecMainCode     int // 1 exited, 2 killed, 3 dumped
	ExecMainStatus   int
	Restarts         uint32
	MainPID          uint32
	EnvironmentFiles []EnvironmentFile
	// StartTimeout and StopTimeout are zero where the unit sets no bound.
	StartTimeout, StopTimeout time.Duration
}

// EnvironmentFile is one EnvironmentFile= setting.
type EnvironmentFile struct {
	Pattern string // a path or a glob pattern
	Missing bool   // it may be missing
}

// Running says whether the unit is up, or is being brought up or reloaded.
func (p Properties) Running() bool {
	switch p.ActiveState {
	case "active", "reloading", "refreshing", "activating":
		return !p.waitsToRestart()
	}
	return false
}

// waitsToRestart says that the unit ended and that systemd waits before it starts it again.
func (p Properties) waitsToRestart() bool {
	return p.SubState == "auto-restart" || p.SubState == "auto-restart-queued"
}
