package catalogs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// preCommit says whether the real pre-commit is installed, and leaves the test out with one line where it is not.
func preCommit(t *testing.T) bool {
	t.Helper()
	if _, err := exec.LookPath("pre-commit"); err == nil {
		return true
	}
	if os.Getenv(requireEnv) == "1" {
		t.Fatal("pre-commit is not installed: apt-get install pre-commit")
	}
	fmt.Printf("left out: %s: pre-commit is not installed: apt-get install pre-commit\n", t.Name())
	return false
}

// commit makes a folder a git repository with everything in it committed, and gives the commit.
func commit(t *testing.T, dir string) string {
	t.Helper()
	must(t, dir, "git", "init", "-q", "-b", "main")
	must(t, dir, "git", "add", "-A")
	must(t, dir, "git", "commit", "-q", "-m", "begin")
	return strings.TrimSpace(must(t, dir, "git", "rev-parse", "HEAD"))
}

func TestTheHooksOfANewCatalog(t *testing.T) {
	if !preCommit(t) {
		return
	}
	dir := newCatalog(t)
	commit(t, dir)
	must(t, dir, "pre-commit", "validate-config")
	if out := must(t, dir, "pre-commit", "run", "--all-files"); !strings.Contains(out, "Passed") {
		t.Errorf("the hook did not run: %s", out)
	}
	// as people meet it: a commit that is refused
	must(t, dir, "pre-commit", "install")
	edit(t, filepath.Join(dir, "host-roles", "hello.yaml"), "state: absent", "state: Absent")
	must(t, dir, "git", "add", "-A")
	r := command(t, dir, nil, "git", "commit", "-m", "a mistake")
	if r.code == 0 || !strings.Contains(r.out, "host-roles/hello.yaml:") || !strings.Contains(r.out, "did you mean absent?") {
		t.Errorf("the commit of a mistake: exit code %d\n%s", r.code, r.out)
	}
	edit(t, filepath.Join(dir, "host-roles", "hello.yaml"), "state: Absent", "state: absent")
	edit(t, filepath.Join(dir, "host-roles", "hello.yaml"), "version: 1", "version: 2")
	must(t, dir, "git", "add", "-A")
	must(t, dir, "git", "commit", "-q", "-m", "no mistake")
	// a commit that only deletes
	must(t, dir, "git", "rm", "-q", "host-roles/hello.yaml")
	r = command(t, dir, nil, "git", "commit", "-m", "a role that a host has is gone")
	if r.code == 0 || !strings.Contains(r.out, "R1:") {
		t.Errorf("the commit of a deletion: exit code %d\n%s", r.code, r.out)
	}
}

// Catalogs of others name this repository and a revision of it; here it is a copy of the hooks in a repository of its own.
func TestTheHooksForCatalogsOfOthers(t *testing.T) {
	if !preCommit(t) {
		return
	}
	raw, err := os.ReadFile(filepath.Join(repository(t), ".pre-commit-hooks.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	must(t, repository(t), "pre-commit", "validate-manifest", ".pre-commit-hooks.yaml")
	hooks := filepath.Join(t.TempDir(), "hooks")
	if err := os.Mkdir(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooks, ".pre-commit-hooks.yaml"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	rev := commit(t, hooks)

	for _, c := range []struct{ name, sub, args string }{
		{"the catalog is the repository", "", ""},
		{"the catalog is a folder of the repository", "infra", "        args: [--catalog, infra]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "others")
			if err := os.Mkdir(top, 0o755); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(top, c.sub)
			must(t, top, gyrum(t), "init", dir, "--host", "web-1")
			var config strings.Builder
			fmt.Fprintf(&config, "repos:\n  - repo: %s\n    rev: %s\n    hooks:\n", hooks, rev)
			for _, id := range hookIDs(string(raw)) {
				fmt.Fprintf(&config, "      - id: %s\n%s", id, c.args)
			}
			if err := os.WriteFile(filepath.Join(top, ".pre-commit-config.yaml"), []byte(config.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			commit(t, top)
			out := must(t, top, "pre-commit", "run", "--all-files")
			if strings.Count(out, "Passed") != len(hookIDs(string(raw))) {
				t.Errorf("not every hook ran: %s", out)
			}
			edit(t, filepath.Join(dir, "hosts", "web-1.yaml"), "[hello]", "[hallo]")
			r := command(t, top, nil, "pre-commit", "run", "--all-files")
			if r.code == 0 || !strings.Contains(r.out, filepath.Join(c.sub, "hosts/web-1.yaml")+":3:9: R1:") {
				t.Errorf("a mistake: exit code %d\n%s", r.code, r.out)
			}
			must(t, top, "git", "checkout", "-q", ".")
			must(t, dir, "git", "rm", "-q", "host-roles/hello.yaml")
			r = command(t, top, nil, "pre-commit", "run")
			if strings.Count(r.out, "Failed") != len(hookIDs(string(raw))) {
				t.Errorf("a role that a host has is gone: exit code %d\n%s", r.code, r.out)
			}
		})
	}
}

// hookIDs lists the hooks of a manifest of hooks.
func hookIDs(raw string) []string {
	var out []string
	for line := range strings.Lines(raw) {
		if id, ok := strings.CutPrefix(line, "- id: "); ok {
			out = append(out, strings.TrimSpace(id))
		}
	}
	return out
}

// The hooks for work on gyrum itself pass on what is committed, and refuse what they are for.
func TestTheHooksOfThisRepository(t *testing.T) {
	if !preCommit(t) {
		return
	}
	config, err := os.ReadFile(filepath.Join(repository(t), ".pre-commit-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "clone")
	must(t, filepath.Dir(dir), "git", "-c", "safe.directory=*", "clone", "-q", repository(t), dir)
	if err := os.WriteFile(filepath.Join(dir, ".pre-commit-config.yaml"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "git", "add", "-A")
	out := must(t, dir, "pre-commit", "run", "--all-files")
	if strings.Contains(out, "Skipped") || !strings.Contains(out, "Passed") {
		t.Errorf("not every hook ran: %s", out)
	}
	must(t, dir, "git", "commit", "-q", "-m", "the hooks", "--allow-empty")
	for hook, file := range map[string]string{"lint": "host-roles/gyrum-prober.yaml", "generated": "schemas/host.v1.json"} {
		must(t, dir, "git", "rm", "-q", file)
		if r := command(t, dir, nil, "pre-commit", "run", hook); r.code == 0 {
			t.Errorf("%s let a commit pass that deletes %s\n%s", hook, file, r.out)
		}
		must(t, dir, "git", "reset", "-q", "--hard")
	}
	for _, c := range []struct{ hook, file, old, new string }{
		{"gofmt", "cmd/gyrum/new.go", "package main", "package package"},
		{"gofmt", "cmd/gyrum/main.go", "func main() {", "func  main() {"},
		{"generated", "cue/role.cue", "// The role's name;", "// The name of the role;"},
		{"lint", "hosts/example.yaml", "[gyrum-prober]", "[gyrum-prorber]"},
	} {
		edit(t, filepath.Join(dir, c.file), c.old, c.new)
		if r := command(t, dir, nil, "pre-commit", "run", "--all-files", c.hook); r.code == 0 {
			t.Errorf("%s let %q in %s pass\n%s", c.hook, c.new, c.file, r.out)
		}
	}
}
