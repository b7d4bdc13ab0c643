package host

// Wish is what a declared record has to say before a capability of the write side is used on it. With it a plugin of a
// type cannot remove what is declared to be there, or stop what is declared to run.
type Wish struct {
	// Field of the declared record, and the JSON that it holds.
	Field, Value string
	// Always says that the record has to have the field; otherwise one without it is taken.
	Always bool
}

// wishes by capability. Those that are not here can only bring about what the resource declares, whatever it says.
var wishes = map[string]Wish{
	"directory_make":   toBe,
	"directory_remove": toGo,
	"env_replace":      toBe,
	"file_mode":        toBe,
	"file_owner":       toBe,
	"file_remove":      toGo,
	"file_replace":     toBe,
	"group_add":        toBe,
	"group_change":     toBe,
	"group_remove":     toGo,
	"line_remove":      toGo,
	"line_write":       toBe,
	"package_install":  toBe,
	"package_remove":   toGo,
	"symlink_make":     toBe,
	"symlink_owner":    toBe,
	"symlink_remove":   toGo,
	"unit_disable":     {"enabled", "false", true},
	"unit_enable":      {"enabled", "true", true},
	"unit_restart":     {"state", `"started"`, true},
	"unit_start":       {"state", `"started"`, true},
	"unit_stop":        {"state", `"stopped"`, true},
	"user_add":         toBe,
	"user_change":      toBe,
	"user_remove":      toGo,
}

var (
	toBe = Wish{"state", `"present"`, false}
	toGo = Wish{"state", `"absent"`, true}
)

// WishOf gives what a capability has to be wished by; false where nothing does.
func WishOf(capability string) (Wish, bool) {
	w, ok := wishes[capability]
	return w, ok
}
