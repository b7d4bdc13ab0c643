package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// KernelLock is the Locker of a real host: an open file description lock (fcntl(2), F_OFD_SETLK). The kernel releases it
// with the last descriptor, however the process ends, and unlike flock(2) it can be asked for without being taken, so
// that a check never gets in the way of an apply that begins.
type KernelLock struct{}

// Lock implements Locker. The file stays when the lock is released: removing it would let two owners lock two files of
// one name. Since people remove lock files all the same, the folder is locked too (flock(2), where the file system can).
func (KernelLock) Lock(path string, owner Owner) (func() error, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, lockedBy(path, f)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	folder, err := lockFolder(filepath.Dir(path))
	if err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, &LockedError{Path: path, Removed: true}
		}
		return nil, fmt.Errorf("lock: %w", err)
	}
	line, err := json.Marshal(owner)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(line, '\n'), 0)
	}
	if err != nil {
		f.Close()
		folder.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() error {
		// The next owner is not to be taken for this one in the moment before it writes its own record.
		return errors.Join(f.Truncate(0), f.Close(), folder.Close())
	}, nil
}

// lockFolder locks a folder until it is closed. A file system that cannot lock folders, such as NFS, does without.
func lockFolder(dir string) (*os.File, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

// Peek implements Peeker.
func (KernelLock) Peek(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer f.Close()
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &whole); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	if whole.Type == unix.F_UNLCK {
		return nil
	}
	return lockedBy(path, f)
}

// introduction is how long an owner gets to say who it is once it has the lock.
const introduction = 500 * time.Millisecond

// lockedBy reads who holds the lock. The record only informs.
func lockedBy(path string, f *os.File) error {
	held := &LockedError{Path: path}
	for end := time.Now().Add(introduction); ; time.Sleep(introduction / 50) {
		raw, err := io.ReadAll(io.NewSectionReader(f, 0, 4096))
		if err == nil && json.Unmarshal(raw, &held.Owner) == nil && held.Owner.PID != 0 {
			return held
		}
		if held.Owner = (Owner{}); time.Now().After(end) {
			return held
		}
	}
}
