package host

import "context"

// Units is what can be asked of the service manager. Errors are faults: no manager, no answer.
type Units interface {
	// Unit tells of one unit. A unit that does not exist has LoadState "not-found" and no error.
	Unit(ctx context.Context, query UnitQuery) (UnitState, error)
	// Forget drops what was remembered of the manager's state, after any effect.
	Forget()
}

// UnitWriter changes units. Errors are faults.
type UnitWriter interface {
	// Start starts the unit and returns once it is clear that it stays up; if it does not, that is an error.
	Start(ctx context.Context, name string) error
	Stop(ctx context.Context, name string) error
	// Restart is Start for a unit that runs from old inputs.
	Restart(ctx context.Context, name string) error
	// Enable and Disable change the links in /etc/systemd/system; they reload nothing by themselves.
	Enable(ctx context.Context, name string) error
	Disable(ctx context.Context, name string) error
	// Reload has the manager read all unit files anew (daemon-reload).
	Reload(ctx context.Context) error
	// Failed lists the units with a latched failure that name stands for: itself, or the instances of a template.
	Failed(ctx context.Context, name string) ([]string, error)
	// ResetFailed clears the latched failure of one unit.
	ResetFailed(ctx context.Context, name string) error
	// Witness keeps in mind when the manager last read all unit files, in nanoseconds since the epoch, and tells it; zero when
	// that cannot be had. It is called after anything that may have made the manager do so: a later reload hides it.
	Witness(ctx context.Context) int64
	// Appeared tells of a packaged unit file that was not there before an effect: a unit that runs from it was loaded after
	// its ctime, whatever reloads came later.
	Appeared(path string, ctime int64)
	// Remember records the digests of the unit's inputs, durably, if the unit is known to run from them as they are.
	// It writes nothing when the newest record says the same.
	Remember(ctx context.Context, query UnitQuery) error
}

// UnitQuery asks for a unit; what stands beside the name is what the resource says of its inputs.
type UnitQuery struct {
	Name string
	// UnitFile is the path whose presence is asserted, empty when the resource names none.
	UnitFile string
	// RestartOn are the further inputs that the resource names.
	RestartOn []UnitInput
	// Look examines a path that is an input: the unit's fragment, drop-ins, environment files, and RestartOn's.
	// The digest of a file that holds a secret is keyed.
	Look func(path string) (InputFact, error)
}

// UnitInput is one resource that restart_on names.
type UnitInput struct {
	// ID is the resource's id.
	ID string
	// Path is set for a file, env, directory, symlink or line, Package for a package (its digest is its version).
	Path    string
	Package string
}

// InputFact is what an input looks like now.
type InputFact struct {
	Exists bool
	Kind   string
	// Digest is "sha256:…" of a file's content, "hmac-sha256:…" where that is secret; a directory's covers its own mode
	// and owner, not what lies in it. Empty when the path does not exist, and for a secret as long as the state folder
	// has no key: the times must do then.
	Digest string
	// MTime and CTime are in nanoseconds since the epoch, after a symlink the later of both. MTime is 0 for a directory:
	// it changes with the entries, which are no input.
	MTime, CTime int64
}

// UnitState is what the manager says of a unit, in its own words, and whether it runs from its inputs as they are.
type UnitState struct {
	LoadState     string `json:"load_state"`
	ActiveState   string `json:"active_state"`
	SubState      string `json:"sub_state"`
	UnitFileState string `json:"unit_file_state"` // GetUnitFileState's word, empty when there is no file
	// AliasOf and AliasState are the unit that an alias names and its UnitFileState; set when UnitFileState is alias.
	AliasOf          string   `json:"alias_of,omitempty"`
	AliasState       string   `json:"alias_state,omitempty"`
	NeedDaemonReload bool     `json:"need_daemon_reload"`
	ServiceType      string   `json:"service_type,omitempty"`
	RemainAfterExit  bool     `json:"remain_after_exit"`
	Fragment         string   `json:"fragment,omitempty"`
	UnitFilePresent  bool     `json:"unit_file_present"`
	Result           string   `json:"result,omitempty"`
	ExecMainStatus   int      `json:"exec_main_status"`
	TriggeredBy      []string `json:"triggered_by"` // active units only
	CanStart         bool     `json:"can_start"`
	Job              string   `json:"job,omitempty"` // the type of a job that waits
	// Inputs are paths and resource ids.
	Inputs []string `json:"inputs"`
	// Freshness is fresh, stale, unknown or not-running.
	Freshness     string   `json:"freshness"`
	StaleInputs   []string `json:"stale_inputs"`
	FreshnessText string   `json:"freshness_text,omitempty"`
}
