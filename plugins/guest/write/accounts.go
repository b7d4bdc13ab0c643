package write

import "gyrum.ai/plugins/guest"

func own(id, key, value string) guest.Value { return guest.Record("id", id, key, value) }

// GroupAdd makes the group as the resource declares it.
func (h Host) GroupAdd(id, name string) *guest.Error {
	_, err := done(h.groupAdd, own(id, "name", name))
	return err
}

// GroupChange gives the group the declared gid.
func (h Host) GroupChange(id, name string) *guest.Error {
	_, err := done(h.groupChange, own(id, "name", name))
	return err
}

// GroupRemove removes the group.
func (h Host) GroupRemove(id, name string) *guest.Error {
	_, err := done(h.groupRemove, own(id, "name", name))
	return err
}

// UserAdd makes the user as the resource declares it.
func (h Host) UserAdd(id, name string) *guest.Error {
	_, err := done(h.userAdd, own(id, "name", name))
	return err
}

// UserChange gives the user what the resource declares in these fields: uid, group, groups, home, shell.
func (h Host) UserChange(id, name string, fields []string) *guest.Error {
	_, err := done(h.userChange, own(id, "name", name).With("fields", guest.Strings(fields)))
	return err
}

// UserRemove removes the user and leaves its home folder.
func (h Host) UserRemove(id, name string) *guest.Error {
	_, err := done(h.userRemove, own(id, "name", name))
	return err
}

// LineWrite puts the resource's line into its file.
func (h Host) LineWrite(id, path string) *guest.Error {
	_, err := done(h.lineWrite, own(id, "path", path))
	return err
}

// LineRemove takes the resource's line out of its file.
func (h Host) LineRemove(id, path string) *guest.Error {
	_, err := done(h.lineRemove, own(id, "path", path))
	return err
}

// SymlinkMake makes the link as the resource declares it, with an owner and a group.
func (h Host) SymlinkMake(id, path, owner, group string) *guest.Error {
	_, err := done(h.symlinkMake, guest.Record("id", id, "path", path, "owner", owner, "group", group))
	return err
}

// SymlinkOwner changes owner and group of a symlink, itself.
func (h Host) SymlinkOwner(path, owner, group string) *guest.Error {
	_, err := done(h.symlinkOwner, guest.Record("path", path, "owner", owner, "group", group))
	return err
}

// SymlinkRemove removes a symlink, itself.
func (h Host) SymlinkRemove(path string) *guest.Error {
	_, err := done(h.symlinkRemove, guest.Record("path", path))
	return err
}
