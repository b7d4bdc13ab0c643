package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/host/fault"
)

// Spec is a program to run.
type Spec struct {
	// Argv is the program and its arguments. A program without a slash is looked up in the PATH of Env.
	Argv []string
	// Env is the whole environment, KEY=value.
	Env []string
	// Dir is the working directory, "/" when empty.
	Dir string
	// Timeout ends the process group; zero means none.
	Timeout time.Duration
	// Stdout and Stderr receive the output; nil discards it.
	Stdout, Stderr io.Writer
}

// End is how a program ended.
type End struct {
	// Exit is the exit status; 128 plus the number when a signal ended it.
	Exit int
	// Signal is the name of that signal, such as SIGKILL.
	Signal string
	// TimedOut says that Timeout, or the context, ended it.
	TimedOut bool
	Duration time.Duration
}

const (
	// drain is how long a program that has ended may leave its output open in the hands of background children.
	drain = 500 * time.Millisecond
	// mercy is the time between SIGTERM and SIGKILL.
	mercy = 5 * time.Second
)

// umask guards the process-wide mask while a child is being made. A child inherits the mask of that moment, and there
// is no other way to set it without a helper program. Files that gyrum makes meanwhile do not depend on the mask.
var umask sync.Mutex

// Run runs the program with umask 022, no standard input and a session of its own. The error is a fault and means that
// it could not be started: code not-available when there is no such program, else what the kernel said.
//
// When the program itself has ended, Run returns within half a second, even if children of it live on and hold its
// output open; they are left alone. At the timeout the whole process group gets SIGTERM and five seconds later SIGKILL.
func Run(ctx context.Context, spec Spec) (End, error) {
	path, err := look(spec)
	if err != nil {
		return End{}, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: spec.Argv, Env: spec.Env, Dir: spec.Dir,
		Stdout: spec.Stdout, Stderr: spec.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
		WaitDelay:   drain,
	}
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean our own
	}
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	begin := time.Now()
	umask.Lock()
	old := unix.Umask(0o022)
	err = cmd.Start()
	unix.Umask(old)
	umask.Unlock()
	if err != nil {
		return End{}, startFault(spec, cmd.Dir, err)
	}
	stop := watch(ctx, cmd.Process.Pid, spec.Timeout)
	err = cmd.Wait()
	end := End{TimedOut: stop(), Duration: time.Since(begin)}
	if err != nil && cmd.ProcessState == nil {
		return End{}, fault.New(fault.IO, "%s: waiting for it: %w", spec.Argv[0], err)
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	end.Exit = ws.ExitStatus()
	if ws.Signaled() {
		end.Exit, end.Signal = 128+int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	return end, nil
}

// watch ends the process group when the time is up. stop waits until a begun ending is complete and tells whether
// there was one.
func watch(ctx context.Context, group int, timeout time.Duration) (stop func() bool) {
	var late <-chan time.Time
	var timer *time.Timer
	if timeout > 0 {
		timer = time.NewTimer(timeout)
		late = timer.C
	}
	ended, done, hit := make(chan struct{}), make(chan struct{}), false
	go func() {
		defer close(done)
		select {
		case <-ended:
			return
		case <-late:
		case <-ctx.Done():
		}
		hit = true
		endGroup(group)
	}()
	return func() bool {
		close(ended)
		<-done
		if timer != nil {
			timer.Stop()
		}
		return hit
	}
}

// endGroup asks every process of the group to end and makes those that do not.
func endGroup(group int) {
	_ = unix.Kill(-group, unix.SIGTERM)
	for deadline := time.Now().Add(mercy); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if errors.Is(unix.Kill(-group, 0), unix.ESRCH) {
			return
		}
	}
	_ = unix.Kill(-group, unix.SIGKILL)
}

// look finds the program in the PATH that it is given, not in ours.
func look(spec Spec) (string, error) {
	if len(spec.Argv) == 0 || spec.Argv[0] == "" {
		return "", fault.New(fault.Invalid, "no program to run")
	}
	name := spec.Argv[0]
	for i := 0; i < len(name); i++ {
		if name[i] == '/' {
			return name, nil
		}
	}
	for _, dir := range pathOf(spec.Env) {
		p := dir + "/" + name
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", &fault.Error{Code: fault.NotAvailable, Text: fmt.Sprintf("%s: command not found", name), Cause: exec.ErrNotFound}
}

func startFault(spec Spec, dir string, err error) error {
	switch st, e := os.Stat(dir); {
	case e != nil:
		return fault.New(fault.CodeOf(e), "working directory: %w", e)
	case !st.IsDir():
		return fault.New(fault.Invalid, "working directory: %s is no directory", dir)
	}
	code := fault.CodeOf(err)
	text := "cannot be executed"
	switch {
	case errors.Is(err, syscall.ENOENT):
		// The kernel says so also when the interpreter of a script is what is missing.
		code, text = fault.NotAvailable, "command not found, or its interpreter is missing"
	case errors.Is(err, syscall.ENOEXEC):
		code, text = fault.Invalid, "not a program: no #! line"
	}
	return &fault.Error{Code: code, Text: fmt.Sprintf("%s: %s: %v", spec.Argv[0], text, errors.Unwrap(err)), Cause: err}
}
