package realhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Path is the search path of commands inside a host; programs under test are bound to its first folder.
const Path = "/opt/gyrum:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// commandTimeout bounds one command; nothing that a test asks of a host takes near as long.
const commandTimeout = 5 * time.Minute

// Result is what a command did.
type Result struct {
	Stdout, Stderr string
	// Code is the exit status; 128 and the signal's number for one that a signal ended, -1 for one that did not run.
	Code int
}

// String shows the whole result, for messages.
func (r Result) String() string {
	return fmt.Sprintf("exit %d\nstdout: %s\nstderr: %s", r.Code, r.Stdout, r.Stderr)
}

// enter is the command line that runs a command inside, with a plain environment.
func (h *Host) enter(env, command []string) []string {
	args := []string{"-t", fmt.Sprint(h.machine.leader), "-m", "-u", "-i", "-n", "-p", "-C", "--root", "--wdns=/",
		"env", "-i", "PATH=" + Path, "HOME=/root", "LANG=C.UTF-8"}
	return append(append(args, env...), command...)
}

func (h *Host) exec(ctx context.Context, stdin string, env, command []string) Result {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", h.enter(env, command)...)
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second // a child left behind inside may hold the pipes open
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	return resultOf(cmd.Run(), &stdout, &stderr)
}

func resultOf(err error, stdout, stderr *bytes.Buffer) Result {
	r := Result{Stdout: stdout.String(), Stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.Code = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			r.Code = 128 + int(status.Signal())
		}
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		r.Code = -1
		r.Stderr += err.Error()
	}
	return r
}

// Run runs a command inside, whatever its exit status.
func (h *Host) Run(command ...string) Result {
	return h.exec(context.Background(), "", nil, command)
}

// RunWith is Run with further environment variables and a standard input.
func (h *Host) RunWith(env []string, stdin string, command ...string) Result {
	return h.exec(context.Background(), stdin, env, command)
}

// Try runs a shell script inside, whatever its exit status.
func (h *Host) Try(script string) Result { return h.Run("sh", "-c", script) }

// Shell runs a shell script inside that must succeed, and gives its standard output without the last newline.
func (h *Host) Shell(script string) string {
	h.t.Helper()
	r := h.Run("sh", "-ec", script)
	if r.Code != 0 {
		h.t.Fatalf("in the host: %s\n%s", script, r)
	}
	return strings.TrimSuffix(r.Stdout, "\n")
}

// Write makes a file inside with mode 0644, and its parents.
func (h *Host) Write(path, content string) {
	h.t.Helper()
	r := h.RunWith(nil, content, "sh", "-ec", `mkdir -p "$(dirname "$1")"; cat >"$1"; chmod 644 "$1"`, "write", path)
	if r.Code != 0 {
		h.t.Fatalf("write %s in the host: %s", path, r)
	}
}

// Process is a command that runs inside beside the test.
type Process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// Start begins a command inside and does not wait for it.
func (h *Host) Start(command ...string) *Process {
	h.t.Helper()
	p := &Process{cmd: exec.Command("nsenter", h.enter(nil, command)...)}
	p.cmd.Dir = "/"
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.WaitDelay = time.Second
	if err := p.cmd.Start(); err != nil {
		h.t.Fatalf("start %s in the host: %v", command[0], err)
	}
	return p
}

// Wait waits for the end of the command.
func (p *Process) Wait() Result { return resultOf(p.cmd.Wait(), &p.stdout, &p.stderr) }

// Signal sends the command a signal, once it runs.
func (p *Process) Signal(sig syscall.Signal) {
	// nsenter's child is the command: entering a process namespace takes a fork.
	for range 100 {
		if pid := childOf(p.cmd.Process.Pid); pid != 0 {
			_ = syscall.Kill(pid, sig) // one that has ended already needs none
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
