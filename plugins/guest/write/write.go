// Package write holds the capabilities that change the host. Only modules of the phase apply import it.
//
// A capability changes nothing beside what it is named after; the engine decides whether a call is in scope. It knows no
// resource type.
package write

import "gyrum.ai/plugins/guest"

// done sends one request and reads the reply.
func done(call func([]byte) []byte, request guest.Value) (guest.Value, *guest.Error) {
	return guest.Reply(call(guest.Encode(request)))
}

// Access is the mode (four octal digits), owner and group that a path gets.
type Access struct{ Mode, Owner, Group string }

func (a Access) request(path string) guest.Value {
	return guest.Record("path", path, "mode", a.Mode, "owner", a.Owner, "group", a.Group)
}

// FileReplace writes the resource's own content to its path, whole or not at all.
func (h Host) FileReplace(id, path string, a Access) *guest.Error {
	_, err := done(h.fileReplace, a.request(path).WithText("id", id))
	return err
}

// EnvReplace writes the resource's variables to its path, whole or not at all.
func (h Host) EnvReplace(id, path string, a Access) *guest.Error {
	_, err := done(h.envReplace, a.request(path).WithText("id", id))
	return err
}

// FileMode changes the mode of what stands at a path, if it is of that kind (file or directory).
func (h Host) FileMode(path, mode, kind string) *guest.Error {
	_, err := done(h.fileMode, guest.Record("path", path, "mode", mode, "kind", kind))
	return err
}

// FileOwner changes owner, group and then the mode, so that set-id bits survive.
func (h Host) FileOwner(path, kind string, a Access) *guest.Error {
	_, err := done(h.fileOwner, a.request(path).WithText("kind", kind))
	return err
}

// FileRemove removes a regular file or a symlink.
func (h Host) FileRemove(path string) *guest.Error {
	_, err := done(h.fileRemove, guest.Record("path", path))
	return err
}

// DirectoryMake makes a directory.
func (h Host) DirectoryMake(path string, a Access) *guest.Error {
	_, err := done(h.directoryMake, a.request(path))
	return err
}

// DirectoryRemove removes an empty directory.
func (h Host) DirectoryRemove(path string) *guest.Error {
	_, err := done(h.directoryRemove, guest.Record("path", path))
	return err
}

// PackageInstall installs a package; with a version exactly that one, going down only where downgrade says so. It
// returns what changed.
func (h Host) PackageInstall(name, version string, downgrade bool) (guest.Value, *guest.Error) {
	request := guest.Record("name", name).With("downgrade", guest.Bool(downgrade))
	if version != "" {
		request = request.WithText("version", version)
	}
	return done(h.packageInstall, request)
}

// PackageRemove removes a package and keeps its configuration files. It returns what changed.
func (h Host) PackageRemove(name string) (guest.Value, *guest.Error) {
	return done(h.packageRemove, guest.Record("name", name))
}

// UnitStart starts a unit and sees that it stays up.
func (h Host) UnitStart(name string) *guest.Error { return unit(h.unitStart, name) }

// UnitStop stops a unit.
func (h Host) UnitStop(name string) *guest.Error { return unit(h.unitStop, name) }

// UnitRestart restarts a unit and sees that it stays up.
func (h Host) UnitRestart(name string) *guest.Error { return unit(h.unitRestart, name) }

// UnitEnable has a unit started at boot.
func (h Host) UnitEnable(name string) *guest.Error { return unit(h.unitEnable, name) }

// UnitDisable has a unit no longer started at boot.
func (h Host) UnitDisable(name string) *guest.Error { return unit(h.unitDisable, name) }

// UnitReload has the manager read its unit files anew.
func (h Host) UnitReload(name string) *guest.Error { return unit(h.unitReload, name) }

func unit(call func([]byte) []byte, name string) *guest.Error {
	_, err := done(call, guest.Record("name", name))
	return err
}

// CommandRun runs the resource's command and returns its record; after a failure the record is the error's detail.
func (h Host) CommandRun(id string) (guest.Value, *guest.Error) {
	return done(h.commandRun, guest.Record("id", id))
}
