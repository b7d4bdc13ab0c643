package journal

import (
	"errors"
	"fmt"
	"time"
)

// LockName is the locked file in the state folder.
const LockName = "lock"

// ErrLocked is wrapped by every error that says that another apply runs on this host.
var ErrLocked = errors.New("another apply runs on this host")

// Owner is who holds the lock.
type Owner struct {
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
}

// LockedError is ErrLocked with the owner that the lock names; Owner is zero when its record cannot be read.
type LockedError struct {
	Path  string
	Owner Owner
	// Removed says that the lock file was removed while its owner runs, so that nobody can tell who that is.
	Removed bool
}

// Error names the owner.
func (e *LockedError) Error() string {
	if e.Removed {
		return fmt.Sprintf("%s: its lock file %s was removed, but it still runs; try again when it has ended", ErrLocked, e.Path)
	}
	if e.Owner.PID == 0 {
		return fmt.Sprintf("%s: %s is locked by a process that has not said yet who it is; try again when it has ended", ErrLocked, e.Path)
	}
	return fmt.Sprintf("%s: process %d, started %s, holds %s; try again when it has ended", ErrLocked, e.Owner.PID,
		e.Owner.StartedAt.UTC().Format(time.RFC3339), e.Path)
}

// Unwrap gives ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// Peeker asks for a lock without taking it.
type Peeker interface {
	// Peek fails with a LockedError when somebody holds the lock of the file. It makes and takes nothing; a file that does
	// not exist is not locked.
	Peek(path string) error
}

// Locker is an exclusive lock that dies with its owner. What the locked file says only informs: it never decides.
type Locker interface {
	Peeker
	// Lock takes the lock of a file and makes the file where it is missing; the folder must exist. When somebody else holds
	// it, it fails at once with a LockedError.
	Lock(path string, owner Owner) (release func() error, err error)
}
