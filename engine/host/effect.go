package host

// Effect is one change of the host, as the journal keeps it.
type Effect struct {
	// Resource is the id of the item that the effect belongs to.
	Resource string `json:"resource"`
	// Name is the capability or the engine's own effect, such as file_replace, daemon_reload, reset_failed.
	Name string `json:"name"`
	// Target is the path, package or unit that changes.
	Target string `json:"target"`
	// Before and After are digests of the target's content, "sha256:…", or "hmac-sha256:…" where a secret is in it;
	// empty where the target has no content, or does not exist. After is what will be there once the effect is done.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// DaemonReload is the name of the effect that makes the service manager read all unit files anew.
const DaemonReload = "daemon_reload"

// EffectFunc is told of every effect, before it and after it (phase "before" and "after"); err is what became of it. An error
// returned before an effect stops it.
type EffectFunc func(phase string, e Effect, err error) error
