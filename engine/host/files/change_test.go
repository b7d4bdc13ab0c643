package files_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/hosttest"
)

// withUmask runs f under a umask; the kernel's file system is the one that could obey it.
func withUmask(mask int, f func()) {
	old := unix.Umask(mask)
	defer unix.Umask(old)
	f()
}

func TestReplaceGivesExactlyTheMode(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o777} {
		for _, w := range worlds(t, false) {
			withUmask(mask, func() {
				w.dir("/sgid", 0o2775)
				w.file("/sgid/old", "before", 0o600)
				for _, mode := range []uint32{0o666, 0o600, 0o4755, 0o2755, 0o1777, 0o000, 0o440} {
					for _, p := range []string{"/sgid/old", fmt.Sprintf("/sgid/new%o", mode)} {
						if err := w.Replace(p, []byte("after"), w.mine(mode)); err != nil {
							t.Fatalf("%s: umask %o: %v", w.name, mask, err)
						}
						s, err := w.Stat(p)
						if err != nil || s.Mode != mode || s.Kind != fsys.KindFile || s.Size != 5 {
							t.Errorf("%s: umask %o: got %04o, want %04o, %v", w.name, mask, s.Mode, mode, err)
						}
					}
				}
			})
		}
	}
}

func TestMakeDirectoryGivesExactlyTheMode(t *testing.T) {
	for _, mask := range []int{0, 0o077} {
		for _, w := range worlds(t, false) {
			withUmask(mask, func() {
				w.dir("/sgid", 0o2775)
				for _, mode := range []uint32{0o755, 0o777, 0o2750, 0o1777, 0o700, 0o055} {
					p := fmt.Sprintf("/sgid/d%o", mode)
					if err := w.MakeDirectory(p, w.mine(mode)); err != nil {
						t.Fatalf("%s: %v", w.name, err)
					}
					w.is(t, p, fsys.KindDirectory, mode, "")
				}
				w.is(t, "/sgid", fsys.KindDirectory, 0o2775, "")
				if err := w.MakeDirectory("/sgid/none/x", w.mine(0o755)); fault.Of(err).Code != fault.Invalid {
					t.Errorf("%s: a parent was made: %v", w.name, err)
				}
			})
		}
	}
}

// Only the name changes; what a link at the name leads to, or another name of the file, stays.
func TestReplaceTouchesNothingElse(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.file("/real", "keep", 0o644)
		w.link("/l", "real")
		w.link("/self", "self")
		for _, p := range []string{"/l", "/self"} {
			if err := w.Replace(p, []byte("new"), w.mine(0o644)); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			w.is(t, p, fsys.KindFile, 0o644, "new")
		}
		w.is(t, "/real", fsys.KindFile, 0o644, "keep")
	}
}

func TestReplaceRefusesOtherKinds(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.dir("/d", 0o755)
		w.file("/d/1", "a", 0o644)
		w.add("/p", fsys.Info{Kind: fsys.KindFIFO, Mode: 0o600, UID: w.me, GID: w.group}, "")
		w.file("/f", "b", 0o644)
		for _, p := range []string{"/d", "/p", "/f/child", "/none/x", "/"} {
			if err := w.Replace(p, []byte("x"), w.mine(0o644)); err == nil || fault.Of(err).Code != fault.Invalid {
				t.Errorf("%s: %s: got %v", w.name, p, err)
			}
		}
		w.is(t, "/d/1", fsys.KindFile, 0o644, "a")
		if names := w.names("/"); len(names) != 3 {
			t.Errorf("%s: litter: %q", w.name, names)
		}
	}
}

