package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gyrum": main, "onterminal": onTerminal})
}

// The scripts read as the documentation's examples. $UID and $GID are the present account, so that files under $WORK can
// be declared by anybody; the command fill puts variables into a file.
func TestScripts(t *testing.T) {
	cache := filepath.Join(scriptCache(t), "gyrum")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("UID", strconv.Itoa(os.Getuid()))
			e.Setenv("GID", strconv.Itoa(os.Getgid()))
			e.Setenv("CACHE", cache)
			e.Setenv("STATE", filepath.Join(e.WorkDir, "state"))
			e.Setenv("NO_HASH", "sha256:0000000000000000000000000000000000000000000000000000000000000000")
			return os.Mkdir(filepath.Join(e.WorkDir, "state"), 0o700)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fill": fill, "exits": exits, "planhash": planhash, "runid": runID, "equal": equal, "waitfor": waitFor,
		},
	})
}

// exits runs a command and wants exactly this exit code; testscript's own ! wants any but 0.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		got = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// fill replaces $NAME in files by the script's variables.
func fill(ts *testscript.TestScript, neg bool, files []string) {
	if neg || len(files) == 0 {
		ts.Fatalf("usage: fill FILE...")
	}
	for _, f := range files {
		path := ts.MkAbs(f)
		ts.Check(os.WriteFile(path, []byte(os.Expand(ts.ReadFile(f), ts.Getenv)), 0o644))
	}
}

// planhash sets a variable to the plan hash in the last output.
func planhash(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindAllString(ts.ReadFile("stdout"), -1)
	if neg || len(args) != 1 || len(m) == 0 {
		ts.Fatalf("usage: planhash VARIABLE, after a report with a plan hash")
	}
	ts.Setenv(args[0], m[len(m)-1])
}

// runID sets a variable to the id of the first run in the last output.
func runID(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(`"run_id":"([0-9A-Z]{26})"`).FindStringSubmatch(ts.ReadFile("stdout"))
	if neg || len(args) != 1 || m == nil {
		ts.Fatalf("usage: runid VARIABLE, after output in JSON that names a run")
	}
	ts.Setenv(args[0], m[1])
}

// waitFor waits until a file exists.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not come", args[0])
		}
	}
}

// equal compares two words.
func equal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || (args[0] == args[1]) == neg {
		ts.Fatalf("equal %q: not as wanted", args)
	}
}

// onTerminal runs a command whose standard output is a terminal, and copies what the terminal shows.
func onTerminal() {
	master, terminal, err := openPTY()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(70)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = terminal, os.Stderr
	err = cmd.Start()
	terminal.Close()
	if err == nil {
		_, _ = io.Copy(os.Stdout, master) // ends with EIO once the command has gone
		err = cmd.Wait()
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(70)
	}
	os.Exit(0)
}

// openPTY opens a pair of pseudoterminals (pts(4)).
func openPTY() (master, terminal *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, terminal, err
}

// scriptCache is a folder that the program accepts for its cache, kept between runs so that plugins are compiled once.
func scriptCache(t *testing.T) string {
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "gyrum-scripts")
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		t.Logf("no cache folder between runs: %v", err)
		return t.TempDir()
	}
	return dir
}
