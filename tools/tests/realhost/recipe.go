package realhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Recipe says what a root file system is made of. Equal recipes share one folder in the cache.
type Recipe struct {
	// Suite is the Debian release.
	Suite string
	// Include lists the Debian packages beside debootstrap's minimal set.
	Include []string
	// Packages are made on the spot and offered by the local apt repository at /srv/repo.
	Packages []Deb
	// Archive lists Debian's own packages that the repository offers too, with all that they depend on or recommend. They
	// are fetched once, when the root is built, so that hosts need no network for them.
	Archive []string `json:",omitempty"`
}

// Base is the recipe of the hosts of the tests: a bare Debian with systemd, and what tests look into it with.
func Base() Recipe {
	return Recipe{
		Suite:    "bookworm",
		Include:  []string{"systemd", "systemd-sysv", "dbus", "libpam-systemd", "strace", "attr", "acl", "e2fsprogs", "procps", "libnss-extrausers"},
		Packages: standardPackages(),
	}
}

// layout counts changes of furnish that a recipe does not show.
const layout = 1

// repoDir is the local apt repository inside a host.
const repoDir = "/srv/repo"

func digest(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // a recipe is strings all through
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:6])
}

// Build gives the folder of the recipe's root file system, and builds it where it is missing: the first time that
// takes a minute or two and needs a Debian mirror. Concurrent calls, also of other processes, wait for each other.
func (r Recipe) Build(ctx context.Context) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	bare := filepath.Join(cache, "bare-"+digest([]any{r.Suite, r.Include}))
	if err := once(bare, func(dir string) error { return r.bootstrap(ctx, dir) }); err != nil {
		return "", err
	}
	root := filepath.Join(cache, "root-"+digest([]any{layout, r}))
	return root, once(root, func(dir string) error { return r.furnish(ctx, bare, dir) })
}

// once makes dir by build, under another name until it is complete.
func once(dir string, build func(dir string) error) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	if err := build(part); err != nil {
		return err
	}
	return os.Rename(part, dir)
}

func (r Recipe) bootstrap(ctx context.Context, dir string) error {
	fmt.Fprintf(os.Stderr, "realhost: building the root file system of the test hosts once (a minute or two): %s\n", dir)
	args := []string{"--variant=minbase", "--include=" + strings.Join(r.Include, ","), r.Suite, dir}
	if mirror := os.Getenv(MirrorEnv); mirror != "" {
		args = append(args, mirror)
	}
	if err := run(ctx, "debootstrap", args...); err != nil {
		return err
	}
	// What debootstrap fetched is installed: the archives would only be copied along.
	return run(ctx, "chroot", dir, "apt-get", "clean")
}

// furnish copies the bare system and adds what a test host has: the local repository, no network sources, and a dpkg
// that does not wait for the disk.
func (r Recipe) furnish(ctx context.Context, bare, dir string) error {
	if err := run(ctx, "cp", "-a", "--reflink=auto", bare, dir); err != nil {
		return err
	}
	repo := filepath.Join(dir, repoDir)
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	if err := fetch(ctx, dir, r.Archive); err != nil {
		return err
	}
	if err := writeRepository(ctx, repo, r.Packages); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"etc/apt/sources.list":                    "deb [trusted=yes] file:" + repoDir + " ./\n",
		"etc/dpkg/dpkg.cfg.d/test-host":           "force-unsafe-io\n",
		"etc/resolv.conf":                         "",
		"etc/systemd/system.conf.d/timeouts.conf": "[Manager]\nDefaultTimeoutStartSec=20s\nDefaultTimeoutStopSec=10s\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	// A hostname file of the root would win over the host's own name.
	for _, name := range []string{"etc/hostname", "var/lib/apt/lists"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return run(ctx, "chroot", dir, "apt-get", "update", "-qq")
}

// fetch downloads packages from where the bare system came from, with what they need, into the repository.
func fetch(ctx context.Context, dir string, packages []string) error {
	if len(packages) == 0 {
		return nil
	}
	fmt.Fprintf(os.Stderr, "realhost: fetching %s and what they need, once\n", strings.Join(packages, ", "))
	if err := run(ctx, "chroot", dir, "apt-get", "update", "-qq"); err != nil {
		return err
	}
	// The image of a container may tell apt to throw archives away; the option is about this folder alone.
	get := append([]string{dir, "apt-get", "install", "-y", "-qq", "--download-only", "-o", "APT::Sandbox::User=root", "-o", "Dir::Cache::archives=" + repoDir}, packages...)
	if err := run(ctx, "chroot", get...); err != nil {
		return err
	}
	for _, leftover := range []string{"partial", "lock"} {
		if err := os.RemoveAll(filepath.Join(dir, repoDir, leftover)); err != nil {
			return err
		}
	}
	return nil
}

// run executes a program to its end; the error carries the last of what it printed.
func run(ctx context.Context, name string, args ...string) error {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, tail(out.Bytes(), 2000))
	}
	return nil
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
