package manifest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The revision is dirty by what the host uses, and by nothing else; a repository of another user is read as well.
func TestRevision(t *testing.T) {
	dir := catalog(t, map[string]string{
		"hosts/t.yaml": "name: t\nroles: [r]\n", "hosts/u.yaml": "name: u\nroles: []\n",
		"host-roles/r.yaml": "role: r\nversion: 1\nresources:\n  - {type: file, path: /a, source: a}\n", "host-roles/r/files/a": "a",
	})
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "x")
	head := git("rev-parse", "HEAD")
	want := func(what, revision string) {
		t.Helper()
		if got := plan(t, dir).Revision; got != revision {
			t.Errorf("%s: %s, want %s", what, got, revision)
		}
	}
	want("as committed", head)
	if os.Getuid() == 0 {
		if err := os.Chown(filepath.Join(dir, ".git"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		want("of another user", head)
		if err := os.Chown(filepath.Join(dir, ".git"), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "hosts/u.yaml"), "name: u\nroles: [r]\n")
	write(t, filepath.Join(dir, "README"), "x")
	want("another host", head)
	for name, text := range map[string]string{"host-roles/r/files/a": "b", "host-roles/r.yaml": "role: r\nversion: 2\nresources: []\n", "catalog.yaml": "roles: [r]\n", "host-roles/host.yaml": "role: host\nversion: 1\nresources: []\n"} {
		path := filepath.Join(dir, name)
		saved, err := os.ReadFile(path)
		write(t, path, text)
		want(name+" changed", head+"+dirty")
		if name != "catalog.yaml" && name != "host-roles/host.yaml" {
			git("add", name)
			want(name+" staged", head+"+dirty")
			git("reset", "-q")
		}
		if err != nil {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, path, string(saved))
		}
		want(name+" restored", head)
	}
}
