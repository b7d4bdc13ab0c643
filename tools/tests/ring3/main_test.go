// Package ring3 proves on real hosts what no fake can: it runs the built program in a Debian with a real systemd, apt
// and dpkg, and looks at what became of the host. It knows the program's command line and its reports, and nothing of
// its code.
package ring3

import (
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
	if _, err := os.Stat(filepath.Join(repository(), "bin", "gyrum")); err != nil {
		fmt.Println("these tests run the built program: make build first:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
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
