// Package ring3 proves on real hosts what no fake can: it runs the built program in a Debian with a real systemd, apt
// and dpkg, and looks at what became of the host. It knows the program's command line and its reports, and nothing of
// its code.
package ring3

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gyrum.ai/tools/tests/realhost"
)

func TestMain(m *testing.M) {
	if why := realhost.Missing(); why != "" {
		fmt.Println("skipped: the tests on real hosts:", why)
		if realhost.Required() {
			os.Exit(1)
		}
		return
	}
	os.Exit(run(m))
}

// program is a folder with a copy of the built program, so that a build meanwhile does not change what is tested.
// compiled is the cache folder that hosts share.
var program, compiled string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "gyrum-ring3-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	program, compiled = filepath.Join(dir, "program"), filepath.Join(dir, "compiled")
	binary, err := readRepository("bin/gyrum")
	if err != nil {
		err = fmt.Errorf("these tests run the built program: make build first: %w", err)
	}
	if err = errors.Join(err, os.Mkdir(program, 0o755), os.Mkdir(compiled, 0o700), os.WriteFile(filepath.Join(program, "gyrum"), binary, 0o755)); err != nil {
		fmt.Println(err)
		return 1
	}
	return m.Run()
}

// repository is the folder that holds go.work.
func repository() string {
	dir, err := os.Getwd()
	for err == nil && dir != "/" {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	panic("the tests are not run inside the repository")
}

// readRepository reads a file of the repository.
func readRepository(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(repository(), name))
}
