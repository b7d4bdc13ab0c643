package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A confined process cannot be unconfined, so each test runs the test binary again, and that one confines itself.
const inside = "GYRUM_CONFINE_TEST"

func TestMain(m *testing.M) {
	if what := os.Getenv(inside); what != "" {
		within(what, os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// again runs this binary as a process that confines itself to the folders and then does what is asked; the lines that it
// prints come back.
func again(t *testing.T, what string, folders ...string) map[string]string {
	t.Helper()
	cmd := exec.Command(os.Args[0], folders...)
	cmd.Env = append(os.Environ(), inside+"="+what)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		lines[name] = value
	}
	return lines
}

func within(what string, args []string) {
	say := func(name string, err error) {
		switch {
		case err == nil:
			fmt.Println(name + ": done")
		case errors.Is(err, fs.ErrPermission):
			fmt.Println(name + ": refused")
		default:
			fmt.Println(name+":", err)
		}
	}
	// Threads that exist before are confined, too.
	var started, threads sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		started.Add(1)
		threads.Go(func() {
			runtime.LockOSThread()
			started.Done()
			<-stop
			if what == "writes" {
				say("a thread of before writes elsewhere", os.WriteFile(args[1]+"/thread", nil, 0o600))
			}
		})
	}
	started.Wait()
	open, _ := os.Create(args[1] + "/open")
	begin := time.Now()
	s := Reading(args[:1]...)
	spent := time.Since(begin)
	close(stop)
	threads.Wait()
	fmt.Println("status:", s)
	fmt.Println("spent:", spent.Microseconds())
	own, other := args[0], args[1]
	switch what {
	case "writes":
		say("write in the folder", os.WriteFile(own+"/f", []byte("x"), 0o600))
		say("replace in the folder", os.Rename(own+"/f", own+"/g"))
		say("make a folder in it", os.Mkdir(own+"/d", 0o700))
		say("remove in the folder", os.Remove(own+"/g"))
		say("write into what was open", func() error { _, err := open.WriteString("x"); return err }())
		say("write to /dev/null", os.WriteFile("/dev/null", []byte("x"), 0))
		say("read elsewhere", func() error { _, err := os.ReadFile(other + "/there"); return err }())
		say("list elsewhere", func() error { _, err := os.ReadDir("/etc"); return err }())
		say("write elsewhere", os.WriteFile(other+"/f", nil, 0o600))
		say("overwrite elsewhere", os.WriteFile(other+"/there", nil, 0o600))
		say("truncate elsewhere", os.Truncate(other+"/there", 0))
		say("remove elsewhere", os.Remove(other+"/there"))
		say("rename elsewhere", os.Rename(other+"/there", other+"/gone"))
		say("link out", os.Link(other+"/there", own+"/l"))
		say("symlink elsewhere", os.Symlink("x", other+"/s"))
		say("write through a symlink out", func() error {
			if err := os.Symlink(other, own+"/out"); err != nil {
				return err
			}
			return os.WriteFile(own+"/out/f", nil, 0o600)
		}())
		say("make a folder elsewhere", os.Mkdir(other+"/d", 0o700))
		dir := s.Temp
		say("write a temporary file", os.WriteFile(dir+"/t", nil, 0o600))
		err := exec.Command("/bin/sh", "-c", "mktemp -p "+dir+" >/dev/null && test -e "+dir+"/t").Run()
		fmt.Println("a program writes a temporary file:", map[bool]string{true: "done", false: "refused"}[err == nil])
		say("write to /tmp", os.WriteFile(fmt.Sprintf("/tmp/gyrum-confine-%d", os.Getpid()), nil, 0o600))
		err = exec.Command("/bin/sh", "-c", "echo x > "+other+"/child 2>/dev/null").Run()
		fmt.Println("a program writes elsewhere:", map[bool]string{true: "done", false: "refused"}[err == nil])
		err = exec.Command("/bin/sh", "-c", "echo x > "+own+"/child").Run()
		fmt.Println("a program writes in the folder:", map[bool]string{true: "done", false: "refused"}[err == nil])
		say("kill a program", func() error {
			c := exec.Command("sleep", "60")
			if err := c.Start(); err != nil {
				return err
			}
			defer c.Wait()
			return c.Process.Kill()
		}())
	case "capabilities":
		own, _ := os.ReadFile("/proc/thread-self/status")
		child, _ := exec.Command("cat", "/proc/self/status").Output()
		for of, text := range map[string][]byte{"own": own, "a program's": child} {
			for line := range strings.Lines(string(text)) {
				if name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t"); name == "CapEff" || name == "CapPrm" || name == "NoNewPrivs" {
					fmt.Println(of, name+":", value)
				}
			}
		}
		say("change the owner", os.Chown(other+"/there", 1, 1))
		say("mount", syscall.Mount("none", other, "tmpfs", 0, ""))
		say("read what is nobody's to read", func() error { _, err := os.ReadFile(other + "/closed"); return err }())
	}
}

