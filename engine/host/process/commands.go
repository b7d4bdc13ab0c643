package process

import (
	"context"
	"errors"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

// Commands runs declared commands on this machine.
type Commands struct{}

// Run runs one command. A program that does not exist is an outcome, exit 127 as a shell has it; the error is for a
// working directory that is missing and the like.
func (Commands) Run(ctx context.Context, spec host.CommandSpec) (host.CommandOutcome, error) {
	var stdout, stderr Output
	end, err := Run(ctx, Spec{
		Argv: spec.Argv, Env: spec.Env, Dir: spec.Dir, Timeout: spec.Timeout, Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.NotAvailable {
			return host.CommandOutcome{}, err
		}
		end.Exit = 127
		_, _ = stderr.Write([]byte(f.Text + "\n"))
	}
	return host.CommandOutcome{
		Exit: end.Exit, Signal: end.Signal, TimedOut: end.TimedOut,
		Stdout: stdout.Record(), Stderr: stderr.Record(), DurationMS: end.Duration.Milliseconds(),
	}, nil
}
