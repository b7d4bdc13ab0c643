package hosttest

import (
	"context"
	"strings"
	"sync"

	"gyrum.ai/engine/host"
)

// Commands runs no programs: what a command does is scripted. One that is not scripted succeeds and does nothing.
// Each run is one effect, counted before it begins.
type Commands struct {
	Power *Power
	// Scripts is keyed by the command: what stands after /bin/sh -c, or the list joined by spaces. The function's own
	// changes of the model are made through it and can be cut too.
	Scripts map[string]func(env []string) (host.CommandOutcome, error)

	mu   sync.Mutex
	runs []string
}

// Run plays a command.
func (c *Commands) Run(_ context.Context, spec host.CommandSpec) (host.CommandOutcome, error) {
	key := strings.Join(spec.Argv, " ")
	if len(spec.Argv) == 3 && spec.Argv[0] == "/bin/sh" && spec.Argv[1] == "-c" {
		key = spec.Argv[2]
	}
	if err := c.Power.Effect(); err != nil {
		return host.CommandOutcome{}, err
	}
	c.mu.Lock()
	c.runs = append(c.runs, key)
	script := c.Scripts[key]
	c.mu.Unlock()
	if script == nil {
		return host.CommandOutcome{}, nil
	}
	return script(spec.Env)
}

// Runs lists the commands that were begun, in order.
func (c *Commands) Runs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.runs...)
}
