package realhost

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Entry is what a snapshot keeps of one name. Two equal entries mean that nobody wrote to it, changed its metadata or
// put another inode in its place. The access time is left out: reading is no change.
type Entry struct {
	Inode        uint64
	Mode         fs.FileMode
	UID, GID     uint32
	MTime, CTime syscall.Timespec
	// SHA256 is the digest of a regular file's content, Target where a symlink points.
	SHA256, Target string
}

// Snapshot is the state of file trees of a host at one moment, by path inside.
type Snapshot map[string]Entry

// Snapshot records whole trees, across mounts. A root that does not exist is recorded as such by its absence.
func (h *Host) Snapshot(roots ...string) Snapshot {
	h.t.Helper()
	inside := fmt.Sprintf("/proc/%d/root", h.machine.leader)
	snapshot := Snapshot{}
	for _, root := range roots {
		err := filepath.WalkDir(inside+root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				// What vanishes during the walk is missing from the snapshot, and so shows in the comparison.
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			entry, err := describe(path)
			if os.IsNotExist(err) {
				return nil
			}
			snapshot[strings.TrimPrefix(path, inside)] = entry
			return err
		})
		if err != nil {
			h.t.Fatalf("snapshot %s: %v", root, err)
		}
	}
	return snapshot
}

func describe(path string) (Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	e := Entry{Inode: stat.Ino, Mode: info.Mode(), UID: stat.Uid, GID: stat.Gid, MTime: stat.Mtim, CTime: stat.Ctim}
	switch {
	case info.Mode().IsRegular():
		e.SHA256, err = fileDigest(path)
	case info.Mode()&fs.ModeSymlink != 0:
		e.Target, err = os.Readlink(path)
	}
	return e, err
}

func fileDigest(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Changes lists what differs between two snapshots, one line a path, sorted; empty when nothing does.
func (s Snapshot) Changes(later Snapshot) []string {
	paths := map[string]bool{}
	for path := range s {
		paths[path] = true
	}
	for path := range later {
		paths[path] = true
	}
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		before, was := s[path]
		after, is := later[path]
		switch {
		case !is:
			lines = append(lines, path+": gone")
		case !was:
			lines = append(lines, path+": new")
		case before != after:
			lines = append(lines, fmt.Sprintf("%s: %+v became %+v", path, before, after))
		}
	}
	return lines
}
