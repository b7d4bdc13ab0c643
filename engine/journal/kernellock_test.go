package journal

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	// The process that holds a lock until it is killed.
	if path := os.Getenv("HOLD_LOCK"); path != "" {
		if _, err := (KernelLock{}).Lock(path, Owner{PID: os.Getpid(), StartedAt: time.Now()}); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheLockNamesItsOwnerAndDiesWithIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	if err := (KernelLock{}).Peek(path); err != nil {
		t.Errorf("peek at a lock that is not there: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("peek made the file")
	}
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), "HOLD_LOCK="+path)
	out, err := holder.StdoutPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	var held *LockedError
	if _, err := (KernelLock{}).Lock(path, Owner{PID: 1}); !errors.As(err, &held) || held.Owner.PID != holder.Process.Pid {
		t.Errorf("lock: %v", err)
	}
	if err := (KernelLock{}).Peek(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("peek: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	// What the dead owner wrote stands there still and blocks nobody.
	if err := (KernelLock{}).Peek(path); err != nil {
		t.Errorf("peek after its owner died: %v", err)
	}
	release, err := (KernelLock{}).Lock(path, Owner{PID: os.Getpid(), StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

func TestAStaleLockFileBlocksNobody(t *testing.T) {
	for _, content := range []string{"1", "", `{"pid":1,"started_at":"2020-01-01T00:00:00Z"}`, "\x00\xff"} {
		path := filepath.Join(t.TempDir(), LockName)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		release, err := (KernelLock{}).Lock(path, Owner{PID: os.Getpid(), StartedAt: time.Now()})
		if err != nil {
			t.Errorf("content %q: %v", content, err)
			continue
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneOfManyGetsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	for range 20 {
		var won, lost sync.Map
		var group, out sync.WaitGroup
		out.Add(4)
		for i := range 4 {
			group.Go(func() {
				release, err := KernelLock{}.Lock(path, Owner{PID: os.Getpid(), StartedAt: time.Now()})
				out.Done()
				out.Wait() // nobody lets go before everybody tried
				if err != nil {
					lost.Store(i, err)
					return
				}
				won.Store(i, true)
				if err := release(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		n := 0
		won.Range(func(_, _ any) bool { n++; return true })
		lost.Range(func(_, err any) bool {
			var held *LockedError
			if !errors.As(err.(error), &held) || held.Owner.PID != os.Getpid() {
				t.Errorf("the winner is not named: %v", err)
			}
			return true
		})
		if n != 1 {
			t.Fatalf("%d got the lock", n)
		}
	}
}

func TestALockFileThatIsRemovedSetsNobodyFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	release, err := KernelLock{}.Lock(path, Owner{PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = KernelLock{}.Lock(path, Owner{PID: 8})
	var held *LockedError
	if !errors.As(err, &held) || !held.Removed {
		t.Errorf("a second owner: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := KernelLock{}.Lock(path, Owner{PID: 9})
	if err != nil {
		t.Fatal(err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}
