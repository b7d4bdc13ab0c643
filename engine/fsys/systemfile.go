package fsys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// node is an O_PATH descriptor; what changes the inode goes by its name in /proc, as glibc's fchmodat does, because
// Linux before 6.6 has no call that takes the descriptor.
type node int

func (n node) proc() string { return "/proc/self/fd/" + strconv.Itoa(int(n)) }

// viaProc tells a missing /proc from a missing file.
func (n node) viaProc(name string, f func() error) error {
	err := call(name, f)
	if errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%s needs /proc to be mounted: %w", name, unix.EIO)
	}
	return err
}

func (n node) Stat() (Info, error) { return statFD(int(n)) }

func (n node) Chmod(mode uint32) error {
	return n.viaProc("chmod", func() error { return unix.Chmod(n.proc(), mode&0o7777) })
}

func (n node) Chown(uid, gid uint32) error {
	return call("chown", func() error { return unix.Fchownat(int(n), "", int(uid), int(gid), unix.AT_EMPTY_PATH) })
}

// Sync opens the inode anew, since fsync(2) takes no O_PATH descriptor. Who owns an inode that he may not read, and is not
// root, has to leave it to the kernel's own pace.
func (n node) Sync() error {
	fd := -1
	err := n.viaProc("open", func() (err error) {
		fd, err = unix.Open(n.proc(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return call("fsync", func() error { return unix.Fsync(fd) })
}

func (n node) Attributes() (map[string][]byte, error) {
	var names []string
	err := n.viaProc("listxattr", func() (err error) {
		names, err = listAttributes(func(buf []byte) (int, error) { return unix.Listxattr(n.proc(), buf) })
		return err
	})
	if err != nil {
		return nil, err
	}
	attrs := map[string][]byte{}
	for _, name := range names {
		value, err := grow("getxattr", func(buf []byte) (int, error) { return unix.Getxattr(n.proc(), name, buf) })
		if errors.Is(err, unix.ENODATA) {
			continue // gone since it was listed
		}
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		attrs[name] = value
	}
	return attrs, nil
}

func (n node) Close() error { return unix.Close(int(n)) }

func listAttributes(list func(buf []byte) (int, error)) ([]string, error) {
	raw, err := grow("listxattr", list)
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range bytes.SplitSeq(raw, []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, nil
}

// grow calls f with a buffer that is large enough, also when the value grows between two calls.
func grow(name string, f func(buf []byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		var n int
		err := call(name, func() (err error) {
			n, err = f(buf)
			return err
		})
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) || size > 1<<20 {
			return nil, err
		}
	}
}

// file is an open regular file.
type file struct{ fd int }

func (f *file) Read(p []byte) (int, error) {
	var n int
	err := call("read", func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	if err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		err := call("write", func() error {
			n, err := unix.Write(f.fd, p[written:])
			written += max(n, 0)
			return err
		})
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func (f *file) Chmod(mode uint32) error {
	return call("chmod", func() error { return unix.Fchmod(f.fd, mode&0o7777) })
}

func (f *file) Chown(uid, gid uint32) error {
	return call("chown", func() error { return unix.Fchown(f.fd, int(uid), int(gid)) })
}

func (f *file) SetAttributes(attrs map[string][]byte) error {
	present, err := listAttributes(func(buf []byte) (int, error) { return unix.Flistxattr(f.fd, buf) })
	if err != nil {
		return err
	}
	for _, name := range present {
		if _, keep := attrs[name]; keep || strings.HasPrefix(name, "security.") {
			continue
		}
		if err := call("removexattr", func() error { return unix.Fremovexattr(f.fd, name) }); err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	for name, value := range attrs {
		if err := call("setxattr", func() error { return unix.Fsetxattr(f.fd, name, value, 0) }); err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	return nil
}

func (f *file) Sync() error { return call("fsync", func() error { return unix.Fsync(f.fd) }) }

// Close is not tried again after EINTR: Linux has let go of the descriptor by then, and another may have its number.
func (f *file) Close() error {
	if err := unix.Close(f.fd); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}
