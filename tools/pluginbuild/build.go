package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// flags make the module the same bytes wherever it is built: no paths, no version control, no build id.
var flags = []string{"-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="}

// settledBy are the files, from the folder of the sources, that say what settling makes of a module: the rules here, and what a
// guest is told by the engine when it starts.
var settledBy = []string{
	"../tools/pluginbuild/settle.go", "../engine/plugin/started.go", "../engine/plugin/wasi.go", "../engine/plugin/limits.go",
}

// module is one wasm file to build.
type module struct {
	Type  string
	Phase string
	// key covers everything that the bytes depend on.
	key string
	// sum is the sha256 of the file, in hexadecimal.
	sum string
}

func (m *module) file() string { return m.Type + "." + m.Phase + ".wasm" }

// build is one run.
type build struct {
	plugins string // the folder of the sources
	dist    string
	state   string // what was built from what, beside the other caches
	version string
	types   []*manifest
	modules []*module
	built   int
}

func newBuild(root string) (*build, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	b := &build{
		plugins: filepath.Join(root, "plugins"),
		dist:    filepath.Join(root, "plugins", "dist"),
		state:   filepath.Join(root, ".cache", "pluginbuild.json"),
	}
	out, err := b.goTool("env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	b.version = strings.TrimSpace(string(out))
	if b.types, err = manifests(b.plugins); err != nil {
		return nil, err
	}
	shared, err := b.digest("go.mod", "guest", "internal")
	if err != nil {
		return nil, err
	}
	settling, err := b.digest(settledBy...)
	if err != nil {
		return nil, err
	}
	for _, t := range b.types {
		own, err := b.digest(t.Type)
		if err != nil {
			return nil, err
		}
		for _, phase := range []string{"observe", "apply"} {
			key := sha256.Sum256([]byte(strings.Join(append([]string{b.version, shared, own, phase, settling}, flags...), "\x00")))
			b.modules = append(b.modules, &module{Type: t.Type, Phase: phase, key: hex.EncodeToString(key[:])})
		}
	}
	return b, nil
}

// goTool runs the go command for the sandbox, untouched by what the caller's environment or go.work says.
func (b *build) goTool(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = b.plugins
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=", "GOWASM=", "GOEXPERIMENT=", "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// digest covers the names and contents of the sources below some paths.
func (b *build) digest(paths ...string) (string, error) {
	var files []string
	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(b.plugins, p), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			name := d.Name()
			if !d.IsDir() && !strings.HasSuffix(name, "_test.go") && (strings.HasSuffix(name, ".go") || name == "go.mod" || name == "plugin.cue") {
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	sort.Strings(files)
	h := sha256.New()
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		name, err := filepath.Rel(b.plugins, f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(content), content)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// run builds what is out of date: what was made from other sources, or is no longer what was made.
func (b *build) run(jobs int, fresh bool) error {
	for _, dir := range []string{b.dist, filepath.Dir(b.state)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	made := b.made()
	var due []*module
	for _, m := range b.modules {
		sum, err := sumOf(filepath.Join(b.dist, m.file()))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if m.sum = sum; fresh || sum == "" || made[m.key] != sum {
			due = append(due, m)
		}
	}
	b.built = len(due)
	errs := make([]error, len(due))
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, jobs))
	for i, m := range due {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = b.module(m)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := b.imports(); err != nil {
		return err
	}
	if err := b.export(); err != nil {
		return err
	}
	return b.remember()
}

// module builds one module elsewhere and moves it into its place, so that nobody embeds half of one.
func (b *build) module(m *module) error {
	scratch, err := os.MkdirTemp(filepath.Dir(b.state), "module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	part := filepath.Join(scratch, m.file())
	args := append([]string{"build"}, flags...)
	if _, err := b.goTool(append(args, "-o", part, "./"+m.Type+"/"+m.Phase)...); err != nil {
		return err
	}
	raw, err := os.ReadFile(part)
	if err == nil {
		raw, err = settle(raw)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", m.file(), err)
	}
	if err := errors.Join(os.WriteFile(part, raw, 0o644), os.Chmod(part, 0o644)); err != nil {
		return err
	}
	sum, err := sumOf(part)
	if err != nil {
		return err
	}
	m.sum = sum
	return os.Rename(part, filepath.Join(b.dist, m.file()))
}

// made tells of each key what was built from it, as far as that is remembered.
func (b *build) made() map[string]string {
	made := map[string]string{}
	if raw, err := os.ReadFile(b.state); err == nil && json.Unmarshal(raw, &made) != nil {
		return map[string]string{}
	}
	return made
}

func (b *build) remember() error {
	made := map[string]string{}
	for _, m := range b.modules {
		made[m.key] = m.sum
	}
	raw, err := json.MarshalIndent(made, "", "\t")
	if err != nil {
		return err
	}
	return b.writeIfOther(b.state, append(raw, '\n'))
}
