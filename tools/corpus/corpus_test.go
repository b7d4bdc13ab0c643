// Package corpus holds plain `cue vet` and gyrum's own reader to the same verdicts: every file under cue/testdata is
// judged by both, and what each says is kept beside it, for a reader to check by eye.
package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	cuecmd "cuelang.org/go/cmd/cue/cmd"
	cueerrors "cuelang.org/go/cue/errors"
	"github.com/rogpeppe/go-internal/txtar"

	"gyrum.ai/engine/manifest"
)

var update = flag.Bool("update", false, "write what both say into the .want files")

// repository is the root of the repository; tests change the working directory.
var repository = func() string {
	root, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return root
}()

// catalogRules are those that need more than one file, so that `cue vet -d '#Role'` on one file does not see them.
var catalogRules = []string{"R1-", "R2-", "R3-", "R4-", "R5-", "R6-", "R7-", "R8-", "R9-unknown-id"}

// unseen are the mistakes that plain CUE does not see, as docs and catalog.cue say: what YAML resolves before CUE
// (R12) and what lies behind a source (R10).
var unseen = []string{"R10-source-", "R12-"}

func TestBad(t *testing.T) {
	for _, file := range cases(t, "bad") {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, file)
			ours, theirs := gyrum(t, dir), vet(t, dir, "-c", ".")
			compare(t, file, ours, theirs)
			if len(ours) == 0 {
				t.Error("gyrum validate accepts it")
			}
			if len(theirs) == 0 && !hasPrefix(name, unseen) {
				t.Error("cue vet accepts it")
			}
			printed := ours
			if !hasPrefix(name, unseen) { // CUE's YAML reader names an anchor that there is not
				printed = slices.Concat(ours, theirs)
			}
			for _, line := range printed {
				if strings.Contains(line, "hunter2-corpus") {
					t.Errorf("a secret is printed: %s", line)
				}
			}
			rule, _, _ := strings.Cut(name, "-")
			if len(rule) > 1 && rule[0] == 'R' && len(ours) > 0 && !strings.Contains(strings.Join(ours, "\n"), ": "+rule+": ") {
				t.Errorf("gyrum validate does not name the rule %s", rule)
			}
			if filepath.Ext(file) == ".yaml" && !hasPrefix(name, catalogRules) && !hasPrefix(name, unseen) {
				if alone := vetOne(t, file); len(alone) == 0 {
					t.Error("cue vet -d '#Role' accepts it")
				}
			}
		})
	}
}

func TestGood(t *testing.T) {
	for _, file := range cases(t, "good") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir := unpack(t, file)
			for _, line := range gyrum(t, dir) {
				t.Errorf("gyrum validate: %s", line)
			}
			for _, line := range vet(t, dir, "-c", ".") {
				t.Errorf("cue vet: %s", line)
			}
			if filepath.Ext(file) == ".yaml" {
				for _, line := range vetOne(t, file) {
					t.Errorf("cue vet -d '#Role': %s", line)
				}
			}
		})
	}
}

// The repository is itself a catalog.
func TestThisCatalog(t *testing.T) {
	for _, line := range gyrum(t, repository) {
		t.Errorf("gyrum validate: %s", line)
	}
	for _, line := range vet(t, repository, "-c", ".") {
		t.Errorf("cue vet: %s", line)
	}
}

// There are enough mistakes for the corpus to mean something.
func TestSize(t *testing.T) {
	if n := len(cases(t, "bad")); n < 80 {
		t.Errorf("%d bad cases; 80 are wanted", n)
	}
	seen := map[string]bool{}
	for _, file := range cases(t, "bad") {
		rule, _, _ := strings.Cut(filepath.Base(file), "-")
		seen[rule] = true
	}
	for _, rule := range []string{"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13"} {
		if !seen[rule] {
			t.Errorf("no bad case for %s", rule)
		}
	}
}

// cases lists the .yaml and .txtar files of a folder.
func cases(t *testing.T, kind string) []string {
	t.Helper()
	dir := filepath.Join(repository, "cue/testdata", kind)
	var out []string
	for _, ext := range []string{"*.yaml", "*.txtar"} {
		files, err := filepath.Glob(filepath.Join(dir, ext))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, files...)
	}
	if len(out) == 0 {
		t.Fatalf("no cases in %s", dir)
	}
	return out
}

