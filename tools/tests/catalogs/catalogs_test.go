// Package catalogs tries what the authors of catalogs use beside gyrum, for real: the cue command, pre-commit, an
// unprivileged account.
package catalogs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// requireEnv, set to 1, makes a machine without pre-commit a failure instead of a notice.
const requireEnv = "GYRUM_REQUIRE_PRE_COMMIT"

// cue is the cue command of the version that tools requires, built once.
var cue string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "catalogs-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		cue = filepath.Join(dir, "cue")
		if out, err := exec.Command("go", "build", "-o", cue, "cuelang.org/go/cmd/cue").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "the cue command: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// repository is the root of this repository.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func gyrum(t *testing.T) string {
	program := filepath.Join(repository(t), "bin", "gyrum")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v; make build makes it", err)
	}
	return program
}

// result is what became of a command.
type result struct {
	code int
	out  string // both streams
}

// command runs a program in a folder. Its environment leads to no registry of CUE modules.
func command(t *testing.T, dir string, setup func(*exec.Cmd), args ...string) result {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CUE_REGISTRY=127.0.0.1:1", "CUE_CACHE_DIR="+t.TempDir(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"PRE_COMMIT_HOME="+filepath.Join(dir, "..", "pre-commit-home"), "PATH="+filepath.Dir(gyrum(t))+":"+os.Getenv("PATH"))
	if setup != nil {
		setup(cmd)
	}
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), string(out)}
}

func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	r := command(t, dir, nil, args...)
	if r.code != 0 {
		t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
	return r.out
}

// newCatalog makes a catalog in a folder that every account can read.
func newCatalog(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	for dir := top; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			break
		}
	}
	dir := filepath.Join(top, "catalog")
	must(t, top, gyrum(t), "init", dir, "--host", "web-1")
	return dir
}

func edit(t *testing.T, file, old, new string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(raw, []byte(old)) {
		t.Fatalf("%s has no %q: %v", file, old, err)
	}
	if err := os.WriteFile(file, bytes.Replace(raw, []byte(old), []byte(new), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestANewCatalogPassesAtOnce(t *testing.T) {
	dir := newCatalog(t)
	before := tree(t, dir)
	must(t, dir, cue, "vet", "-c", ".")
	must(t, dir, cue, "vet", "-c", "-d", "#Role", "gyrum.ai/cue:gyrum", "host-roles/hello.yaml")
	must(t, dir, gyrum(t), "validate")
	must(t, dir, gyrum(t), "lint")
	if out := must(t, dir, gyrum(t), "check", "--host", "web-1", "--no-cache"); !strings.Contains(out, "in sync: 2 resources") {
		t.Errorf("check: %s", out)
	}
	must(t, dir, "sh", "ci/check")
	if after := tree(t, dir); after != before {
		t.Errorf("looking at the catalog changed it:\n%s\nwas\n%s", after, before)
	}
}

func TestANewCatalogIsCheckedWithoutPrivileges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("the tests run without privileges already, so the test before this one has shown it")
		return
	}
	dir := newCatalog(t)
	before := tree(t, dir)
	nobody := func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Env = append(cmd.Env, "HOME=/nonexistent")
	}
	program := filepath.Join(t.TempDir(), "gyrum")
	for _, d := range []string{filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	must(t, dir, "cp", gyrum(t), program)
	for _, args := range [][]string{{"validate"}, {"check", "--host", "web-1"}, {"explain", "host", "web-1"}} {
		if r := command(t, dir, nobody, append([]string{program}, args...)...); r.code != 0 {
			t.Errorf("gyrum %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
		}
	}
	if after := tree(t, dir); after != before {
		t.Errorf("a check changed the catalog:\n%s\nwas\n%s", after, before)
	}
}

// Plain cue and gyrum refuse the same mistakes in a new catalog.
func TestANewCatalogIsJudgedByPlainCUE(t *testing.T) {
	for _, c := range []struct{ name, file, old, new, says string }{
		{"a role that is not there", "hosts/web-1.yaml", "[hello]", "[hallo]", "R1"},
		{"a role outside the closed list", "catalog.yaml", "[host, hello]", "[host]", "R2"},
		{"an unknown field", "host-roles/hello.yaml", "content:", "contents:", "contents"},
		{"a word that is none", "host-roles/hello.yaml", "state: absent", "state: gone", "present or absent"},
		{"a path with two owners", "host-roles/hello.yaml", "path: /etc/gyrum-hello", "path: /etc/", "R7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := newCatalog(t)
			edit(t, filepath.Join(dir, c.file), c.old, c.new)
			for _, args := range [][]string{{cue, "vet", "-c", "."}, {gyrum(t), "validate"}} {
				r := command(t, dir, nil, args...)
				if r.code != 1 || !strings.Contains(r.out, c.says) {
					t.Errorf("%s: exit code %d, want 1 and %q\n%s", strings.Join(args[1:], " "), r.code, c.says, r.out)
				}
			}
		})
	}
}

// The definitions that an older gyrum brought are replaced, and plain cue judges by the new ones.
func TestDefinitionsAreBroughtUpToDate(t *testing.T) {
	dir := newCatalog(t)
	for _, f := range []string{"cue.mod/pkg/gyrum.ai/cue/role.cue", "catalog.cue"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	if out := must(t, dir, gyrum(t), "init", "--update"); !strings.Contains(out, "updated catalog.cue\n") || !strings.Contains(out, "role.cue\n") {
		t.Errorf("update: %s", out)
	}
	must(t, dir, cue, "vet", "-c", ".")
}

// tree lists a folder's files with their sizes, modes and times of change.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, p, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
