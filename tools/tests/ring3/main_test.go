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
var program string

func run(m *testing.M) int {
	binary, err := readRepository("bin/gyrum")
	if err != nil {
		fmt.Println("these tests run the built program: make build first:", err)
		return 1
	}
	if program, err = os.MkdirTemp("", "gyrum-program-"); err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(program)
	// The folder is a host's root's as well, and others in the host run the program too.
	if err := errors.Join(os.Chmod(program, 0o755), os.WriteFile(filepath.Join(program, "gyrum"), binary, 0o755)); err != nil {
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
