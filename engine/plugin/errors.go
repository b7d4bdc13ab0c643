package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// CodeFailed is the reason code of an item whose plugin broke.
const CodeFailed = "plugin-failed"

// ErrNoPlugin says that the store has no plugin of a type.
var ErrNoPlugin = errors.New("no such plugin")

// How the causes begin that every further call of a module would meet as well, or that cost a whole time limit to see.
const (
	CauseUnloadable = "it cannot be loaded"
	CauseTime       = "it computed longer than"
)

// Broken is a plugin that trapped, ran out of a limit, broke the boundary's rules or could not be loaded. Nothing that
// it said in that call is used.
type Broken struct {
	Type  string
	Phase Phase
	// Digest is "sha256:" and the digest of the module.
	Digest string
	// Cause says what the plugin did.
	Cause string
	// Log is the end of what it printed, bounded.
	Log string
}

func (b *Broken) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "the plugin of type %s (%s module %s) failed: %s", b.Type, b.Phase, b.Digest, b.Cause)
	if b.Log != "" {
		fmt.Fprintf(&s, "; it printed %q", b.Log)
	}
	return s.String()
}

// ActionError is an action that a plugin tried and that did not work; the plugin itself is sound.
type ActionError struct {
	Code string
	Text string
	// Output is what the action left to show, such as a failed command's record; nil without.
	Output json.RawMessage
}

func (e *ActionError) Error() string { return e.Text }
