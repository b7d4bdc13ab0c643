package files_test

import (
	"testing"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

func TestStat(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.file("/d/f", "abc", 0o4640)
		w.dir("/d/empty", 0o2755)
		w.dir("/d/full", 0o700)
		w.file("/d/full/x", "", 0o644)
		w.link("/d/l", "f")
		w.link("/d/dangling", "/nowhere")
		w.link("/d/up", "../d")
		w.add("/d/p", fsys.Info{Kind: fsys.KindFIFO, Mode: 0o600, UID: w.me, GID: w.group}, "")
		yes, no := true, false
		for _, c := range []struct {
			path string
			want files.Stat
		}{
			{"/", files.Stat{Exists: true, Info: fsys.Info{Kind: "directory"}, Empty: &no}},
			{"/d/f", files.Stat{Exists: true, Info: fsys.Info{Kind: "file", Mode: 0o4640, Size: 3}}},
			{"//d/./f", files.Stat{Exists: true, Info: fsys.Info{Kind: "file", Mode: 0o4640, Size: 3}}},
			{"/d/empty", files.Stat{Exists: true, Info: fsys.Info{Kind: "directory", Mode: 0o2755}, Empty: &yes}},
			{"/d/full", files.Stat{Exists: true, Info: fsys.Info{Kind: "directory", Mode: 0o700}, Empty: &no}},
			{"/d/l", files.Stat{Exists: true, Info: fsys.Info{Kind: "symlink"}, Target: "f"}},
			{"/d/dangling", files.Stat{Exists: true, Info: fsys.Info{Kind: "symlink"}, Target: "/nowhere"}},
			{"/d/up/f", files.Stat{Exists: true, Info: fsys.Info{Kind: "file", Mode: 0o4640, Size: 3}}},
			{"/d/p", files.Stat{Exists: true, Info: fsys.Info{Kind: "fifo", Mode: 0o600}}},
			{"/d/none", files.Stat{}},
			{"/no/such/file", files.Stat{MissingParent: "/no"}},
			{"/d/dangling/f", files.Stat{MissingParent: "/nowhere"}},
			{"/d/f/child", files.Stat{BadParent: &files.BadParent{Path: "/d/f", Kind: "file"}}},
			{"/d/f/child/below", files.Stat{BadParent: &files.BadParent{Path: "/d/f", Kind: "file"}}},
			{"/d/p/child", files.Stat{BadParent: &files.BadParent{Path: "/d/p", Kind: "fifo"}}},
		} {
			got, err := w.Stat(c.path)
			if err != nil {
				t.Errorf("%s: %s: %v", w.name, c.path, err)
				continue
			}
			same := got.Exists == c.want.Exists && got.Kind == c.want.Kind && got.Target == c.want.Target &&
				got.MissingParent == c.want.MissingParent && (got.BadParent == nil) == (c.want.BadParent == nil) &&
				(got.Empty == nil) == (c.want.Empty == nil)
			if same && got.BadParent != nil {
				same = *got.BadParent == *c.want.BadParent
			}
			if same && got.Empty != nil {
				same = *got.Empty == *c.want.Empty
			}
			if same && got.Kind == fsys.KindFile {
				same = got.Mode == c.want.Mode && got.Size == c.want.Size && got.UID == w.me
			}
			if !same {
				t.Errorf("%s: %s: got %+v, want %+v", w.name, c.path, got, c.want)
			}
		}
		for _, bad := range []string{"", "d/f", "/d/../d/f", "/d/\x00"} {
			if _, err := w.Stat(bad); fault.CodeOf(err) == "" || err == nil {
				t.Errorf("%s: %q was taken", w.name, bad)
			}
		}
	}
}

