package account

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"time"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/process"
)

// toolTimeout bounds a tool: each waits up to fifteen seconds for the lock of the account files, and usermod walks a home
// folder when it gives it another uid.
const toolTimeout = 10 * time.Minute

// Tools changes accounts with groupadd(8), useradd(8) and their like, which keep the locks, the shadow files and the caches.
type Tools struct {
	// Lookup says what exists, so that useradd is asked for a group of the user's own only where there is none.
	Lookup *Accounts
}

// AddGroup makes a group.
func (t Tools) AddGroup(ctx context.Context, g host.GroupSpec) error {
	args := []string{}
	if g.System {
		args = append(args, "-r")
	}
	if g.GID != nil {
		args = append(args, "-g", number(*g.GID))
	}
	return run(ctx, "groupadd", args, g.Name)
}

// ChangeGroup gives a group another id.
func (t Tools) ChangeGroup(ctx context.Context, name string, gid uint32) error {
	return run(ctx, "groupmod", []string{"-g", number(gid)}, name)
}

// RemoveGroup removes a group.
func (t Tools) RemoveGroup(ctx context.Context, name string) error {
	return run(ctx, "groupdel", nil, name)
}

// AddUser makes a user without a password and without a home folder. Without a declared primary group it is the one of the
// user's name, which is made where it is missing.
func (t Tools) AddUser(ctx context.Context, u host.UserSpec) error {
	args := []string{"-M"}
	if u.System {
		args = append(args, "-r")
	}
	if u.Group == "" {
		_, exists, err := t.Lookup.Group(u.Name)
		switch {
		case err != nil:
			return err
		case exists:
			u.Group = u.Name
		default:
			args = append(args, "-U")
		}
	}
	return run(ctx, "useradd", append(args, userArgs(u)...), u.Name)
}

// ChangeUser changes what the spec gives.
func (t Tools) ChangeUser(ctx context.Context, u host.UserSpec) error {
	args := userArgs(u)
	if len(args) == 0 {
		return nil
	}
	return run(ctx, "usermod", args, u.Name)
}

// RemoveUser removes a user; without -r the home folder and the mail stay.
func (t Tools) RemoveUser(ctx context.Context, name string) error {
	return run(ctx, "userdel", nil, name)
}

func userArgs(u host.UserSpec) []string {
	var args []string
	if u.UID != nil {
		args = append(args, "-u", number(*u.UID))
	}
	for _, f := range []struct{ flag, value string }{{"-g", u.Group}, {"-d", u.Home}, {"-s", u.Shell}} {
		if f.value != "" {
			args = append(args, f.flag, f.value)
		}
	}
	if u.Groups != nil {
		args = append(args, "-G", strings.Join(*u.Groups, ","))
	}
	return args
}

func number(id uint32) string { return strconv.FormatUint(uint64(id), 10) }

// run runs one of the tools.
func run(ctx context.Context, tool string, args []string, name string) error {
	var out bytes.Buffer
	end, err := process.Run(ctx, process.Spec{
		Argv: append(append([]string{tool}, args...), "--", name), Env: process.Tool(), Timeout: toolTimeout, Stdout: &out, Stderr: &out,
	})
	switch {
	case err != nil && fault.CodeOf(err) == fault.NotAvailable:
		return fault.New(fault.NotAvailable, "%s is not installed (Debian's package passwd has it)", tool)
	case err != nil:
		return err
	case end.TimedOut:
		return fault.New(fault.Timeout, "%s %s did not end within %s", tool, name, toolTimeout)
	case end.Exit == 8 && (tool == "userdel" || tool == "usermod"):
		return fault.New(fault.Busy, "%s: processes of %s run; end them and apply again", tool, name)
	case end.Exit == 10 || end.Exit == 1 && strings.Contains(out.String(), "lock"):
		return fault.New(fault.Busy, "%s: %s", tool, oneLine(out.String()))
	case end.Exit != 0:
		return fault.New(fault.Failed, "%s ended with %d: %s", tool, end.Exit, oneLine(out.String()))
	}
	return nil
}

// oneLine puts what a tool said into one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
