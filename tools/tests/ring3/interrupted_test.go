package ring3

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gyrum.ai/tools/tests/realhost"
)

// TestKilledAppliesLeaveWholeFiles kills many applies at any moment. Each file is wholly old or wholly new, nothing
// half made lies about, and the next apply converges.
func TestKilledAppliesLeaveWholeFiles(t *testing.T) {
	m := boot(t)
	const size = 900 << 10
	versions := []string{strings.Repeat("a", size), strings.Repeat("b", size)}
	random := rand.New(rand.NewPCG(1, 2))
	declare := func(version int) {
		m.put("host-roles/t/files/big", versions[version])
		m.resources("- {type: directory, path: /etc/big.d}\n- {type: file, path: /etc/big.d/one.conf, source: big}\n- {type: file, path: /etc/big.d/two.conf, source: big}")
	}
	declare(0)
	m.converge()
	cut := 0
	for i := range 40 {
		declare((i + 1) % 2)
		p := m.Start(command("apply", "--auto-confirm")...)
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		p.Signal(syscall.SIGKILL)
		if p.Wait().Code != 0 {
			cut++
		}
		for _, name := range []string{"one", "two"} {
			content := m.Shell("head -c 1 /etc/big.d/" + name + ".conf; tr -d ab </etc/big.d/" + name + ".conf | wc -c; stat -c %s /etc/big.d/" + name + ".conf; grep -c ab /etc/big.d/" + name + ".conf || true")
			if want := fmt.Sprintf("0\n%d\n0", size); content != "a"+want && content != "b"+want {
				t.Fatalf("after %d kills %s.conf is %q", i+1, name, content)
			}
		}
		// Daemons read such folders: what is not whole yet must not look like a file of theirs.
		for name := range strings.FieldsSeq(m.Shell("ls -A /etc/big.d")) {
			if strings.HasSuffix(name, ".conf") && name != "one.conf" && name != "two.conf" {
				t.Fatalf("a daemon would read %s", name)
			}
		}
	}
	if cut < 10 {
		t.Errorf("only %d of 40 applies were killed in time", cut)
	}
	m.converge()
	if got := m.Shell("ls -A /etc/big.d"); got != "one.conf\ntwo.conf" {
		t.Errorf("left behind: %s", got)
	}
}

// TestInterruptedActionIsReported: an intent without an outcome is told by the next run.
func TestInterruptedActionIsReported(t *testing.T) {
	m := boot(t)
	m.resources(`
		- {type: command, id: "command:slow", run: "touch /run/begun; sleep 60; touch /var/slow", creates: /var/slow, timeout: "2m"}
		- {type: file, path: /etc/after, content: x}
	`)
	p := m.Start(command("apply", "--auto-confirm")...)
	m.waitFor("test -e /run/begun")
	p.Signal(syscall.SIGKILL)
	p.Wait()
	m.resources("- {type: file, path: /etc/after, content: x}")
	o := m.apply()
	found := false
	for _, r := range o.reports {
		for _, i := range r.Interrupted {
			found = found || i.Resource == "command:slow"
		}
	}
	if o.code != 0 || !found {
		t.Errorf("apply after the kill: %s", o)
	}
	if o := m.apply(); strings.Contains(o.result.Stdout, "command:slow") {
		t.Errorf("settled is settled: %s", o)
	}
}

