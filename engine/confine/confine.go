package confine

import (
	"fmt"
	"os"
	"strings"
)

// Status is what a process runs with once it is confined.
type Status struct {
	// Landlock is the version of the kernel's interface that confines writes; 0 when nothing does.
	Landlock int
	// NoLandlock says why nothing confines writes; nil when Landlock does.
	NoLandlock error
	// Writable are the folders below which the process may write.
	Writable []string
	// Temp is where the programs that it starts put their temporary files: what they need in TMPDIR.
	Temp string
	// Capabilities are those that are left, by their names in capabilities(7) without CAP_, in lower case.
	Capabilities []string
	// NoDrop says why the others could not be given up; nil when they are gone.
	NoDrop error
}

// String says it in a line.
func (s Status) String() string {
	var b strings.Builder
	switch {
	case s.NoLandlock != nil:
		fmt.Fprintf(&b, "writes are not confined: %v", s.NoLandlock)
	case len(s.Writable) == 0:
		fmt.Fprintf(&b, "confined: landlock abi %d, writes nowhere", s.Landlock)
	default:
		fmt.Fprintf(&b, "confined: landlock abi %d, writes only below %s", s.Landlock, strings.Join(s.Writable, " and "))
	}
	switch {
	case s.NoDrop != nil:
		fmt.Fprintf(&b, "; capabilities were kept: %v", s.NoDrop)
	case len(s.Capabilities) == 0:
		b.WriteString("; capabilities: none")
	default:
		fmt.Fprintf(&b, "; capabilities: %s", strings.Join(s.Capabilities, ", "))
	}
	return b.String()
}

// devices may be written all the same: nothing is kept in them. The last is the TPM, by which the program of a secret
// may have a value unsealed.
var devices = []string{os.DevNull, "/dev/tpmrm0"}

// Reading confines the whole process, all its threads, and what it will start to reading: from now on it writes below
// the folders only, which must exist, and into files that are open already. Of root's capabilities the one that lets it
// read everything is left. Where the kernel cannot do one of both, the other is done, and the status says so.
//
// What Landlock does not cover stays possible: changing mode, owner, times or attributes of a file that belongs to the
// process's user, and speaking to sockets.
func Reading(folders ...string) Status {
	s := Status{Writable: folders}
	if err := promise(); err != nil {
		s.NoLandlock, s.NoDrop = err, err
		return s
	}
	writable := folders
	if s.Temp, writable = place(folders); s.Temp == os.TempDir() {
		s.Writable = writable
	}
	s.Landlock, s.NoLandlock = restrict(writable)
	s.Capabilities, s.NoDrop = drop()
	return s
}