// An unprivileged user must not lead a change elsewhere; root's own links and one user's own directories are fine.
func TestWalkOfParents(t *testing.T) {
	const alice, bob = 1000, 1001
	for _, w := range worlds(t, true) {
		directory := func(p string, uid uint32) {
			w.add(p, fsys.Info{Kind: fsys.KindDirectory, Mode: 0o755, UID: uid, GID: uid}, "")
		}
		link := func(p, target string, uid uint32) {
			w.add(p, fsys.Info{Kind: fsys.KindSymlink, UID: uid, GID: uid}, target)
		}
		directory("/etc", 0)
		directory("/home", 0)
		directory("/home/alice", alice)
		directory("/home/alice/own", alice)
		directory("/home/alice/roots", 0)
		directory("/home/alice/bobs", bob)
		directory("/home/alice/own/deep", alice)
		directory("/var", 0)
		link("/var/etc", "../etc", 0)
		link("/var/alices", "/etc", alice)
		link("/home/alice/etc", "/etc", alice)
		link("/home/alice/self", "own", alice)
		link("/home/alice/root-link", "/etc", 0)
		link("/loop", "loop2", 0)
		link("/loop2", "loop", 0)
		link("/chain", "var/etc", 0)
		for _, c := range []struct {
			path, code string
		}{
			{"/etc/f", ""},
			{"/var/etc/f", ""},
			{"/chain/f", ""},
			{"/home/alice/f", ""},
			{"/home/alice/own/deep/f", ""},
			{"/home/alice/roots/f", fault.UnsafePath},
			{"/home/alice/bobs/f", fault.UnsafePath},
			{"/home/alice/etc/f", fault.UnsafePath},
			{"/home/alice/self/f", fault.UnsafePath},
			{"/home/alice/root-link/f", fault.UnsafePath},
			{"/var/alices/f", fault.UnsafePath},
			{"/loop/f", fault.Invalid},
		} {
			_, err := w.Stat(c.path)
			werr := w.Replace(c.path, []byte("x"), files.Owner{Mode: 0o600})
			for _, err := range []error{err, werr} {
				if c.code == "" && err != nil || c.code != "" && (err == nil || fault.Of(err).Code != c.code) {
					t.Errorf("%s: %s: got %v, want code %q", w.name, c.path, err, c.code)
				}
			}
		}
		if names := w.names("/etc"); len(names) != 1 {
			t.Errorf("%s: /etc holds %q", w.name, names)
		}
	}
}

// The forms of a path that a command's "creates" may have.
func TestExists(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.file("/d/f", "", 0o644)
		w.file("/d/*", "", 0o644)
		w.link("/d/dangling", "none")
		w.link("/d/to-dir", "/d")
		w.link("/d/to-file", "f")
		w.link("/d/via", "to-dir/../d/./to-dir")
		for p, want := range map[string]bool{
			"/d": true, "/d/": true, "/d/f": true, "/d/f/": false, "/d/dangling": true, "/d/dangling/": false, "/d/to-dir/": true,
			"/d/to-file/": false, "/d/to-file": true, "/d/*": true, "/d/f*": false, "/d/f/x": false, "/none/x": false, "/": true,
			"/d/via/f": true, "/d/via/": true,
		} {
			if got, _, err := w.Exists(p); err != nil || got != want {
				t.Errorf("%s: %s: exists %v, %v; want %v", w.name, p, got, err, want)
			}
		}
	}
}

func TestFollowAndResolve(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.dir("/lib", 0o755)
		w.file("/lib/a", "x", 0o644)
		w.link("/etc/a", "../lib/a")
		w.link("/etc/b", "a")
		w.link("/slib", "lib")
		for in, want := range map[string]string{"/etc/b": "/lib/a", "/slib/a": "/lib/a", "/lib/a": "/lib/a", "/slib": "/lib", "/etc/c": ""} {
			if s, real, err := w.Follow(in); err != nil || real != want || s.Exists != (want != "") {
				t.Errorf("%s: %s leads to %q (exists %v), %v; want %q", w.name, in, real, s.Exists, err, want)
			}
		}
		for in, want := range map[string]string{"/slib/a": "/lib/a", "/slib/none": "/lib/none", "/etc/b": "/etc/b", "/no/x": "/no/x", "//slib//a/": "/lib/a"} {
			if got, err := w.Resolve(in); err != nil || got != want {
				t.Errorf("%s: %s resolves to %q, %v; want %q", w.name, in, got, err, want)
			}
		}
	}
}

func TestDigestAndRead(t *testing.T) {
	for _, w := range worlds(t, false) {
		w.file("/f", "\xff\x00\r\n", 0o600)
		w.link("/l", "f")
		sha, size, err := w.Digest("/f")
		if err != nil || size != 4 || sha != "6375a1044d294c4efc761ce86b9c48d451d11bcf9ef4b586f56d833edb18f6da" {
			t.Errorf("%s: got %s, %d, %v", w.name, sha, size, err)
		}
		if _, _, err := w.Digest("/l"); err == nil {
			t.Errorf("%s: a symlink was followed", w.name)
		}
		if _, err := w.Read("/f", 3); err == nil {
			t.Errorf("%s: more than the limit was read", w.name)
		}
		if raw, err := w.Read("/f", 4); err != nil || string(raw) != "\xff\x00\r\n" {
			t.Errorf("%s: read %q, %v", w.name, raw, err)
		}
	}
}
