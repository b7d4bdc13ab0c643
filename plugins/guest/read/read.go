// Package read holds the capabilities that look at the host. A module that uses nothing else imports gyrum:read alone.
//
// Every reply is a typed view of the JSON that the engine sent, so that an observation can keep it as its facts. It
// knows no resource type.
package read

import "gyrum.ai/plugins/guest"

// request makes a request of names and texts in turn.
func request(namesAndTexts ...string) []byte { return guest.Encode(guest.Record(namesAndTexts...)) }

// FileStat looks at a path without following a symlink in its last step.
func (h Host) FileStat(path string) (Stat, *guest.Error) {
	v, err := guest.Reply(h.fileStat(request("path", path)))
	return Stat{v}, err
}

// FileDigest gives the sha256, in lower-case hexadecimal, and the size in bytes of a regular file.
func (h Host) FileDigest(path string) (sha256 string, size int64, err *guest.Error) {
	v, err := guest.Reply(h.fileDigest(request("path", path)))
	return v.GetText("sha256"), v.Get("size").Number(), err
}

// ContentMatches says whether a file holds the secret that its resource declares: match, differs or absent. The error
// has the code secret-unresolved when the reference leads nowhere.
func (h Host) ContentMatches(id string) (string, *guest.Error) {
	v, err := guest.Reply(h.contentMatches(request("id", id)))
	return v.GetText("match"), err
}

// DirectoryEntries lists the names in a directory, sorted; more says that there are others.
func (h Host) DirectoryEntries(path string) (names []string, more bool, err *guest.Error) {
	v, err := guest.Reply(h.directoryEntries(request("path", path)))
	return v.Get("names").Texts(), v.Get("more").True(), err
}

// Account looks a user and a group up, by name or by id; an empty one is not asked for.
func (h Host) Account(user, group string) (Accounts, *guest.Error) {
	r := guest.Object()
	if user != "" {
		r = r.WithText("user", user)
	}
	if group != "" {
		r = r.WithText("group", group)
	}
	v, err := guest.Reply(h.account(guest.Encode(r)))
	return Accounts{v}, err
}

// EnvFile reads an environment file as systemd would and compares it with the resource's variables.
func (h Host) EnvFile(id string) (EnvFile, *guest.Error) {
	v, err := guest.Reply(h.envFile(request("id", id)))
	return EnvFile{Stat{v}}, err
}

// PathExists says whether something stands at a path; a dangling symlink does.
func (h Host) PathExists(path string) (bool, *guest.Error) {
	v, err := guest.Reply(h.pathExists(request("path", path)))
	return v.Get("exists").True(), err
}

// Package asks dpkg for a package.
func (h Host) Package(name string) (Package, *guest.Error) {
	v, err := guest.Reply(h.pkg(request("name", name)))
	return Package{v}, err
}

// PackageCompare gives the order of two versions by dpkg's rules: -1, 0 or 1.
func (h Host) PackageCompare(a, b string) (int64, *guest.Error) {
	v, err := guest.Reply(h.packageCompare(request("a", a, "b", b)))
	return v.Get("order").Number(), err
}

// PackageSimulate plays a change through without making it. An empty version means whatever apt would choose; state is
// present or absent.
func (h Host) PackageSimulate(name, version, state string) (Simulation, *guest.Error) {
	fields := []string{"name", name, "state", state}
	if version != "" {
		fields = append(fields, "version", version)
	}
	v, err := guest.Reply(h.packageSimulate(request(fields...)))
	return Simulation{v}, err
}

// Unit asks the service manager for a unit.
func (h Host) Unit(id, name string) (Unit, *guest.Error) {
	v, err := guest.Reply(h.unit(request("id", id, "name", name)))
	return Unit{v}, err
}