func TestReplaceCarriesAttributesOver(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddFile("/f", "old", 0o640)
	fs.AddHardLink("/f", "/other")
	fs.SetAttributes("/f", map[string][]byte{
		"user.note": []byte("n"), "system.posix_acl_access": []byte("acl"), "security.capability": []byte("cap"), "security.selinux": []byte("label"),
	})
	w := files.NewWriteTree(fs, 0)
	if err := w.Replace("/f", []byte("new"), files.Owner{Mode: 0o640}); err != nil {
		t.Fatal(err)
	}
	root, err := fs.WritableRoot()
	if err != nil {
		t.Fatal(err)
	}
	node, err := root.Pin("f")
	if err != nil {
		t.Fatal(err)
	}
	attrs, err := node.Attributes()
	if err != nil || len(attrs) != 3 || string(attrs["user.note"]) != "n" || string(attrs["system.posix_acl_access"]) != "acl" || attrs["security.capability"] != nil {
		t.Errorf("got %q, %v", attrs, err)
	}
	if c, _ := fs.Content("/other"); c != "old" {
		t.Errorf("the other name holds %q", c)
	}
	if s, _ := w.Stat("/other"); s.Nlink != 1 {
		t.Errorf("the other name has %d links", s.Nlink)
	}
}

// Whatever call fails, with whatever error, the old file stands and nothing else lies about.
func TestReplaceFailsCleanly(t *testing.T) {
	codes := map[syscall.Errno]string{
		syscall.EROFS: fault.ReadOnly, syscall.EBUSY: fault.Busy, syscall.EPERM: fault.PermissionDenied, syscall.ENOSPC: fault.NoSpace,
		syscall.EDQUOT: fault.NoSpace, syscall.EACCES: fault.PermissionDenied, syscall.EIO: fault.IO,
	}
	for errno, code := range codes {
		for _, call := range []string{"create", "write", "chown", "setxattr", "chmod", "sync", "rename"} {
			fs := hosttest.NewFS(hosttest.NewPower())
			fs.AddFile("/d/f", "old", 0o644)
			fs.Inject = func(c, name string) error {
				if c == call {
					return errno
				}
				return nil
			}
			err := files.NewWriteTree(fs, 0).Replace("/d/f", []byte("new"), files.Owner{Mode: 0o600})
			if err == nil || fault.Of(err).Code != code || !strings.Contains(err.Error(), "/d/f") {
				t.Errorf("%s fails with %v: got %v", call, errno, err)
			}
			fs.Inject = nil
			if c, _ := fs.Content("/d/f"); c != "old" {
				t.Errorf("%s fails with %v: the file holds %q", call, errno, c)
			}
			if names := list(fs, "/d"); len(names) != 1 {
				t.Errorf("%s fails with %v: left %q", call, errno, names)
			}
		}
	}
}

// A power cut at any moment, losing anything that was not made durable, leaves the old file or the new one, and the next
// run clears up.
func TestReplaceSurvivesPowerCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		power := hosttest.NewPower()
		fs := hosttest.NewFS(power)
		existed := rapid.Bool().Draw(t, "existed")
		if existed {
			fs.AddFile("/d/f", "old", 0o644)
		} else {
			fs.AddDir("/d", 0o755, 0, 0)
		}
		power.Cut(rapid.IntRange(0, 12).Draw(t, "cut"))
		err := files.NewWriteTree(fs, 0).Replace("/d/f", []byte("new content"), files.Owner{Mode: 0o640, UID: 5, GID: 6})
		fs.Crash(func(n int, c hosttest.Change) bool { return rapid.Bool().Draw(t, fmt.Sprintf("lose %d %s", n, c.Call)) })

		content, exists := fs.Content("/d/f")
		s, serr := files.Tree{FS: fs}.Stat("/d/f")
		switch {
		case serr != nil:
			t.Fatal(serr)
		case err == nil && content != "new content":
			t.Fatalf("reported as done, but holds %q", content)
		case exists && content == "new content" && (s.Mode != 0o640 || s.UID != 5 || s.GID != 6):
			t.Fatalf("the new content has mode %04o and owner %d:%d", s.Mode, s.UID, s.GID)
		case exists && content != "new content" && !(existed && content == "old" && s.Mode == 0o644):
			t.Fatalf("holds %q, mode %04o", content, s.Mode)
		case !exists && existed:
			t.Fatal("the old file is gone")
		}
		if err := files.NewWriteTree(fs, 0).Replace("/d/f", []byte("again"), files.Owner{Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if names := list(fs, "/d"); len(names) != 1 {
			t.Fatalf("left %q", names)
		}
	})
}

