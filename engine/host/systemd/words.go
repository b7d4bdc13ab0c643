package systemd

// Word is one of systemd's words and what it means for a declared state.
type Word struct {
	Word    string
	Yes     bool // the word is in sync with "started", or with "enabled: true"
	Meaning string
}

// FileStates is the table of GetUnitFileState's words (systemctl(1), is-enabled). Only one of them means enabled.
func FileStates() []Word {
	return []Word{
		{"enabled", true, "linked in /etc: it comes up at the next boot"},
		{"enabled-runtime", false, "linked in /run only: not after a reboot"},
		{"linked", false, "the unit file is a link to a place outside the search path; nothing pulls it in"},
		{"linked-runtime", false, "the same in /run"},
		{"alias", false, "the name is a link to another unit file; what counts is that unit"},
		{"masked", false, "linked to /dev/null, or empty: it cannot be started"},
		{"masked-runtime", false, "the same in /run"},
		{"static", false, "it has no [Install] section: others pull it in, it cannot be enabled"},
		{"disabled", false, "it can be enabled and is not"},
		{"indirect", false, "its [Install] section names only other units (Also=), or it is a template"},
		{"generated", false, "made by a generator at boot, from /etc/fstab or an init script say"},
		{"transient", false, "made at run time by a program"},
		{"bad", false, "the unit file cannot be read"},
		{"", false, "there is no unit file"},
	}
}

// ActiveStates is the table of a unit's run states.
func ActiveStates() []Word {
	return []Word{
		{"active", true, "running, or done and counted as active"},
		{"reloading", true, "running and reading its configuration"},
		{"refreshing", true, "running and refreshing its mounts"},
		{"inactive", false, "not running"},
		{"failed", false, "not running: it ended with a failure"},
		{"activating", false, "on its way up, or waiting for its restart after a crash (auto-restart)"},
		{"deactivating", false, "on its way down"},
		{"maintenance", false, "not running: it must be cleaned up"},
	}
}
