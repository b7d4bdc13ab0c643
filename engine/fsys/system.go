package fsys

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// System is the kernel's file system below a folder. An absolute symlink leads to places below that folder too, since
// callers walk links themselves; the folder "/" is the whole machine.
func System(root string) FS { return system(root) }

type system string

func (s system) Root() (ReadDir, error) { return s.open() }

func (s system) WritableRoot() (Dir, error) { return s.open() }

func (s system) open() (*dir, error) {
	return openDir(unix.AT_FDCWD, string(s), 0)
}

// call wraps an errno with the call that failed; callers add the path. EINTR is tried again.
func call(name string, f func() error) error {
	for {
		switch err := f(); {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

type dir struct {
	fd int
	// pathOnly says that the directory may be passed through but not read.
	pathOnly bool
}

// openDir opens a directory. One that may be passed but not read is held by O_PATH.
func openDir(at int, name string, flags int) (*dir, error) {
	d := &dir{}
	err := call("open directory", func() (err error) {
		d.fd, err = unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NONBLOCK|flags, 0)
		if errors.Is(err, unix.EACCES) {
			d.pathOnly = true
			d.fd, err = unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|flags, 0)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func checkName(name string) error {
	if !ValidName(name) {
		return fmt.Errorf("%q is no name of a directory entry: %w", name, unix.EINVAL)
	}
	return nil
}

func infoOf(st *unix.Stat_t) Info {
	return Info{
		Kind: kindOf(st.Mode), Mode: st.Mode & 0o7777, UID: st.Uid, GID: st.Gid, Size: st.Size,
		Dev: uint64(st.Dev), Ino: st.Ino, Nlink: uint64(st.Nlink),
		MTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(),
	}
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return KindFile
	case unix.S_IFDIR:
		return KindDirectory
	case unix.S_IFLNK:
		return KindSymlink
	case unix.S_IFIFO:
		return KindFIFO
	case unix.S_IFSOCK:
		return KindSocket
	case unix.S_IFBLK:
		return KindBlock
	}
	return KindChar
}

func statFD(fd int) (Info, error) {
	var st unix.Stat_t
	err := call("stat", func() error { return unix.Fstat(fd, &st) })
	return infoOf(&st), err
}

func (d *dir) Stat() (Info, error) { return statFD(d.fd) }

func (d *dir) Lstat(name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	var st unix.Stat_t
	err := call("stat", func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return infoOf(&st), err
}

func (d *dir) Readlink(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	buf := make([]byte, unix.PathMax+1)
	var n int
	err := call("readlink", func() (err error) {
		n, err = unix.Readlinkat(d.fd, name, buf)
		return err
	})
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

func (d *dir) OpenDir(name string) (ReadDir, error) { return d.child(name) }

func (d *dir) OpenWritable(name string) (Dir, error) { return d.child(name) }

func (d *dir) child(name string) (*dir, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return openDir(d.fd, name, unix.O_NOFOLLOW)
}

func (d *dir) Open(name string) (io.ReadCloser, error) {
	// The look before keeps devices from being opened at all; the look after settles a race.
	info, err := d.Lstat(name)
	if err != nil {
		return nil, err
	}
	if info.Kind != KindFile {
		return nil, fmt.Errorf("open: a %s is no regular file: %w", info.Kind, unix.EINVAL)
	}
	f, err := d.openFile(name, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openFile opens a regular file by openat(2), with the flags that every open here has.
func (d *dir) openFile(name string, flags int, mode uint32) (*file, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var fd int
	err := call("open", func() (err error) {
		fd, err = unix.Openat(d.fd, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, mode)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, err := statFD(fd)
	if err == nil && info.Kind != KindFile {
		err = fmt.Errorf("open: a %s is no regular file: %w", info.Kind, unix.EINVAL)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &file{fd}, nil
}

func (d *dir) Names() ([]string, error) {
	fd, err := d.reopen()
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read directory: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

func (d *dir) Empty() (bool, error) {
	fd, err := d.reopen()
	if err != nil {
		return false, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read directory: %w", err)
	}
	return false, nil
}

// reopen opens the directory anew for reading, so that each reader has a position of its own.
func (d *dir) reopen() (int, error) {
	var fd int
	err := call("open directory", func() (err error) {
		fd, err = unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

func (d *dir) Close() error { return unix.Close(d.fd) }

func (d *dir) Create(name string, mode uint32) (File, error) {
	f, err := d.openFile(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, mode&0o777)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close(), d.Unlink(name))
	}
	return f, nil
}

func (d *dir) OpenAppend(name string, mode uint32) (File, error) {
	f, err := d.Create(name, mode)
	if !errors.Is(err, ErrExist) {
		return f, err
	}
	old, err := d.openFile(name, unix.O_WRONLY|unix.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return old, nil
}

func (d *dir) Mkdir(name string, mode uint32) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := call("mkdir", func() error { return unix.Mkdirat(d.fd, name, mode&0o700) })
	if err != nil {
		return err
	}
	// The umask took bits away, and a set-group-id parent or a default ACL gave some.
	n, err := d.Pin(name)
	if err == nil {
		err = errors.Join(n.Chmod(mode), n.Close())
	}
	if err != nil {
		return errors.Join(err, d.Rmdir(name))
	}
	return nil
}

func (d *dir) Pin(name string) (Node, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	var fd int
	err := call("open", func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, err := statFD(fd)
	if err == nil && info.Kind == KindSymlink {
		err = fmt.Errorf("open: a symlink is not followed: %w", unix.ELOOP)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return node(fd), nil
}

func (d *dir) Symlink(target, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return call("symlink", func() error { return unix.Symlinkat(target, d.fd, name) })
}

func (d *dir) ChownLink(name string, uid, gid uint32) error {
	if err := checkName(name); err != nil {
		return err
	}
	var fd int
	err := call("open", func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The inode that was looked at is the one that changes, whatever the name stands for by then.
	info, err := statFD(fd)
	if err == nil && info.Kind != KindSymlink {
		err = fmt.Errorf("chown: not a symlink: %w", unix.EINVAL)
	}
	if err != nil {
		return err
	}
	return call("chown", func() error {
		return unix.Fchownat(fd, "", int(uid), int(gid), unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW)
	})
}

func (d *dir) Rename(from, to string) error {
	if err := errors.Join(checkName(from), checkName(to)); err != nil {
		return err
	}
	return call("rename", func() error { return unix.Renameat(d.fd, from, d.fd, to) })
}

func (d *dir) Unlink(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return call("unlink", func() error { return unix.Unlinkat(d.fd, name, 0) })
}

func (d *dir) Rmdir(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return call("rmdir", func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

func (d *dir) Sync() error {
	fd := d.fd
	if d.pathOnly {
		var err error
		if fd, err = d.reopen(); err != nil {
			return err
		}
		defer unix.Close(fd)
	}
	err := call("fsync directory", func() error { return unix.Fsync(fd) })
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil // a file system without this notion, such as some network ones
	}
	return err
}
