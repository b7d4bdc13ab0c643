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

// The kinds of an inode, as Info names them.
const (
	KindFile      = "file"
	KindDirectory = "directory"
	KindSymlink   = "symlink"
	KindFIFO      = "fifo"
	KindSocket    = "socket"
	KindBlock     = "block"
	KindChar      = "char"
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

// Same says that both describe one inode.
func (i Info) Same(o Info) bool { return i.Dev == o.Dev && i.Ino == o.Ino && i.Kind == o.Kind }

// ReadDir is an open directory that can only be looked at. Names are single path elements; "", ".", ".." and anything
// with a slash or a NUL are EINVAL.
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
	// Empty says whether nothing is listed, without reading a large directory to its end.
	Empty() (bool, error)
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
	// Pin holds on to the inode behind a name that is no symlink, so that it can be looked at and then changed without
	// another one taking its place in between.
	Pin(name string) (Node, error)
	// Symlink makes a symlink with this text under a name that is free (symlinkat(2)).
	Symlink(target, name string) error
	// ChownLink changes the owner of a symlink, itself. Anything else under the name is EINVAL.
	ChownLink(name string, uid, gid uint32) error
	// Rename moves a name within the directory, replacing what stood there.
	Rename(from, to string) error
	// Unlink removes a name that is no directory, Rmdir an empty directory.
	Unlink(name string) error
	Rmdir(name string) error
	// Sync makes the directory's entries durable (fsync(2)).
	Sync() error
}

// FS is a file system that can be changed.
type FS interface {
	ReadFS
	// WritableRoot opens "/" for changing.
	WritableRoot() (Dir, error)
}

// Node is one inode that is held on to.
type Node interface {
	Stat() (Info, error)
	// Chmod sets the twelve permission bits. Chown clears set-id bits and file capabilities as chown(2) does.
	Chmod(mode uint32) error
	Chown(uid, gid uint32) error
	// Attributes gives its extended attributes, ACLs among them; none where the file system has none.
	Attributes() (map[string][]byte, error)
	// Sync makes mode and owner durable (fsync(2)); it is for files and directories.
	Sync() error
	io.Closer
}

// File is a file that is being written.
type File interface {
	io.Writer
	Chmod(mode uint32) error
	Chown(uid, gid uint32) error
	// SetAttributes makes these its extended attributes. Attributes under security. that are not listed stay: labels are
	// the kernel's to give.
	SetAttributes(attrs map[string][]byte) error
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

// ValidName says whether a name is a single path element that the kernel takes.
func ValidName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' || name[i] == 0 {
			return false
		}
	}
	return true
}
