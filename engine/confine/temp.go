package confine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// temp opens a folder for the temporary files of the programs that a check runs; apt puts a signed list's text into one,
// also when it only simulates. It lies in memory, is mounted nowhere, is reached only by this process and by the programs
// that it starts, under the path that comes back, and is gone with them. It takes CAP_SYS_ADMIN to make.
func temp() (fd int, path string, err error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, "", fmt.Errorf("fsopen: %w", err)
	}
	defer unix.Close(fs)
	for key, value := range map[string]string{"mode": "0700", "size": "64m"} {
		if err := unix.FsconfigSetString(fs, key, value); err != nil {
			return -1, "", fmt.Errorf("fsconfig %s: %w", key, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, "", fmt.Errorf("fsconfig: %w", err)
	}
	// Without FSMOUNT_CLOEXEC: programs inherit it under the same number.
	fd, err = unix.Fsmount(fs, 0, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return -1, "", fmt.Errorf("fsmount: %w", err)
	}
	return fd, fmt.Sprintf("/proc/self/fd/%d", fd), nil
}

// place finds where temporary files may lie: in memory, or where that cannot be had below the first of the folders,
// or else where they always do, which is then writable, too.
func place(folders []string) (dir string, more []string) {
	if _, path, err := temp(); err == nil {
		return path, append(folders[:len(folders):len(folders)], path)
	}
	if len(folders) > 0 {
		dir := folders[0] + "/tmp"
		if err := os.Mkdir(dir, 0o700); err == nil || os.IsExist(err) {
			return dir, folders
		}
	}
	return os.TempDir(), append(folders[:len(folders):len(folders)], os.TempDir())
}
