package host

import "context"

// Asker answers capabilities of the read side. Request and reply are canonical JSON objects. A reply may be
// {"error":{"code","text"}}: the host could not tell, which is never the same as absent. A Go error means that the
// request itself was not a valid one (unknown capability, malformed request): the caller treats it as a broken plugin.
type Asker interface {
	Ask(ctx context.Context, capability string, request []byte) (reply []byte, err error)
}

// Doer performs capabilities of the write side, in the same form. An {"error":…} reply is a failed effect.
type Doer interface {
	Do(ctx context.Context, capability string, request []byte) (reply []byte, err error)
}
