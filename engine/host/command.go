package host

import (
	"context"
	"time"
)

// Commands runs commands; it is a write half, nothing on the read side runs one.
type Commands interface {
	// Run runs one command to its end or its timeout and ends its whole process group then. The error is for a command
	// that could not be started; how it ended is in the outcome.
	Run(ctx context.Context, spec CommandSpec) (CommandOutcome, error)
}

// CommandSpec is a command as a resource declares it.
type CommandSpec struct {
	// Argv is what is executed; a run string is {"/bin/sh", "-c", run}.
	Argv []string
	// Env is the whole environment, sorted, KEY=value.
	Env []string
	// Dir is the working directory.
	Dir     string
	Timeout time.Duration
}

// CommandOutcome is how a command ended.
type CommandOutcome struct {
	// Exit is the exit status; with a Signal it is 128 plus the number, as a shell has it.
	Exit int `json:"exit"`
	// Signal is the name of the signal that ended it, such as SIGKILL.
	Signal     string        `json:"signal,omitempty"`
	TimedOut   bool          `json:"timed_out,omitempty"`
	Stdout     CommandOutput `json:"stdout"`
	Stderr     CommandOutput `json:"stderr"`
	DurationMS int64         `json:"duration_ms"`
}

// CommandOutput is the bounded record of one stream.
type CommandOutput struct {
	// Head and Tail are UTF-8 (package canonical's Text); Tail is empty when Head holds everything.
	Head string `json:"head"`
	Tail string `json:"tail"`
	// Bytes counts all that was written.
	Bytes int64 `json:"bytes"`
}
