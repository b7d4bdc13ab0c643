// Command mutants shows that the golden cases of the resource types hold: it flips one comparison after the other in
// the code that decides, runs the type's tests on each, and names the ones that no test noticed.
//
//	go run ./tools/mutants            every type
//	go run ./tools/mutants file env   these
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// files are those that decide, by folder.
var files = map[string][]string{
	"package":        {"observe.go", "diff.go"},
	"file":           {"observe.go", "diff.go"},
	"directory":      {"observe.go", "diff.go"},
	"systemd_unit":   {"observe.go", "states.go", "names.go", "diff.go", "decide.go", "apply.go"},
	"env":            {"observe.go", "diff.go"},
	"command":        {"observe.go", "diff.go", "apply.go"},
	"symlink":        {"observe.go", "diff.go"},
	"group":          {"observe.go", "diff.go", "apply.go"},
	"user":           {"observe.go", "diff.go", "apply.go"},
	"line":           {"observe.go", "diff.go"},
	"internal/place": {"place.go", "diff.go"},
}

// tests are the packages whose cases a folder answers to.
func tests(folder string) []string {
	if folder == "internal/place" {
		return []string{"./file", "./directory", "./env", "./symlink"}
	}
	return []string{"./" + folder}
}

func main() {
	root := flag.String("root", ".", "the repository")
	jobs := flag.Int("j", 2, "mutants to try at once")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 {
		for folder := range files {
			chosen = append(chosen, folder)
		}
	}
	plugins := filepath.Join(*root, "plugins")
	var all []mutant
	for _, folder := range chosen {
		if files[folder] == nil {
			fmt.Fprintf(os.Stderr, "mutants: there is no %s\n", folder)
			os.Exit(64)
		}
		for _, file := range files[folder] {
			found, err := mutantsOf(plugins, folder, file)
			if err != nil {
				fmt.Fprintln(os.Stderr, "mutants:", err)
				os.Exit(1)
			}
			all = append(all, found...)
		}
	}
	survived, err := try(plugins, all, *jobs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	for _, m := range survived {
		fmt.Printf("no case fails: plugins/%s/%s:%d: %s\n", m.folder, m.file, m.line, m.what)
	}
	fmt.Printf("%d of %d mutants were noticed\n", len(all)-len(survived), len(all))
	if len(survived) > 0 {
		os.Exit(1)
	}
}

// try runs the tests on each mutant and gives those that survived.
func try(plugins string, all []mutant, jobs int) ([]mutant, error) {
	plugins, err := filepath.Abs(plugins)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	survived := make([]bool, len(all))
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, jobs))
	for i, m := range all {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			survived[i], errs[i] = m.survives(plugins, filepath.Join(scratch, fmt.Sprint(i)))
		})
	}
	wg.Wait()
	var list []mutant
	for i, m := range all {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if survived[i] {
			list = append(list, m)
		}
	}
	return list, nil
}

// survives runs the tests with the mutant in the place of its file. A mutant that does not compile says nothing of the
// cases, so it is an error of this program.
func (m mutant) survives(plugins, scratch string) (bool, error) {
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return false, err
	}
	mutated, overlay := filepath.Join(scratch, "mutant.go"), filepath.Join(scratch, "overlay.json")
	raw, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(plugins, m.folder, m.file): mutated}})
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(mutated, m.source, 0o644); err != nil {
		return false, err
	}
	if err := os.WriteFile(overlay, raw, 0o644); err != nil {
		return false, err
	}
	cmd := exec.Command("go", append([]string{"test", "-vet=off", "-timeout=60s", "-overlay=" + overlay}, tests(m.folder)...)...)
	cmd.Dir = plugins
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "[build failed]") {
		return false, fmt.Errorf("%s/%s:%d: %s does not compile:\n%s", m.folder, m.file, m.line, m.what, out)
	}
	return err == nil, nil
}
