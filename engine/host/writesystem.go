package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host/fault"
)

type installRequest struct {
	Name      string `json:"name"`
	Version   string `json:"version,omitempty"`
	Downgrade bool   `json:"downgrade"`
}

// changedReply lists what changed, also when something failed.
type changedReply struct {
	Changed []string     `json:"changed"`
	Error   *fault.Error `json:"error,omitempty"`
}

func (w *Writer) packageInstall(ctx context.Context, q installRequest) (changedReply, error) {
	if q.Downgrade && q.Version == "" {
		return changedReply{}, misusef("a downgrade of %s names no version", q.Name)
	}
	return w.changePackage(ctx, "package_install", q.Name, func() ([]string, error) {
		return w.cfg.Packages.Install(ctx, q.Name, q.Version, q.Downgrade, w.leaving()...)
	})
}

func (w *Writer) packageRemove(ctx context.Context, q nameRequest) (changedReply, error) {
	return w.changePackage(ctx, "package_remove", q.Name, func() ([]string, error) { return w.cfg.Packages.Remove(ctx, q.Name, w.leaving()...) })
}

// leaving names the packages that are declared absent on this host: they may go with another one, whichever stands first.
func (w *Writer) leaving() []string {
	var names []string
	for _, res := range w.r.ordered {
		var d struct{ Name, State string }
		if res.Type == "package" && json.Unmarshal(res.Declared, &d) == nil && d.State == "absent" {
			names = append(names, d.Name)
		}
	}
	return names
}

func (w *Writer) changePackage(ctx context.Context, effect, name string, change func() ([]string, error)) (changedReply, error) {
	reply := changedReply{Changed: []string{}}
	e := Effect{Resource: "package:" + name, Name: effect, Target: name}
	err := w.effect(e, func() error {
		defer w.forget()
		return w.watching(ctx, e, func() error {
			changed, err := change()
			reply.Changed = append(reply.Changed, changed...)
			return err
		})
	})
	if err != nil {
		reply.Error = fault.Of(err)
	}
	return reply, nil
}

// unitDoer makes a doer of an action on a unit. What earlier effects changed is loaded first.
func unitDoer(effect string, act func(u UnitWriter, ctx context.Context, name string) error) doer {
	return do(func(w *Writer, ctx context.Context, q nameRequest) (done, error) {
		if err := w.Settle(ctx); err != nil {
			return done{}, err
		}
		e := Effect{Resource: "systemd_unit:" + q.Name, Name: effect, Target: q.Name}
		return done{}, w.effect(e, func() error {
			defer w.r.cfg.Units.Forget()
			return act(w.cfg.Units, ctx, q.Name)
		})
	})
}

// unitReload reloads because an item says so, and does what is due after any reload.
func (w *Writer) unitReload(ctx context.Context, q nameRequest) (done, error) {
	return done{}, w.reload(ctx, "systemd_unit:"+q.Name, q.Name)
}

// commandReply is the outcome of a command, with an error beside it when it failed.
type commandReply struct {
	CommandOutcome
	Error *fault.Error `json:"error,omitempty"`
}

func (w *Writer) commandRun(ctx context.Context, q idRequest) (json.RawMessage, error) {
	res, err := w.r.find(q.ID, "command")
	if err != nil {
		return nil, misuse(err)
	}
	spec, err := w.commandSpec(res.ID, res.Declared)
	if err != nil {
		return nil, err
	}
	var reply commandReply
	e := Effect{Resource: q.ID, Name: "command_run", Target: q.ID}
	err = w.effect(e, func() error {
		defer w.forget()
		err := w.watching(ctx, e, func() (err error) {
			reply.CommandOutcome, err = w.cfg.Commands.Run(ctx, spec)
			return err
		})
		if err != nil {
			return err
		}
		reply.Error = verdict(reply.CommandOutcome, spec.Timeout)
		if reply.Error != nil {
			return reply.Error
		}
		return nil
	})
	if err != nil && (reply.Error == nil || !errors.Is(err, error(reply.Error))) {
		return nil, err
	}
	return canonical.Marshal(reply)
}

// verdict says what a command's end means, nil when it succeeded.
func verdict(o CommandOutcome, timeout time.Duration) *fault.Error {
	switch {
	case o.TimedOut:
		return fault.New(fault.Timeout, "did not end within %s and was ended", timeout)
	case o.Signal != "":
		return fault.New(fault.Failed, "was ended by %s", o.Signal)
	case o.Exit == 127:
		return fault.New(fault.Failed, "exit status 127: a command was not found")
	case o.Exit == 126:
		return fault.New(fault.Failed, "exit status 126: a command could not be executed")
	case o.Exit != 0:
		return fault.New(fault.Failed, "exit status %d", o.Exit)
	}
	return nil
}

// commandSpec reads the command that a resource declares.
func (w *Writer) commandSpec(id string, declared json.RawMessage) (CommandSpec, error) {
	var d struct {
		Run     json.RawMessage   `json:"run"`
		Timeout string            `json:"timeout"`
		Env     map[string]string `json:"env"`
		Cwd     string            `json:"cwd"`
	}
	if err := declaredOf(id, declared, &d); err != nil {
		return CommandSpec{}, err
	}
	spec := CommandSpec{Dir: d.Cwd, Env: w.cfg.CommandEnv(d.Env)}
	if spec.Dir == "" {
		spec.Dir = "/"
	}
	var script string
	if json.Unmarshal(d.Run, &script) == nil {
		spec.Argv = []string{"/bin/sh", "-c", script}
	} else if err := json.Unmarshal(d.Run, &spec.Argv); err != nil || len(spec.Argv) == 0 {
		return CommandSpec{}, misusef("%s: run is neither a string nor a list", id)
	}
	var err error
	if spec.Timeout, err = time.ParseDuration(d.Timeout); err != nil {
		return CommandSpec{}, misuse(fmt.Errorf("%s: timeout: %w", id, err))
	}
	return spec, nil
}
