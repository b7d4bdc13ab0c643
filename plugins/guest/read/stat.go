package read

import "gyrum.ai/plugins/guest"

// Stat is what stands at a path, or why nothing does.
type Stat struct{ guest.Value }

// Exists says that something stands there, if only a dangling symlink.
func (s Stat) Exists() bool { return s.Get("exists").True() }

// Kind is file, directory, symlink, fifo, socket, block or char.
func (s Stat) Kind() string { return s.GetText("kind") }

// Mode is the twelve permission bits as four octal digits.
func (s Stat) Mode() string { return s.GetText("mode") }

// Owner and Group are names, or ids in digits where there is no name.
func (s Stat) Owner() string { return s.GetText("owner") }

// Group is like Owner.
func (s Stat) Group() string { return s.GetText("group") }

// UID and GID are the ids.
func (s Stat) UID() int64 { return s.Get("uid").Number() }

// GID is like UID.
func (s Stat) GID() int64 { return s.Get("gid").Number() }

// Links counts the names of the inode.
func (s Stat) Links() int64 { return s.Get("nlink").Number() }

// Target is where a symlink points.
func (s Stat) Target() string { return s.GetText("target") }

// Empty says that a directory has no entries.
func (s Stat) Empty() bool { return s.Get("empty").True() }

// MissingParent is the first ancestor that does not exist, "" when the parent does.
func (s Stat) MissingParent() string { return s.GetText("missing_parent") }

// BadParent is an ancestor that is no directory, and its kind.
func (s Stat) BadParent() (path, kind string) {
	bad := s.Get("bad_parent")
	return bad.GetText("path"), bad.GetText("kind")
}

// Accounts is a user and a group.
type Accounts struct{ guest.Value }

// User gives the id of the user that was asked for.
func (a Accounts) User() (id int64, exists bool) { return account(a.Get("user")) }

// Group gives the id of the group that was asked for.
func (a Accounts) Group() (id int64, exists bool) { return account(a.Get("group")) }

func account(v guest.Value) (int64, bool) { return v.Get("id").Number(), v.Get("exists").True() }

// EnvFile is an environment file: what stands at the path, and the variables that systemd would read from it.
type EnvFile struct{ Stat }

// Vars maps the found variables to their values, or to match, differs, absent or present where the value is not to be
// shown.
func (e EnvFile) Vars() guest.Value { return e.Get("vars") }

// Readable says that systemd would read the file.
func (e EnvFile) Readable() bool { return e.Get("readable").True() }

// Same says that systemd would read exactly the declared variables.
func (e EnvFile) Same() bool { return e.Get("same").True() }

// Damage says why systemd would not read the file, "" when it would.
func (e EnvFile) Damage() string { return e.GetText("damage") }

// Unresolved says which references to secrets lead nowhere, "" when all of them resolve.
func (e EnvFile) Unresolved() string { return e.GetText("unresolved") }