// Temporary files of this run, which another role may be writing, and files with a name of another shape stay.
func TestSweepTakesOnlyDeadRunsFiles(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	w := files.NewWriteTree(fs, 0)
	stay := []string{
		"/d/.gyrum-" + w.Run + "-0123456789abcdef.tmp", "/d/.gyrum-notes.tmp", "/d/.gyrum-0123456789abcdef-0123456789abcdeg.tmp",
		"/d/x.gyrum-0123456789abcdef-0123456789abcdef.tmp", "/d/.gyrum-0123456789abcdef-0123456789abcdef",
	}
	for _, p := range stay {
		fs.AddFile(p, "", 0o600)
	}
	fs.AddFile("/d/.gyrum-0123456789abcdef-0123456789abcdef.tmp", "", 0o640)
	fs.AddDir("/d/.gyrum-0123456789abcdef-1123456789abcdef.tmp", 0o755, 0, 0)
	if err := w.Replace("/d/f", nil, files.Owner{Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if names := list(fs, "/d"); len(names) != len(stay)+2 {
		t.Errorf("left %q", names)
	}
}

func TestChmodAndChown(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.file("/f", "x", 0o600)
		w.dir("/d", 0o700)
		w.link("/l", "f")
		before, _ := w.Stat("/f")
		for p, kind := range map[string]string{"/f": fsys.KindFile, "/d": fsys.KindDirectory} {
			if err := w.Chmod(p, 0o755, kind); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			w.is(t, p, kind, 0o755, "x")
			if err := w.Chown(p, w.mine(0o6755), kind); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			w.is(t, p, kind, 0o6755, "x")
		}
		after, _ := w.Stat("/f")
		if after.Ino != before.Ino || after.MTime != before.MTime {
			t.Errorf("%s: the file was rewritten", w.name)
		}
		for p, kind := range map[string]string{"/l": fsys.KindFile, "/f": fsys.KindDirectory, "/d": fsys.KindFile, "/none": fsys.KindFile} {
			if err := w.Chmod(p, 0o777, kind); err == nil {
				t.Errorf("%s: %s was changed as a %s", w.name, p, kind)
			}
			if err := w.Chown(p, w.mine(0o777), kind); err == nil {
				t.Errorf("%s: %s was changed as a %s", w.name, p, kind)
			}
		}
		w.is(t, "/f", fsys.KindFile, 0o6755, "x")
	}
}

// A change of mode or owner that has come back survives a loss of power, and so does a new directory as declared.
func TestModeAndOwnerAreDurable(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddFile("/chmod", "x", 0o600)
	fs.AddFile("/chown", "x", 0o600)
	w := files.NewWriteTree(fs, 0)
	if err := errors.Join(w.Chmod("/chmod", 0o644, fsys.KindFile), w.Chown("/chown", files.Owner{UID: 7, GID: 8, Mode: 0o640}, fsys.KindFile),
		w.MakeDirectory("/made", files.Owner{UID: 7, GID: 8, Mode: 0o2750})); err != nil {
		t.Fatal(err)
	}
	fs.Crash(nil)
	for p, want := range map[string]string{"/chmod": "0644 0:0", "/chown": "0640 7:8", "/made": "2750 7:8"} {
		s, err := w.Stat(p)
		if got := fmt.Sprintf("%04o %d:%d", s.Mode, s.UID, s.GID); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", p, got, err, want)
		}
	}
}

// In between, the new owner never has more than the old mode and the new one both give.
func TestChownNarrowsFirst(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddFile("/f", "x", 0o664)
	w := files.NewWriteTree(fs, 0)
	fs.Inject = func(call, _ string) error {
		if call == "chown" {
			return syscall.EIO
		}
		return nil
	}
	if err := w.Chown("/f", files.Owner{Mode: 0o640, UID: 1, GID: 2}, fsys.KindFile); err == nil {
		t.Fatal("no error")
	}
	fs.Inject = nil
	if s, _ := w.Stat("/f"); s.Mode != 0o640 || s.UID != 0 {
		t.Errorf("at the chown the mode is %04o", s.Mode)
	}
}

