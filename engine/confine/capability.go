package confine

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kept is what looking at a host as root needs: to read what the file modes keep from others.
const kept = unix.CAP_DAC_READ_SEARCH

// drop gives up, for every thread and for good, the capabilities that reading does not need, and names what is left.
func drop() ([]string, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return nil, fmt.Errorf("reading them: %w", err)
	}
	const bit = uint32(1) << kept
	data[0].Permitted &= bit
	data[0].Effective = data[0].Permitted
	data[0].Inheritable = 0
	data[1] = unix.CapUserData{}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0); errno != 0 {
		return nil, fmt.Errorf("capset: %w", errno)
	}
	if data[0].Permitted == 0 {
		return nil, nil
	}
	return []string{"dac_read_search"}, nil
}

// promise makes every thread promise to gain no privileges by execve(2). Without it a process without CAP_SYS_ADMIN may
// not restrict itself, and a program of uid 0 that it starts would get every capability back.
func promise() error {
	_, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	switch errno {
	case 0:
		return nil
	case unix.ENOTSUP: // C code may have threads that the Go runtime knows nothing of
		return errors.New("this program was built with cgo, which rules it out; build it with CGO_ENABLED=0")
	}
	return fmt.Errorf("no_new_privs: %w", errno)
}
