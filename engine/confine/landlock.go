package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of landlock(7) that change something, by the version of the interface that brought them.
const (
	writes1 = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	writes2 = unix.LANDLOCK_ACCESS_FS_REFER
	writes3 = unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// ofFile are those that a rule for a single file may give.
	ofFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlockABI asks the kernel for the version of its interface.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(v), nil
	case unix.ENOSYS:
		return 0, errors.New("the kernel has no Landlock")
	case unix.EOPNOTSUPP:
		return 0, errors.New("this kernel has Landlock switched off (see the boot option lsm=)")
	}
	return 0, fmt.Errorf("landlock: %w", errno)
}

// restrict takes the right to write from every thread, but below the folders.
func restrict(folders []string) (abi int, err error) {
	if abi, err = landlockABI(); err != nil {
		return 0, err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: writes1}
	if abi >= 2 {
		attr.Handled_access_fs |= writes2
	}
	if abi >= 3 {
		attr.Handled_access_fs |= writes3
	}
	// The kernel takes the fields that it knows; the first is in every version.
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return 0, fmt.Errorf("landlock: making the rules: %w", errno)
	}
	defer unix.Close(int(set))
	for _, dir := range folders {
		if err := allow(int(set), dir, attr.Handled_access_fs); err != nil {
			return 0, err
		}
	}
	for _, dev := range devices {
		if err := allow(int(set), dev, attr.Handled_access_fs&ofFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return 0, fmt.Errorf("landlock: %w", errno)
	}
	return abi, nil
}

// allow adds a rule for what lies at a path and beneath it.
func allow(set int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0) // /proc/self/fd/N leads to what is open there
	if err != nil {
		return &fs.PathError{Op: "landlock: open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return &fs.PathError{Op: "landlock: add rule for", Path: path, Err: errno}
	}
	return nil
}
