package systemd

import (
	"context"

	"gyrum.ai/engine/host/fault"
)

// Job asks for a job and waits for its end. When the context ends first, the job is left to systemd.
func (b *Bus) Job(ctx context.Context, kind JobKind, name string) (string, error) {
	if err := check(name); err != nil {
		return "", err
	}
	conn, err := b.controlling()
	if err != nil {
		return "", err
	}
	done := make(chan string, 1)
	ask := conn.StartUnitContext
	switch kind {
	case JobStop:
		ask = conn.StopUnitContext
	case JobRestart:
		ask = conn.RestartUnitContext
	}
	if _, err := ask(ctx, name, "replace", done); err != nil {
		return "", explain(name, err)
	}
	select {
	case result := <-done:
		return result, nil
	case <-ctx.Done():
		return "", fault.New(fault.CodeOf(ctx.Err()), "%s: its %s job has not ended: %w", name, kind, ctx.Err())
	}
}

// Hold keeps systemd from forgetting a unit, with the reason why it ended, before release is called. It is possible on
// the system bus only; without it an inactive unit may have lost its history when it is looked at.
func (b *Bus) Hold(ctx context.Context, name string) (release func()) {
	conn, err := b.connection()
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	if begin(ctx, conn, managerPath, managerInterface+".RefUnit", name).end() != nil {
		return func() {}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), asking)
		defer cancel()
		_ = begin(ctx, conn, managerPath, managerInterface+".UnrefUnit", name).end()
	}
}

// EnableFile links a unit file as its [Install] section says, in /etc, never over something that stands there.
func (b *Bus) EnableFile(ctx context.Context, name string) (bool, error) {
	if err := check(name); err != nil {
		return false, err
	}
	conn, err := b.controlling()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	carries, _, err := conn.EnableUnitFilesContext(ctx, []string{name}, false, false)
	return carries, explain(name, err)
}

// DisableFile removes the links from /etc.
func (b *Bus) DisableFile(ctx context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	conn, err := b.controlling()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	_, err = conn.DisableUnitFilesContext(ctx, []string{name}, false)
	return explain(name, err)
}

// Reload has all unit files read anew. It returns when that is done, generators included.
func (b *Bus) Reload(ctx context.Context) error {
	conn, err := b.controlling()
	if err != nil {
		return err
	}
	return explain("daemon-reload", conn.ReloadContext(ctx))
}

// ResetFailed clears a unit's latched failure and its count of starts.
func (b *Bus) ResetFailed(ctx context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	conn, err := b.controlling()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return explain(name, conn.ResetFailedUnitContext(ctx, name))
}
