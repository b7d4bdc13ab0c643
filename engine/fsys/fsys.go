// Package fsys is the small set of file system calls that gyrum's effects are made of, always relative to an open
// directory and never following a symlink in the last step. System is the kernel; hosttest has a model with the same
// methods that keeps unsynced writes apart, so that a run can be cut after any call.
//
// It knows no resources and takes no decisions.
package fsys

import (
	"io"
	"io/fs"
)

// Info is what fstatat(2) with AT_SYMLINK_NOFOLLOW tells of one name.
type Info struct {
	// Kind is file, directory, symlink, fifo, socket, block or char.
	Kind string
	// Mode holds the twelve permission bits (07777), in the kernel's numbering.
	Mode uint32
	UID  uint32
	GID  uint32
	Size int64
	// Dev and Ino identify the inode, Nlink counts its names.
	Dev, Ino, Nlink uint64
	// MTime and CTime are in nanoseconds since the epoch.
	MTime, CTime int64
}

// ReadDir is an open directory that can only be looked at.
type ReadDir interface {
	// Stat describes the directory itself.
	Stat() (Info, error)
	// Lstat describes a name in it. The error wraps fs.ErrNotExist, fs.ErrPermission or the errno.
	Lstat(name string) (Info, error)
	// Readlink gives the target of a symlink in it.
	Readlink(name string) (string, error)
	// OpenDir opens a directory in it, never through a symlink (O_DIRECTORY|O_NOFOLLOW).
	OpenDir(name string) (ReadDir, error)
	// Open opens a regular file in it for reading, never through a symlink and never waiting for a fifo.
	Open(name string) (io.ReadCloser, error)
	// Names lists it, sorted.
	Names() ([]string, error)
	io.Closer
}

// ReadFS is a file system that can only be looked at.
type ReadFS interface {
	// Root opens "/".
	Root() (ReadDir, error)
}

// Dir is an open directory that can be changed.
type Dir interface {
	ReadDir
	// OpenWritable is OpenDir, for changing.
	OpenWritable(name string) (Dir, error)
	// Create makes a new regular file (O_CREAT|O_EXCL|O_NOFOLLOW) with exactly this mode, whatever the umask.
	Create(name string, mode uint32) (File, error)
	// OpenAppend opens a regular file for appending and makes it with this mode where it is missing.
	OpenAppend(name string, mode uint32) (File, error)
	// Mkdir makes a directory with exactly this mode, whatever the umask or a set-group-id parent.
	Mkdir(name string, mode uint32) error
	// Chmod and Chown change a name in it that is not a symlink.
	Chmod(name string, mode uint32) error
	Chown(name string, uid, gid uint32) error
	// Rename moves a name within the directory, replacing what stood there.
	Rename(from, to string) error
	// Unlink removes a name that is no directory, Rmdir an empty directory.
	Unlink(name string) error
	Rmdir(name string) error
	// Attributes and SetAttributes carry extended attributes (ACLs among them) of a name in it.
	Attributes(name string) (map[string][]byte, error)
	SetAttributes(name string, attrs map[string][]byte) error
	// Sync makes the directory's entries durable (fsync(2)).
	Sync() error
}

// FS is a file system that can be changed.
type FS interface {
	ReadFS
	// WritableRoot opens "/" for changing.
	WritableRoot() (Dir, error)
}

// File is a file that is being written.
type File interface {
	io.Writer
	Chmod(mode uint32) error
	Chown(uid, gid uint32) error
	// Sync makes the content and the metadata durable (fsync(2)).
	Sync() error
	io.Closer
}

// Errors that both implementations wrap.
var (
	ErrNotExist   = fs.ErrNotExist
	ErrPermission = fs.ErrPermission
	ErrExist      = fs.ErrExist
)
