package realhost

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cgroupMount finds where the machine shows its unified cgroup hierarchy; empty where it does not.
func cgroupMount() string {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		if !ok || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		if fields := strings.Fields(before); len(fields) > 4 {
			return fields[4]
		}
	}
	return ""
}

// cgroupDir is the folder of a host's cgroup, beneath the one of this process.
func cgroupDir(name string) string {
	mount := cgroupMount()
	if mount == "" {
		return ""
	}
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return filepath.Join(mount, own, cgroupName(name))
		}
	}
	return ""
}

// removeCgroup ends what is left in a host's cgroup and removes it. Without a visible hierarchy there is nothing to
// remove it from; the kernel then drops it with the last mount.
func removeCgroup(name string) error {
	dir := cgroupDir(name)
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// cgroup.kill reaches children too; kernels before 5.14 have none, and the process namespace did the work there.
	_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
	var err error
	for deadline := time.Now().Add(endTimeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = removeTree(dir); err == nil {
			return nil
		}
	}
	return fmt.Errorf("remove the cgroup of host %s: %w", name, err)
}

// removeTree removes a cgroup and those beneath it: only their folders can be removed, deepest first.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeTree(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}

// sweep removes what hosts of test processes left behind that were killed: their cgroups, folders and networks. A host
// whose maker still runs is not touched. What cannot be removed now is tried again by the next host.
func sweep(cache string) {
	for _, name := range leftovers(filepath.Join(cache, "run"), "") {
		if removeCgroup(name) == nil {
			_ = os.RemoveAll(filepath.Join(cache, "run", name))
		}
	}
	for _, name := range leftovers(netnsDir, testPrefix) {
		_ = ip("netns", "delete", testPrefix+name)
	}
}

// testPrefix marks what the helper makes outside its cache folder.
const testPrefix = "gyrum-test-"

// leftovers lists the names in a folder, less the prefix, whose maker has ended. A name is a letter, its maker's
// process id, a dash and a number.
func leftovers(dir, prefix string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), prefix)
		digits, _, ok := strings.Cut(strings.TrimLeft(name, "hn"), "-")
		if pid, err := strconv.Atoi(digits); ours && ok && err == nil && !alive(pid) {
			names = append(names, name)
		}
	}
	return names
}

func alive(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}
