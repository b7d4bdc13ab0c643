package scaffold

import (
	"errors"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// repository is a copy of the parts of the repository that a new type touches.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	const here = "../../../.."
	for _, dir := range []string{"cue", "docs/adr", "docs/types", "plugins/guest", "plugins/corpus", "plugins/internal"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(here, dir))); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile(filepath.Join(here, "plugins/go.mod"))
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(root, "plugins/go.mod"), mod, 0o644), os.Mkdir(filepath.Join(root, "engine"), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestWhatIsMadeWorks compiles a new type's modules and plays its cases.
func TestWhatIsMadeWorks(t *testing.T) {
	for _, name := range []string{"cron", "login_shell", "read"} { // one word, two, and a word of the files themselves
		root := repository(t)
		r, err := New(root, name, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"vet", "./" + name}, {"test", "./" + name}} {
			run(t, root, nil, args...)
		}
		for _, phase := range []string{"observe", "apply"} {
			run(t, root, []string{"GOOS=wasip1", "GOARCH=wasm"}, "vet", "./"+name+"/"+phase)
		}
		for file, want := range map[string]string{
			r.Record:               "Status: Draft · Date: 2026-12-01",
			"cue/role.cue":         ` | "` + name + `" | error(`,
			"cue/types.cue":        "\n\t" + name + ": {\n",
			"docs/adr/README.md":   "type " + name + " (draft)",
			"docs/types/README.md": "[" + name + "](" + name + ".md)",
		} {
			raw, err := os.ReadFile(filepath.Join(root, file))
			if err != nil || strings.Count(string(raw), want) != 1 {
				t.Errorf("%s does not hold %q once: %v", file, want, err)
			}
		}
		types, err := os.ReadFile(filepath.Join(root, "docs/types/README.md"))
		if err != nil || !strings.Contains(string(types), "\n\nThe first six appear") {
			t.Errorf("what follows the table has changed: %v", err)
		}
	}
}

func run(t *testing.T, root string, env []string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(root, "plugins")
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS="), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
}

// Every Go file is as gofmt wants it, wherever the name stands among the imports.
func TestWhatIsMadeIsFormatted(t *testing.T) {
	for _, name := range []string{"at", "guests", "zone", "int32", "apply", "a_long_name_that_a_type_may_just_have_yes"} {
		root := repository(t)
		r, err := New(root, name, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range r.Made {
			raw, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(file, ".go") {
				continue
			}
			if want, err := format.Source(raw); err != nil || string(want) != string(raw) {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// A name that the repository or the language needs is refused with the reason, and nothing is written.
func TestNamesThatAreReserved(t *testing.T) {
	root := repository(t)
	for name, want := range map[string]string{
		"guest": "plugins/guest is there and is not a type", "corpus": "is not a type", "internal": "a meaning of its own",
		"main": "a meaning of its own", "vendor": "a meaning of its own", "range": "a word of the Go language",
		"a_": "single underscores between", "a__b": "single underscores between", "x_mine": "types of catalogs",
	} {
		if _, err := New(root, name, now); !errors.Is(err, ErrName) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		for _, file := range []string{"plugins/" + name + "/plugin.cue", "docs/types/" + name + ".md"} {
			if _, err := os.Stat(filepath.Join(root, file)); err == nil {
				t.Errorf("%s: %s was written", name, file)
			}
		}
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	root := repository(t)
	for name, want := range map[string]error{"Cron": ErrName, "x_mine": ErrName, "c": ErrName, "a-b": ErrName, "../a": ErrName, "user": fs.ErrExist} {
		if _, err := New(root, name, now); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := New(t.TempDir(), "cron", now); !errors.Is(err, ErrNotHere) {
		t.Errorf("elsewhere: %v", err)
	}
	if _, err := New(root, "cron", now); err != nil {
		t.Fatal(err)
	}
	if _, err := New(root, "cron", now); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
}
