// Package realhost boots real Debian hosts, with a real systemd, apt and dpkg, for tests that no fake can stand for.
// A host is up in about two seconds and is thrown away afterwards.
//
// The root file system is built once by debootstrap and kept in a cache folder outside the repository; a host is an
// overlay over it, booted by systemd-nspawn in a mount namespace, a cgroup and a network of its own. Nothing of the
// machine that runs the tests changes but that cache folder.
//
// It knows nothing of gyrum's packages: a test hands it the built program and reads what the program prints.
package realhost

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// T is what the helper needs of a test: testing.TB is one, and a program can be another.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	// Cleanup registers what is called when the test ends, the last first.
	Cleanup(func())
	// TempDir is a new folder that ends with the test.
	TempDir() string
}

// The environment variables that the helper heeds.
const (
	// CacheEnv names the folder for root file systems and running hosts. It must lie on a file system that can be
	// the upper layer of an overlay: ext4, xfs, btrfs and tmpfs can, another overlay cannot.
	CacheEnv = "GYRUM_HOSTS"
	// MirrorEnv names the Debian mirror that debootstrap takes; empty leaves the choice to debootstrap.
	MirrorEnv = "GYRUM_DEBIAN_MIRROR"
	// RequireEnv, set to 1, makes a machine that cannot boot hosts a failure instead of a notice.
	RequireEnv = "GYRUM_REQUIRE_RING3"
)

// programs are what the helper calls, with the Debian package that brings each.
var programs = [][2]string{
	{"debootstrap", "debootstrap"},
	{"systemd-nspawn", "systemd-container"},
	{"dpkg-deb", "dpkg"},
	{"unshare", "util-linux"},
	{"nsenter", "util-linux"},
	{"mount", "mount"},
}

// Missing says in one line why this machine cannot boot hosts, and what to do about it; empty when it can.
func Missing() string {
	var names, packages []string
	for _, p := range programs {
		if _, err := exec.LookPath(p[0]); err != nil {
			names = append(names, p[0])
			packages = append(packages, p[1])
		}
	}
	switch {
	case os.Geteuid() != 0:
		return "real hosts are booted by root only: run the tests as root"
	case len(names) > 0:
		return fmt.Sprintf("%s not found: apt-get install %s", strings.Join(names, ", "), strings.Join(packages, " "))
	}
	return ""
}

// Required says whether the environment asks for a failure where hosts cannot be booted.
func Required() bool { return os.Getenv(RequireEnv) == "1" }

// CacheDir is where root file systems and running hosts stand.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: set %s: %w", CacheEnv, err)
	}
	return filepath.Join(dir, "gyrum-hosts"), nil
}