func scene(t *testing.T) (own, other string) {
	t.Helper()
	own, other = t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "there"), []byte("here"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "closed"), []byte("closed"), 0); err != nil {
		t.Fatal(err)
	}
	return own, other
}

// withoutCgo ends a test of a binary that cannot confine itself; make test builds without cgo.
func withoutCgo(t *testing.T, got map[string]string) {
	t.Helper()
	if strings.Contains(got["status"], "built with cgo") {
		t.Skip("needs CGO_ENABLED=0")
	}
}

func TestAConfinedProcessWritesBelowItsFolderOnly(t *testing.T) {
	if _, err := landlockABI(); err != nil {
		t.Skip("needs Landlock: " + err.Error())
	}
	own, other := scene(t)
	got := again(t, "writes", own, other)
	withoutCgo(t, got)
	if s := got["status"]; !strings.Contains(s, "writes only below "+own) {
		t.Errorf("status: %s", s)
	}
	for name, want := range map[string]string{
		"write in the folder": "done", "replace in the folder": "done", "make a folder in it": "done", "remove in the folder": "done",
		"write into what was open": "done", "write to /dev/null": "done", "read elsewhere": "done", "list elsewhere": "done",
		"a program writes in the folder": "done", "kill a program": "done",
		"write a temporary file": "done", "a program writes a temporary file": "done",
		"write elsewhere": "refused", "overwrite elsewhere": "refused", "truncate elsewhere": "refused", "remove elsewhere": "refused",
		"rename elsewhere": "refused", "symlink elsewhere": "refused", "write through a symlink out": "refused",
		"make a folder elsewhere": "refused", "write to /tmp": "refused", "a program writes elsewhere": "refused",
		"a thread of before writes elsewhere": "refused",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %s", name, got[name], want)
		}
	}
	if got["link out"] == "done" {
		t.Error("a file from elsewhere was linked into the folder, where it could be written")
	}
	if raw, err := os.ReadFile(filepath.Join(other, "there")); err != nil || string(raw) != "here" {
		t.Errorf("%q %v", raw, err)
	}
	t.Logf("it took %s microseconds with nine threads", got["spent"])
}

func TestAConfinedRootKeepsOneCapability(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: has capabilities to give up")
	}
	own, other := scene(t)
	got := again(t, "capabilities", own, other)
	withoutCgo(t, got)
	if s := got["status"]; !strings.HasSuffix(s, "; capabilities: dac_read_search") {
		t.Errorf("status: %s", s)
	}
	for name, want := range map[string]string{
		"own CapEff": "0000000000000004", "own CapPrm": "0000000000000004", "own NoNewPrivs": "1",
		"a program's CapEff": "0000000000000004", "a program's CapPrm": "0000000000000004", "a program's NoNewPrivs": "1",
		"change the owner": "refused", "mount": "refused", "read what is nobody's to read": "done",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %s", name, got[name], want)
		}
	}
}

func TestTheStatusSaysWhatIsMissing(t *testing.T) {
	for want, s := range map[string]Status{
		"confined: landlock abi 6, writes only below /var/cache/gyrum; capabilities: dac_read_search": {Landlock: 6, Writable: []string{"/var/cache/gyrum"}, Capabilities: []string{"dac_read_search"}},
		"confined: landlock abi 3, writes nowhere; capabilities: none":                                {Landlock: 3},
		"writes are not confined: the kernel has no Landlock; capabilities: none":                     {NoLandlock: errors.New("the kernel has no Landlock")},
		"confined: landlock abi 3, writes nowhere; capabilities were kept: capset: no":                {Landlock: 3, NoDrop: errors.New("capset: no")},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
