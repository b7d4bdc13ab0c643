package realhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Bind shows a folder or file of the machine inside a host.
type Bind struct {
	Outside, Inside string
	Writable        bool
}

// Options shape a host; the zero value is a bare one.
type Options struct {
	// Recipe is what the root file system is made of; Base where nil.
	Recipe *Recipe
	// Hostname is the host's own name; made up where empty.
	Hostname string
	// Binds are shown inside.
	Binds []Bind
	// Network joins the host to others; none where nil.
	Network *Network
}

// Host is a running Debian. Its methods fail the test that booted it where the host cannot do what they ask.
type Host struct {
	t T
	*guest
}

// guest is what all values of Host share that stand for one host.
type guest struct {
	name    string
	root    string // the recipe's root file system, never written to
	scratch string // what the host has written, and its console
	options Options
	address string
	machine *machine
}

// machine is one boot of a host.
type machine struct {
	nspawn int
	leader int
	ended  chan struct{}
}

const (
	bootTimeout = 60 * time.Second
	endTimeout  = 10 * time.Second
)

var hostCount atomic.Int64

// Boot starts a host and waits until its systemd has settled. The host ends with the test.
func Boot(t T, options Options) *Host {
	t.Helper()
	recipe := Base()
	if options.Recipe != nil {
		recipe = *options.Recipe
	}
	root, err := recipe.Build(context.Background())
	if err != nil {
		t.Fatalf("build the root file system: %v", err)
	}
	cache, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sweep(cache)
	// The name carries its maker's process id, so that a later run can tell a leftover from a host in use.
	name := fmt.Sprintf("h%d-%d", os.Getpid(), hostCount.Add(1))
	if options.Hostname == "" {
		options.Hostname = name
	}
	h := &Host{t: t, guest: &guest{name: name, root: root, scratch: filepath.Join(cache, "run", name), options: options}}
	for _, dir := range []string{"upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(h.scratch, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if options.Network != nil {
		if h.address, err = options.Network.join(name); err != nil {
			t.Fatalf("join the network: %v", err)
		}
	}
	t.Cleanup(h.discard)
	h.boot()
	return h
}

// bootScript runs in a mount namespace of its own. The root is an overlay of the host's own, so that what a host wrote
// is still there when it boots again after a power cut. The cgroup holds all processes of the host and no other.
const bootScript = `set -e
mount --make-rprivate /
if [ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ]; then
	umount -R /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
fi
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir -p "/sys/fs/cgroup$own/$CGROUP"
echo $$ >"/sys/fs/cgroup$own/$CGROUP/cgroup.procs"
mount -t overlay overlay -o "lowerdir=$LOWER,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work,index=off,metacopy=off" "$SCRATCH/merged"
exec systemd-nspawn --register=no --keep-unit -q -b -D "$SCRATCH/merged" --console=pipe --link-journal=no "$@"
`

func cgroupName(name string) string { return testPrefix + name }

func (h *Host) boot() {
	h.t.Helper()
	args := []string{"-m", "bash", "-c", bootScript, "boot", "--machine=" + h.name, "--hostname=" + h.options.Hostname}
	if h.options.Network == nil {
		args = append(args, "--private-network")
	} else {
		args = append(args, "--network-namespace-path="+h.options.Network.namespace(h.name))
	}
	for _, b := range h.options.Binds {
		flag := "--bind-ro="
		if b.Writable {
			flag = "--bind="
		}
		args = append(args, flag+b.Outside+":"+b.Inside)
	}
	console, err := os.Create(filepath.Join(h.scratch, "console"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer console.Close()
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), "CGROUP="+cgroupName(h.name), "LOWER="+h.root, "SCRATCH="+h.scratch)
	cmd.Stdout, cmd.Stderr = console, console
	// A test process that is killed takes its hosts along. The signal is tied to the thread that forked.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	m := &machine{ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // a host is ended by a signal: its exit status says nothing
		}
		close(m.ended)
	}()
	if err := <-started; err != nil {
		h.t.Fatalf("boot: %v", err)
	}
	m.nspawn = cmd.Process.Pid
	h.machine = m
	if err := h.settle(); err != nil {
		text, _ := os.ReadFile(console.Name())
		h.t.Fatalf("the host did not come up: %v\n%s", err, tail(text, 3000))
	}
}

// settle waits until systemd inside has started what it starts.
func (h *Host) settle() error {
	deadline := time.Now().Add(bootTimeout)
	state := "no leader yet"
	for time.Now().Before(deadline) {
		select {
		case <-h.machine.ended:
			return errors.New("systemd-nspawn ended")
		case <-time.After(50 * time.Millisecond):
		}
		if h.machine.leader == 0 {
			if child := childOf(h.machine.nspawn); isFirst(child) {
				h.machine.leader = child
			}
			continue
		}
		r := h.exec(context.Background(), "", nil, []string{"systemctl", "is-system-running"})
		state = strings.TrimSpace(r.Stdout)
		if state == "running" || state == "degraded" {
			return nil
		}
	}
	return fmt.Errorf("after %v systemd says %q", bootTimeout, state)
}

// childOf gives the first child of a process, 0 where it has none.
func childOf(pid int) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) == 0 {
		return 0
	}
	child, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return child
}

// isFirst says whether a process is the first of a process namespace beneath this one. Before that of the host there
// are short-lived helpers of the script and of nspawn.
func isFirst(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(ids)
			return len(fields) > 1 && fields[len(fields)-1] == "1"
		}
	}
	return false
}

// In is the same host for a subtest, which then fails where the host cannot do what it is asked.
func (h *Host) In(t T) *Host { return &Host{t: t, guest: h.guest} }

// Name is the host's own name.
func (h *Host) Name() string { return h.options.Hostname }

// Address is the host's address in its network; empty where it has none.
func (h *Host) Address() string { return h.address }

// PowerCut ends every process of the host at once, with no chance to tidy up. What it wrote stays; the page cache
// stays too, so that a missing fsync does not show.
func (h *Host) PowerCut() {
	h.t.Helper()
	if err := h.halt(); err != nil {
		h.t.Fatal(err)
	}
}

// PowerOn boots the host again after a PowerCut, with the files that it had.
func (h *Host) PowerOn() {
	h.t.Helper()
	h.boot()
}

func (h *Host) halt() error {
	m := h.machine
	if m == nil {
		return nil
	}
	h.machine = nil
	if m.leader != 0 {
		// The first process of a process namespace takes all others with it.
		_ = syscall.Kill(m.leader, syscall.SIGKILL)
	}
	_ = syscall.Kill(m.nspawn, syscall.SIGKILL)
	select {
	case <-m.ended:
	case <-time.After(endTimeout):
		return fmt.Errorf("host %s: systemd-nspawn (process %d) does not end", h.name, m.nspawn)
	}
	return removeCgroup(h.name)
}

func (h *Host) discard() {
	err := h.halt()
	if h.options.Network != nil {
		err = errors.Join(err, h.options.Network.leave(h.name))
	}
	if err := errors.Join(err, os.RemoveAll(h.scratch)); err != nil {
		h.t.Errorf("discard the host: %v", err)
	}
}
