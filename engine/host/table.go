package host

// Side says which half answers a capability.
type Side string

// The two sides. They are also the names of the modules that a plugin imports, after "gyrum:".
const (
	Read  Side = "read"
	Write Side = "write"
)

// Capability is one question or one effect.
type Capability struct {
	// Name is the name that a plugin imports.
	Name string
	Side Side
	// Keys are the names in the request whose values a resource scopes; none for a question that reaches nothing. An id
	// that is sent beside them must belong to the same path or name, which the host side checks itself.
	Keys []string
	// Doc says in one line what it does.
	Doc string
}

// table is the closed list; the plugin runtime, the lint and the plugin guide read it.
var table = []Capability{
	{"account", Read, []string{"user", "group"}, "whether a user or group exists, and its id"},
	{"content_matches", Read, []string{"id"}, "whether a file holds the secret that the resource declares"},
	{"directory_entries", Read, []string{"path"}, "the names in a directory"},
	{"env_file", Read, []string{"id"}, "what systemd would read from the resource's environment file"},
	{"file_digest", Read, []string{"path"}, "sha256 and size of a regular file"},
	{"file_stat", Read, []string{"path"}, "kind, mode and owner of a path, or why there is none"},
	{"group_entry", Read, []string{"name"}, "what is known of a group, and who stands in the way of changing it"},
	{"line_state", Read, []string{"id"}, "whether the resource's line is in its file, and how often"},
	{"package", Read, []string{"name"}, "what dpkg knows of a package"},
	{"package_compare", Read, nil, "the order of two Debian versions"},
	{"package_simulate", Read, []string{"name"}, "what installing or removing a package would do"},
	{"path_exists", Read, []string{"path"}, "whether a path exists, by lstat"},
	{"unit", Read, []string{"name"}, "what systemd says of a unit and whether it runs from its inputs"},
	{"user_entry", Read, []string{"name"}, "what is known of a user, and who stands in the way of changing it"},
	{"command_run", Write, []string{"id"}, "run the resource's command"},
	{"directory_make", Write, []string{"path"}, "make a directory with exactly this mode and owner"},
	{"directory_remove", Write, []string{"path"}, "remove an empty directory"},
	{"env_replace", Write, []string{"path"}, "write the resource's environment file"},
	{"file_mode", Write, []string{"path"}, "change the mode of a file or directory"},
	{"file_owner", Write, []string{"path"}, "change owner and mode of a file or directory"},
	{"file_remove", Write, []string{"path"}, "remove a file or symlink"},
	{"file_replace", Write, []string{"path"}, "write the resource's content"},
	{"group_add", Write, []string{"name"}, "make the resource's group"},
	{"group_change", Write, []string{"name"}, "give a group the resource's gid"},
	{"group_remove", Write, []string{"name"}, "remove a group that is nobody's primary one"},
	{"line_remove", Write, []string{"path"}, "take the resource's line out of its file"},
	{"line_write", Write, []string{"path"}, "put the resource's line into its file"},
	{"package_install", Write, []string{"name"}, "install a package"},
	{"package_remove", Write, []string{"name"}, "remove a package"},
	{"symlink_make", Write, []string{"path"}, "make the resource's symlink"},
	{"symlink_owner", Write, []string{"path"}, "change the owner of a symlink, itself"},
	{"symlink_remove", Write, []string{"path"}, "remove a symlink, itself"},
	{"unit_disable", Write, []string{"name"}, "disable a unit"},
	{"unit_enable", Write, []string{"name"}, "enable a unit"},
	{"unit_reload", Write, []string{"name"}, "have systemd read its unit files anew"},
	{"unit_restart", Write, []string{"name"}, "restart a unit and see that it stays up"},
	{"unit_start", Write, []string{"name"}, "start a unit and see that it stays up"},
	{"unit_stop", Write, []string{"name"}, "stop a unit"},
	{"user_add", Write, []string{"name"}, "make the resource's user, without a password and without a home folder"},
	{"user_change", Write, []string{"name"}, "give a user what the resource declares in the fields named"},
	{"user_remove", Write, []string{"name"}, "remove a user and leave its home folder"},
}

// Capabilities lists every capability, the reading ones first, each side by name.
func Capabilities() []Capability { return append([]Capability(nil), table...) }
