package host

// Accounts maps names and ids. Errors are faults: an account that cannot be looked up is not one that does not exist.
type Accounts interface {
	// User and Group give the id of a name; a string of digits is its own id and exists.
	User(name string) (id uint32, exists bool, err error)
	Group(name string) (id uint32, exists bool, err error)
	// UserName and GroupName give the name of an id, or the id in digits when it has none.
	UserName(id uint32) (string, error)
	GroupName(id uint32) (string, error)
	// Forget drops what was remembered, after an action that may have made accounts.
	Forget()
}
