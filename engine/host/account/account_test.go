package account_test

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"testing"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/account"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/hosttest"
)

const passwd = `root:x:0:0:root:/root:/bin/bash
www-data:x:33:33::/var/www:/usr/sbin/nologin
toor:x:0:0::/root:/bin/sh
# comment:x:5:5
+nis:x:6:6
broken line
`

func model() *hosttest.FS {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddFile("/etc/passwd", passwd, 0o644)
	fs.AddFile("/etc/group", "root:x:0:\nwww-data:x:33:\n", 0o644)
	return fs
}

// directory stands for another source of nsswitch.conf and counts the questions.
type directory struct {
	lines map[string]string
	err   error
	asked int
}

func (d *directory) lookup(_ context.Context, database, key string) (string, bool, error) {
	d.asked++
	line, ok := d.lines[database+" "+key]
	return line, ok, d.err
}

func TestNamesAndIDs(t *testing.T) {
	d := &directory{lines: map[string]string{"passwd ldap-user": "ldap-user:*:70000:70000::/:/bin/sh", "passwd 70000": "ldap-user:*:70000:70000::/:/bin/sh"}}
	a := account.New(files.Tree{FS: model()}, d.lookup)
	for _, c := range []struct {
		name   string
		id     uint32
		exists bool
	}{
		{"root", 0, true}, {"www-data", 33, true}, {"toor", 0, true}, {"ldap-user", 70000, true}, {"nosuchuser", 0, false},
		{"0", 0, true}, {"12321", 12321, true}, {"007", 7, true}, {"4294967294", 4294967294, true},
		{"+nis", 0, false}, {"# comment", 0, false}, {"", 0, false}, {"a:b", 0, false},
	} {
		id, exists, err := a.User(c.name)
		if err != nil || exists != c.exists || exists && id != c.id {
			t.Errorf("user %q: got %d, %v, %v", c.name, id, exists, err)
		}
	}
	for _, name := range []string{"4294967295", "4294967296", "99999999999999999999"} {
		if _, exists, err := a.User(name); err == nil || exists {
			t.Errorf("%s was taken for an id", name)
		}
	}
	for id, want := range map[uint32]string{0: "root", 33: "www-data", 70000: "ldap-user", 12321: "12321"} {
		if got, err := a.UserName(id); err != nil || got != want {
			t.Errorf("id %d: got %q, %v", id, got, err)
		}
	}
	if _, exists, err := a.Group("toor"); err != nil || exists {
		t.Error("a user was taken for a group")
	}
}

func TestAnswersAreRememberedUntilForget(t *testing.T) {
	fs, d := model(), &directory{}
	a := account.New(files.Tree{FS: fs}, d.lookup)
	for range 3 {
		if _, exists, _ := a.User("late"); exists {
			t.Fatal("exists")
		}
		if name, _ := a.UserName(4242); name != "4242" {
			t.Fatal(name)
		}
	}
	if d.asked != 2 {
		t.Errorf("asked %d times", d.asked)
	}
	fs.AddFile("/etc/passwd", passwd+"late:x:4242:4242::/:/bin/sh\n", 0o644)
	a.Forget()
	id, exists, err := a.User("late")
	if name, _ := a.UserName(4242); !exists || id != 4242 || err != nil || name != "late" {
		t.Errorf("got %d, %v, %v, %q", id, exists, err, name)
	}
}

// A source that does not answer says nothing about the account.
func TestFailureIsNoAbsence(t *testing.T) {
	d := &directory{err: fault.New(fault.Timeout, "no answer")}
	a := account.New(files.Tree{FS: model()}, d.lookup)
	if _, _, err := a.User("ldap-user"); err == nil || fault.Of(err).Code != fault.Timeout {
		t.Errorf("got %v", err)
	}
	if _, exists, err := a.User("root"); err != nil || !exists {
		t.Errorf("what the file knows needs no other source: %v", err)
	}
	fs := model()
	fs.Inject = func(call, name string) error {
		if call == "open" && name == "passwd" {
			return syscall.EACCES
		}
		return nil
	}
	if _, _, err := account.New(files.Tree{FS: fs}, nil).User("root"); err == nil || fault.Of(err).Code != fault.PermissionDenied {
		t.Errorf("got %v", err)
	}
}

func TestNoFilesNoAccounts(t *testing.T) {
	a := account.New(files.Tree{FS: hosttest.NewFS(hosttest.NewPower())}, nil)
	if _, exists, err := a.User("root"); err != nil || exists {
		t.Errorf("got %v, %v", exists, err)
	}
	if name, err := a.UserName(0); err != nil || name != "0" {
		t.Errorf("got %q, %v", name, err)
	}
}

// An answer about another entry than the one asked for is no answer.
func TestForeignAnswers(t *testing.T) {
	d := &directory{lines: map[string]string{"passwd a": "b:x:1:1", "passwd 7": "c:x:8:8"}}
	a := account.New(files.Tree{FS: model()}, d.lookup)
	if _, _, err := a.User("a"); err == nil {
		t.Error("b was taken for a")
	}
	if _, err := a.UserName(7); err == nil {
		t.Error("8 was taken for 7")
	}
}

func TestGetent(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	for _, key := range []string{"root", "0"} {
		if line, found, err := account.Getent(context.Background(), "passwd", key); err != nil || !found || line[:5] != "root:" {
			t.Errorf("%s: got %q, %v, %v", key, line, found, err)
		}
	}
	for _, key := range []string{"no-such-user-here", "-x", "--help"} {
		if line, found, err := account.Getent(context.Background(), "passwd", key); err != nil || found {
			t.Errorf("%s: got %q, %v, %v", key, line, found, err)
		}
	}
	a := account.New(files.Tree{FS: fsys.System("/"), Self: uint32(os.Geteuid())}, account.Getent)
	if name, err := a.UserName(4294967000); err != nil || name != strconv.FormatUint(4294967000, 10) {
		t.Errorf("got %q, %v", name, err)
	}
}