// TestOneApplyAtATime: the second names the first and ends at once, a check takes no part in it, and a lock whose
// holder is gone holds nobody.
func TestOneApplyAtATime(t *testing.T) {
	m := boot(t)
	slow := func(n int) string {
		return fmt.Sprintf("- {type: command, id: \"command:slow\", run: \"touch /run/begun%d; sleep 2; touch /var/slow%d\", creates: /var/slow%d}", n, n, n)
	}

	m.resources(slow(1))
	p := m.Start(command("apply", "--auto-confirm")...)
	m.waitFor("test -e /run/begun1")
	begun := time.Now()
	second := m.Run(command("apply", "--auto-confirm")...)
	if second.Code != 4 || time.Since(begun) > 2*time.Second {
		t.Errorf("second apply, after %v: %s", time.Since(begun), second)
	}
	if holder := m.Shell("pgrep -x gyrum | head -1"); !strings.Contains(second.Stderr, holder) {
		t.Errorf("the first apply is process %s, and the message is %s", holder, second.Stderr)
	}
	if o := m.check(); o.code != 2 {
		t.Errorf("check beside an apply: %s", o)
	}
	if r := p.Wait(); r.Code != 0 {
		t.Errorf("first apply: %s", r)
	}

	t.Run("two at the very same time", func(t *testing.T) {
		m := m.in(t)
		for i := range 20 {
			m.Shell("rm -f /var/slow* /run/begun*")
			m.resources(fmt.Sprintf("- {type: command, id: \"command:count\", run: \"echo x >>/var/count%d; sleep 0.3; touch /var/slow%d\", creates: /var/slow%d}", i, i, i))
			var wait sync.WaitGroup
			results := make([]realhost.Result, 2)
			for j := range results {
				wait.Go(func() { results[j] = m.Run(command("apply", "--auto-confirm")...) })
			}
			wait.Wait()
			if got := m.Shell(fmt.Sprintf("cat /var/count%d", i)); got != "x" {
				t.Errorf("the command ran twice\n%s\n%s", results[0], results[1])
			}
			for _, r := range results {
				if r.Code != 0 && r.Code != 4 {
					t.Errorf("apply: %s", r)
				}
			}
		}
	})

	t.Run("a killed holder", func(t *testing.T) {
		m := m.in(t)
		m.resources(slow(50))
		p := m.Start(command("apply", "--auto-confirm")...)
		m.waitFor("test -e /run/begun50")
		p.Signal(syscall.SIGKILL)
		p.Wait()
		if o := m.apply(); o.code != 0 {
			t.Errorf("apply: %s", o)
		}
	})

	t.Run("a lock file that somebody removed", func(t *testing.T) {
		m := m.in(t)
		m.resources(slow(55))
		p := m.Start(command("apply", "--auto-confirm")...)
		m.waitFor("test -e /run/begun55")
		m.Shell("rm /var/lib/gyrum/lock")
		if r := m.Run(command("apply", "--auto-confirm")...); r.Code != 4 || !strings.Contains(r.Stderr, "was removed") {
			t.Errorf("second apply: %s", r)
		}
		if r := p.Wait(); r.Code != 0 {
			t.Errorf("first apply: %s", r)
		}
		m.converge()
	})

	t.Run("a lock file of another age", func(t *testing.T) {
		m := m.in(t)
		// Process 1 runs, and is no apply.
		m.Shell(`for f in $(find /var/lib/gyrum -name '*lock*'); do echo 1 >$f; done`)
		m.resources(slow(60))
		if o := m.apply(); o.code != 0 {
			t.Errorf("apply: %s", o)
		}
	})
}

// TestSignalFinishesTheActionInHand: what was begun ends, the rest is recorded as skipped.
func TestSignalFinishesTheActionInHand(t *testing.T) {
	m := boot(t)
	m.resources(`
		- {type: command, id: "command:slow", run: "touch /run/begun; sleep 2; touch /var/slow", creates: /var/slow}
		- {type: file, path: /etc/after, content: x}
	`)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		m.Shell("rm -f /run/begun /var/slow")
		p := m.Start(command("apply", "--auto-confirm", "-o", "json")...)
		m.waitFor("test -e /run/begun")
		p.Signal(sig)
		o := m.read(p.Wait())
		if o.code != 1 || o.find("file:/etc/after").status() != "skipped" || o.find("command:slow").status() != "applied" {
			t.Errorf("%v: %s", sig, o)
		}
		if r := m.Run("test", "-e", "/var/slow"); r.Code != 0 {
			t.Error("the action in hand did not finish")
		}
	}
	m.converge()
}

// TestStateThatCannotBeWrittenStopsApplyFirst: no intent on disk, no action.
func TestStateThatCannotBeWrittenStopsApplyFirst(t *testing.T) {
	m := boot(t)
	m.resources("- {type: file, path: /etc/made, content: x}")
	m.Shell("mkdir -p /var/lib/gyrum; chmod 700 /var/lib/gyrum; mount -t tmpfs -o size=4k,mode=700 none /var/lib/gyrum; head -c 8192 /dev/zero >/var/lib/gyrum/filler || true")
	if o := m.apply(); o.code != 1 {
		t.Errorf("apply with a full disk: %s", o)
	}
	m.Shell("umount /var/lib/gyrum; mount -t tmpfs -o ro,mode=700 none /var/lib/gyrum")
	if o := m.apply(); o.code != 1 {
		t.Errorf("apply with a read-only state folder: %s", o)
	}
	if r := m.Run("test", "-e", "/etc/made"); r.Code == 0 {
		t.Error("an action was executed")
	}
}
