package manifest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gyrum.ai/engine/manifest"
)

func withSource(t *testing.T, source string) string {
	t.Helper()
	return one(t, "  - {type: file, path: /a, source: '"+source+"'}\n")
}

func TestSource(t *testing.T) {
	raw := []byte("\xff\x00\r\nno newline at the end")
	for _, name := range []string{"a.conf", "a..b.conf", "sub/a.conf", "..conf", "a b"} {
		dir := withSource(t, name)
		path := filepath.Join(dir, "host-roles/r/files", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		r := plan(t, dir).Resources[0]
		if !strings.Contains(string(r.Declared), `"sha256":"`+r.Content.SHA256+`","source":"`+name+`"`) || strings.Contains(string(r.View), "source") {
			t.Errorf("%s: declared %s, view %s", name, r.Declared, r.View)
		}
		if got, err := r.Content.Open(); err != nil || !bytes.Equal(got, raw) || r.Content.Size != int64(len(raw)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := os.WriteFile(path, append(raw, '!'), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Content.Open(); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("%s: opened although it changed: %v", name, err)
		}
	}
}

func TestSourceRefused(t *testing.T) {
	for _, c := range []struct {
		name, source string
		make         func(t *testing.T, dir, files string)
	}{
		{"missing", "x", nil},
		{"parent", "../x", nil},
		{"absolute", "/etc/hostname", nil},
		{"a detour that stays inside", "a/../x", func(t *testing.T, _, files string) { write(t, files+"/x", "x") }},
		{"a dot", "./x", func(t *testing.T, _, files string) { write(t, files+"/x", "x") }},
		{"a link out", "leak", func(t *testing.T, _, files string) { link(t, "/etc/hostname", files+"/leak") }},
		{"a relative link out", "leak", func(t *testing.T, dir, files string) {
			write(t, dir+"/host-roles/r/x", "x")
			link(t, "../x", files+"/leak")
		}},
		{"a folder that is a link out", "d/hostname", func(t *testing.T, _, files string) { link(t, "/etc", files+"/d") }},
		{"files is a link", "hostname", func(t *testing.T, _, files string) {
			if err := os.Remove(files); err != nil {
				t.Fatal(err)
			}
			link(t, "/etc", files)
		}},
		{"a link to itself", "l", func(t *testing.T, _, files string) { link(t, "l", files+"/l") }},
		{"a sibling folder", "../files-evil/x", func(t *testing.T, dir, _ string) { write(t, dir+"/host-roles/r/files-evil/x", "x") }},
		{"a folder", "d", func(t *testing.T, _, files string) { write(t, files+"/d/x", "x") }},
		{"a fifo", "p", func(t *testing.T, _, files string) {
			if err := syscall.Mkfifo(files+"/p", 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"too large", "big", func(t *testing.T, _, files string) { write(t, files+"/big", strings.Repeat("x", manifest.MaxSource+1)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := withSource(t, c.source)
			files := filepath.Join(dir, "host-roles/r/files")
			if err := os.MkdirAll(files, 0o755); err != nil {
				t.Fatal(err)
			}
			if c.make != nil {
				c.make(t, dir, files)
			}
			p, fs := open(t, dir).Host("t")
			if p != nil || len(fs) != 1 || fs[0].Rule != "R10" {
				t.Errorf("got %v", lines(fs))
			}
		})
	}
}

// A link inside the folder is a way to have one file under two names.
func TestSourceLinkInside(t *testing.T) {
	dir := withSource(t, "b")
	write(t, filepath.Join(dir, "host-roles/r/files/a"), "text")
	link(t, "a", filepath.Join(dir, "host-roles/r/files/b"))
	if got := plan(t, dir).Resources[0].Content.Size; got != 4 {
		t.Errorf("size %d", got)
	}
}

// A manifest is read through the catalog's root: no link leads a reader with root's rights out of it.
func TestManifestLinkOut(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.yaml")
	write(t, secret, "name: t\nroles: []\n")
	dir := catalog(t, map[string]string{"host-roles/r.yaml": "role: r\nversion: 1\nresources: []\n", "hosts/a.yaml": "name: a\nroles: []\n"})
	link(t, secret, filepath.Join(dir, "hosts/t.yaml"))
	if p, fs := open(t, dir).Host("t"); p != nil {
		t.Errorf("read: %v", lines(fs))
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}