// unpack makes a catalog of a case, with the definitions vendored as a catalog of others has them. A .yaml is the
// manifest of the role t, which the host t carries; a .txtar is a whole catalog.
func unpack(t *testing.T, file string) string {
	t.Helper()
	dir := t.TempDir()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(file) == ".txtar" {
		for _, f := range txtar.Parse(raw).Files {
			write(t, filepath.Join(dir, f.Name), f.Data)
		}
	} else {
		write(t, filepath.Join(dir, "host-roles/t.yaml"), raw)
		write(t, filepath.Join(dir, "hosts/t.yaml"), []byte("name: t\nroles: [t]\n"))
		write(t, filepath.Join(dir, "catalog.yaml"), []byte("roles: [t]\n"))
	}
	vendor(t, dir)
	return dir
}

// vendor puts catalog.cue and the definitions into a catalog, as `gyrum init` does.
func vendor(t *testing.T, dir string) {
	t.Helper()
	rule, err := os.ReadFile(filepath.Join(repository, "catalog.cue"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "catalog.cue"), rule)
	write(t, filepath.Join(dir, "cue.mod/module.cue"), []byte("module: \"catalog.local\"\nlanguage: version: \"v0.17.0\"\n"))
	files, err := filepath.Glob(filepath.Join(repository, "cue/*.cue"))
	if err != nil || len(files) == 0 {
		t.Fatal("no definitions", err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "cue.mod/pkg/gyrum.ai/cue", filepath.Base(f)), raw)
	}
}

func write(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// gyrum gives the findings of a catalog, a line each.
func gyrum(t *testing.T, dir string) []string {
	t.Helper()
	c, err := manifest.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out []string
	for _, f := range c.Validate() {
		out = append(out, f.String())
	}
	return out
}

// vet runs `cue vet` in a folder and gives its messages without the positions below them.
func vet(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	t.Chdir(dir)
	var out bytes.Buffer
	c, err := cuecmd.New(append([]string{"vet"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	c.SetOut(&out)
	c.SetErr(&out)
	err = c.Run(context.Background())
	if err == nil {
		return nil
	}
	if !errors.Is(err, cuecmd.ErrPrintedError) {
		cueerrors.Print(&out, err, &cueerrors.Config{Cwd: dir, ToSlash: true})
	}
	if catalog := slices.Contains(args, "."); catalog || filepath.Base(args[len(args)-1]) != notAMapping {
		brief(t, out.String(), catalog)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "    ") {
			lines = append(lines, strings.TrimSuffix(line, ":"))
		}
	}
	if len(lines) == 0 {
		t.Fatalf("cue vet failed without a message: %v", err)
	}
	return lines
}

// namesFile and namesRule are what every message of cue vet has: the file, where a whole catalog is judged, and the rule.
var (
	namesFile = regexp.MustCompile(`(host-roles|hosts)/|catalog\.yaml`)
	namesRule = regexp.MustCompile(`R[0-9]+: |(unknown|missing)-field: |wrong-(type|value): |fields: |syntax: |@embed: `)
	// one file by itself is closed and required by CUE's own words, and its YAML reader speaks for itself
	namesRuleAlone = regexp.MustCompile(namesRule.String() + `|field not allowed|field is required but not present|\.yaml:[0-9]+: `)
)

// notAMapping is a file that is no mapping at all, of which cue vet -d says so in its own words.
const notAMapping = "role-is-a-list.yaml"

// brief holds a message of cue vet to a line that names the file and the rule, and one more with a position. What its YAML
// reader says before any rule of ours is left as it is.
func brief(t *testing.T, out string, catalog bool) {
	t.Helper()
	message, positions := "", 0
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "    ") {
			message, positions = line, 0
			if !strings.Contains(message, "@embed: ") && catalog && !namesFile.MatchString(message) {
				t.Errorf("cue vet names no file: %s", message)
			}
			if catalog && !namesRule.MatchString(message) || !namesRuleAlone.MatchString(message) {
				t.Errorf("cue vet names no rule: %s", message)
			}
			continue
		}
		if positions++; positions > 1 && !strings.Contains(message, "@embed: ") {
			t.Errorf("cue vet needs more than two lines: %s%s", message, line)
		}
	}
}

// vetOne runs the form for one file.
func vetOne(t *testing.T, file string) []string {
	t.Helper()
	return vet(t, repository, "-c", "-d", "#Role", "./cue", file)
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// compare holds what both say against the .want file.
func compare(t *testing.T, file string, ours, theirs []string) {
	t.Helper()
	var b strings.Builder
	for _, line := range ours {
		b.WriteString("gyrum: " + line + "\n")
	}
	for _, line := range theirs {
		b.WriteString("cue: " + line + "\n")
	}
	want := strings.TrimSuffix(file, filepath.Ext(file)) + ".want"
	if *update {
		write(t, want, []byte(b.String()))
		return
	}
	have, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("got\n%swant (%s)\n%s", b.String(), filepath.Base(want), have)
	}
}
