package account

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"gyrum.ai/engine/host/fault"
)

// Processes says whether a process of a user runs, by its real, effective or saved id (proc_pid_status(5)); those are what
// usermod(8) and userdel(8) look at before they refuse.
func Processes(uid uint32) (bool, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, fault.Of(fmt.Errorf("whether processes of user %d run: %w", uid, err))
	}
	want := strconv.FormatUint(uint64(uid), 10)
	for _, e := range entries {
		if !digits(e.Name()) {
			continue
		}
		raw, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if errors.Is(err, fs.ErrNotExist) || err != nil && strings.Contains(err.Error(), "no such process") {
			continue // it has ended
		}
		if err != nil {
			return false, fault.Of(fmt.Errorf("whether processes of user %d run: %w", uid, err))
		}
		_, ids, _ := bytes.Cut(raw, []byte("\nUid:"))
		ids, _, _ = bytes.Cut(ids, []byte("\n"))
		for _, id := range strings.Fields(string(ids)) {
			if id == want {
				return true, nil
			}
		}
	}
	return false, nil
}