// A user could link a foreign file into a directory of its own, or into one that is everybody's, and wait for it to be opened up.
func TestHardLinksThatAUserCouldHaveMade(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddDir("/home/alice", 0o755, 1000, 1000)
	fs.AddFile("/etc/shadow", "secret", 0o600)
	fs.AddHardLink("/etc/shadow", "/home/alice/f")
	fs.AddFile("/etc/a", "", 0o600)
	fs.AddHardLink("/etc/a", "/etc/b")
	fs.AddDir("/tmp", 0o1777, 0, 0)
	fs.AddHardLink("/etc/shadow", "/tmp/f")
	fs.AddDir("/var/local", 0o2775, 0, 50)
	fs.AddHardLink("/etc/shadow", "/var/local/f")
	w := files.NewWriteTree(fs, 0)
	for _, p := range []string{"/home/alice/f", "/tmp/f", "/var/local/f"} {
		if err := w.Chmod(p, 0o644, fsys.KindFile); err == nil || fault.Of(err).Code != fault.UnsafePath {
			t.Errorf("chmod %s: got %v", p, err)
		}
	}
	if err := w.Chown("/home/alice/f", files.Owner{Mode: 0o644, UID: 1000}, fsys.KindFile); err == nil || fault.Of(err).Code != fault.UnsafePath {
		t.Errorf("chown: got %v", err)
	}
	if err := w.Chmod("/etc/b", 0o644, fsys.KindFile); err != nil {
		t.Errorf("in root's own directory: %v", err)
	}
}

func TestRemove(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.file("/real", "keep", 0o644)
		w.link("/l", "real")
		w.link("/dl", "d")
		w.dir("/d", 0o755)
		w.file("/d/1", "a", 0o644)
		w.dir("/e", 0o755)
		w.add("/p", fsys.Info{Kind: fsys.KindFIFO, Mode: 0o600, UID: w.me, GID: w.group}, "")
		for _, p := range []string{"/l", "/none", "/no/such", "/real/child"} {
			if err := w.Remove(p); err != nil {
				t.Errorf("%s: remove %s: %v", w.name, p, err)
			}
		}
		w.is(t, "/real", fsys.KindFile, 0o644, "keep")
		for _, p := range []string{"/d", "/p", "/e"} {
			if err := w.Remove(p); err == nil {
				t.Errorf("%s: %s was removed as a file", w.name, p)
			}
		}
		for _, p := range []string{"/d", "/real", "/dl"} {
			if err := w.RemoveDirectory(p); err == nil {
				t.Errorf("%s: %s was removed as an empty directory", w.name, p)
			}
		}
		for _, p := range []string{"/e", "/none"} {
			if err := w.RemoveDirectory(p); err != nil {
				t.Errorf("%s: remove directory %s: %v", w.name, p, err)
			}
		}
		w.is(t, "/d/1", fsys.KindFile, 0o644, "a")
		if s, _ := w.Stat("/e"); s.Exists {
			t.Errorf("%s: /e is still there", w.name)
		}
	}
}

func TestMakeOwn(t *testing.T) {
	for _, w := range worlds(t, false) {
		if err := w.MakeOwn("/var/lib/own/deep"); err != nil {
			t.Fatal(err)
		}
		if err := w.MakeOwn("/var/lib/own/deep"); err != nil {
			t.Fatal(err)
		}
		w.is(t, "/var/lib/own/deep", fsys.KindDirectory, 0o700, "")
		w.file("/f", "", 0o600)
		if err := w.MakeOwn("/f/x"); err == nil {
			t.Error("made below a file")
		}
	}
}

// What cannot be seen is an error, never absent.
func TestUnreadableIsNoAbsence(t *testing.T) {
	for _, call := range []string{"stat", "open directory", "open"} {
		fs := hosttest.NewFS(hosttest.NewPower())
		fs.AddFile("/d/f", "x", 0o644)
		fs.Inject = func(c, name string) error {
			if c == call && name != "" {
				return syscall.EACCES
			}
			return nil
		}
		tree := files.Tree{FS: fs}
		_, _, err := tree.Digest("/d/f")
		if err == nil || fault.Of(err).Code != fault.PermissionDenied || !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s: got %v", call, err)
		}
		if call != "open" {
			if s, err := tree.Stat("/d/f"); err == nil || s.Exists {
				t.Errorf("%s: got %+v, %v", call, s, err)
			}
		}
	}
}
