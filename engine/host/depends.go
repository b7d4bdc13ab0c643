package host

// depends names, for each question that goes by the id of a resource, the declared fields that its reply depends on
// besides the host. A reply that was given for other values of them says nothing about these.
var depends = map[string][]string{
	"content_matches": {"path", "content"},
	"env_file":        {"path", "vars"},
	"line_state":      {"path", "line", "match", "after", "before"},
	"unit":            {"unit_file", "restart_on"},
}

// DependsOn gives those fields for a capability of the read side; none for a question that the request says whole.
func DependsOn(capability string) []string { return depends[capability] }
