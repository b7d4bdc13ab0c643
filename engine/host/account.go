package host

import "context"

// Accounts maps names and ids. Errors are faults: an account that cannot be looked up is not one that does not exist.
type Accounts interface {
	// User and Group give the id of a name; a string of digits is its own id and exists.
	User(name string) (id uint32, exists bool, err error)
	Group(name string) (id uint32, exists bool, err error)
	// UserName and GroupName give the name of an id, or the id in digits when it has none.
	UserName(id uint32) (string, error)
	GroupName(id uint32) (string, error)
	// UserEntry and GroupEntry tell of one account by its name; one that does not exist has a zero entry and no error.
	UserEntry(name string) (UserEntry, error)
	GroupEntry(name string) (GroupEntry, error)
	// Busy says whether a process of a user runs.
	Busy(uid uint32) (bool, error)
	// Forget drops what was remembered, after an action that may have made accounts.
	Forget()
}

// UserEntry is a user as passwd(5) and group(5) have it.
type UserEntry struct {
	Exists bool
	// Local says that it is a line of /etc/passwd, which the tools can change.
	Local    bool
	UID, GID uint32
	// Groups are the supplementary groups, sorted, without the primary one.
	Groups      []string
	Home, Shell string
}

// GroupEntry is a group as group(5) has it.
type GroupEntry struct {
	Exists bool
	// Local says that it is a line of /etc/group, which the tools can change.
	Local bool
	GID   uint32
	// PrimaryOf are the users of /etc/passwd whose primary group it is, sorted.
	PrimaryOf []string
}

// AccountWriter changes accounts. Errors are faults. No method touches a password, a home folder or a process.
type AccountWriter interface {
	AddGroup(ctx context.Context, g GroupSpec) error
	ChangeGroup(ctx context.Context, name string, gid uint32) error
	RemoveGroup(ctx context.Context, name string) error
	AddUser(ctx context.Context, u UserSpec) error
	// ChangeUser changes what the spec gives and nothing else.
	ChangeUser(ctx context.Context, u UserSpec) error
	// RemoveUser leaves the home folder where it is.
	RemoveUser(ctx context.Context, name string) error
}

// GroupSpec is a group to make.
type GroupSpec struct {
	Name string
	// GID is nil for one that the system chooses.
	GID *uint32
	// System has it chosen from the range for system accounts.
	System bool
}

// UserSpec is a user to make or to change; a field that is nil or empty is left to the system, or as it is.
type UserSpec struct {
	Name string
	UID  *uint32
	// Group is the primary group, a name or a gid.
	Group string
	// Groups are exactly the supplementary groups.
	Groups      *[]string
	Home, Shell string
	// System has the uid chosen from the range for system accounts; for a user to make only.
	System bool
}
