package manifest_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gyrum.ai/engine/manifest"
)

// Whatever keeps a manifest from being read is told by a rule of its own, with what to do about it, and keeps nobody waiting.
func TestUnreadable(t *testing.T) {
	for name, c := range map[string]struct {
		make          func(path string) error
		message, hint string
	}{
		"a folder":                  {func(p string) error { return os.Mkdir(p, 0o755) }, "this is a folder, not a file", "rename the folder"},
		"a pipe":                    {func(p string) error { return unix.Mkfifo(p, 0o644) }, "this is a named pipe", "delete it"},
		"a socket":                  {func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o644, 0) }, "this is a socket or a device", "delete it"},
		"a link to nothing":         {func(p string) error { return os.Symlink("nothing", p) }, "the link leads to nothing", "delete the link"},
		"a link to itself":          {func(p string) error { return os.Symlink(filepath.Base(p), p) }, "the link leads to itself", "delete the link"},
		"a link to a folder":        {func(p string) error { return os.Symlink(".", p) }, "the link leads to something that is no regular file", "delete the link"},
		"a link out of the catalog": {func(p string) error { return os.Symlink("/etc/passwd", p) }, "the link leads out of the catalog", "inside the catalog"},
		"a file for somebody else": {func(p string) error { return os.WriteFile(p, []byte("role: r\nversion: 1\nresources: []\n"), 0) },
			"this user may not read the file", "let the user read it"},
	} {
		for _, file := range []string{"host-roles/r.yaml", "hosts/t.yaml", "catalog.yaml"} {
			t.Run(name+" "+file, func(t *testing.T) {
				dir := catalog(t, map[string]string{"hosts/t.yaml": "name: t\nroles: [r]\n", "host-roles/r.yaml": "role: r\nversion: 1\nresources: []\n"})
				if err := os.RemoveAll(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
				if err := c.make(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
				waiting := time.AfterFunc(10*time.Second, func() { panic(name + ": whoever reads it is kept waiting") })
				defer waiting.Stop()
				var found []manifest.Finding
				opened := open(t, dir)
				withoutRoot(func() { _, found = opened.Host("t") })
				if len(found) != 1 || found[0].Rule != manifest.RuleRead || found[0].Pos.File != file ||
					!strings.HasPrefix(found[0].Message, c.message) || !strings.Contains(found[0].Hint, c.hint) {
					t.Errorf("%q", lines(found))
				}
			})
		}
	}
}

// withoutRoot does something with files as a user who may not read them all, also where root runs the tests; with one host and
// one role, all is read on this thread (setfsuid(2)).
func withoutRoot(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if uid := os.Geteuid(); uid == 0 {
		_ = unix.Setfsuid(65534)
		defer func() { _ = unix.Setfsuid(uid) }()
	}
	f()
}
