package process

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/host"
)

func TestHowACommandEnds(t *testing.T) {
	t.Setenv("LEAK", "inherited")
	old := unix.Umask(0o077)
	defer unix.Umask(old)
	dir := t.TempDir()
	tests := []struct {
		name   string
		argv   []string
		exit   int
		signal string
		out    string
		err    string // what standard error contains
	}{
		{name: "success", argv: []string{"/bin/sh", "-c", "printf ok"}, out: "ok"},
		{name: "exit status", argv: []string{"/bin/sh", "-c", "exit 7"}, exit: 7},
		{name: "a shell finds no program", argv: []string{"/bin/sh", "-c", "no-such-program"}, exit: 127, err: "not found"},
		{name: "a list finds no program", argv: []string{"no-such-program", "x"}, exit: 127, err: "no-such-program: command not found"},
		{name: "an absolute program is missing", argv: []string{"/no/such"}, exit: 127, err: "/no/such"},
		{name: "signal", argv: []string{"/bin/sh", "-c", "kill -KILL $$"}, exit: 137, signal: "SIGKILL"},
		{name: "no shell in a list", argv: []string{"echo", "a", ">", "$HOME"}, out: "a > $HOME\n"},
		{name: "no standard input", argv: []string{"/bin/sh", "-c", "cat; readlink /proc/self/fd/0"}, out: "/dev/null\n"},
		{name: "nothing inherited", argv: []string{"/bin/sh", "-c", "echo [$LEAK] $LANG $GIVEN"}, out: "[] C.UTF-8 yes\n"},
		{name: "umask", argv: []string{"/bin/sh", "-c", "umask"}, out: "0022\n"},
		{name: "directory", argv: []string{"/bin/pwd", "-P"}, out: "/\n"},
		{name: "a session of its own", argv: []string{"/bin/sh", "-c", `set -- $(cat /proc/$$/stat); test "$6" = $$ && echo yes`}, out: "yes\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := Commands{}.Run(context.Background(), host.CommandSpec{
				Argv: tt.argv, Env: Plain(map[string]string{"GIVEN": "yes", "D": dir}), Timeout: 20 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			if o.Exit != tt.exit || o.Signal != tt.signal || o.Stdout.Head != tt.out || o.TimedOut || !strings.Contains(o.Stderr.Head, tt.err) {
				t.Errorf("got %+v", o)
			}
		})
	}
	if got := unix.Umask(0o077); got != 0o077 {
		t.Errorf("our own umask became %o", got)
	}
}

func TestAMissingWorkingDirectoryIsAnError(t *testing.T) {
	_, err := Commands{}.Run(context.Background(), host.CommandSpec{Argv: []string{"true"}, Env: Plain(nil), Dir: "/no/such"})
	if err == nil || !strings.Contains(err.Error(), "working directory") {
		t.Errorf("got %v", err)
	}
}

func TestAWorkingDirectoryThatIsNoneIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Commands{}.Run(context.Background(), host.CommandSpec{Argv: []string{"/bin/sh", "-c", "true"}, Env: Plain(nil), Dir: file})
	if err == nil || !strings.Contains(err.Error(), "working directory: "+file+" is no directory") {
		t.Errorf("got %v", err)
	}
}

func TestBackgroundChildrenHoldNothingOpen(t *testing.T) {
	pidfile := filepath.Join(t.TempDir(), "pid")
	begin := time.Now()
	o, err := Commands{}.Run(context.Background(), host.CommandSpec{
		Argv: []string{"/bin/sh", "-c", "sleep 30 & echo $! >" + pidfile + "; echo started"}, Env: Plain(nil), Timeout: 20 * time.Second,
	})
	if err != nil || o.Exit != 0 || o.Stdout.Head != "started\n" {
		t.Fatalf("%+v %v", o, err)
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("held open for %v", d)
	}
	// It was left to live on: a command may start a daemon.
	pid := readPid(t, pidfile)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("the child is gone: %v", err)
	}
}

func TestTheTimeoutEndsTheWholeGroup(t *testing.T) {
	pidfile := filepath.Join(t.TempDir(), "pid")
	o, err := Commands{}.Run(context.Background(), host.CommandSpec{
		Argv: []string{"/bin/sh", "-c", "sleep 30 & echo $! >" + pidfile + "; wait"}, Env: Plain(nil), Timeout: 300 * time.Millisecond,
	})
	if err != nil || !o.TimedOut || o.Signal != "SIGTERM" {
		t.Fatalf("%+v %v", o, err)
	}
	pid := readPid(t, pidfile)
	for i := 0; i < 100; i++ {
		if st, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil || strings.Contains(string(st), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a child outlived the timeout")
}

func TestAStubbornCommandIsKilled(t *testing.T) {
	o, err := Commands{}.Run(context.Background(), host.CommandSpec{
		Argv: []string{"/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, Env: Plain(nil), Timeout: 200 * time.Millisecond,
	})
	if err != nil || !o.TimedOut || o.Signal != "SIGKILL" {
		t.Fatalf("%+v %v", o, err)
	}
}

func TestOutputKeepsHeadAndTail(t *testing.T) {
	var o Output
	for i := 0; i < 100_000; i++ {
		_, _ = o.Write([]byte("äöü\n"))
	}
	r := o.Record()
	if r.Bytes != 700_000 || len(r.Head) > keep || len(r.Tail) > keep || len(r.Tail) < keep-4 {
		t.Errorf("%d bytes, head %d, tail %d", r.Bytes, len(r.Head), len(r.Tail))
	}
	if strings.Contains(r.Head+r.Tail, `\x`) {
		t.Error("a character was cut in two")
	}
	if !strings.HasSuffix(o.End(5), "ü\n") {
		t.Errorf("end is %q", o.End(5))
	}
	var small Output
	_, _ = small.Write([]byte("a\xff"))
	if r := small.Record(); r.Head+r.Tail != `a\xff` || r.Bytes != 2 {
		t.Errorf("%+v", r)
	}
	var seam Output // the bound falls into the middle of a character, nothing is missing
	_, _ = seam.Write([]byte(strings.Repeat("x", keep-1) + "ä!"))
	if r := seam.Record(); r.Head != strings.Repeat("x", keep-1) || r.Tail != "ä!" {
		t.Errorf("seam: tail %q", r.Tail)
	}
}

func readPid(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
