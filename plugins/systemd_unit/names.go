package systemdunit

import (
	"slices"
	"strings"
)

// template says whether a name is that of a template, t@.service, which is no unit by itself.
func template(name string) bool {
	return strings.LastIndexByte(name, '@') == strings.LastIndexByte(name, '.')-1
}

// fragments are the names that a unit's file can have: its own, and for an instance that of its template.
func fragments(name string) []string {
	at := strings.IndexByte(name, '@')
	if at < 0 {
		return []string{name}
	}
	return []string{name, name[:at+1] + name[strings.LastIndexByte(name, '.'):]}
}

// folders is where systemd looks for unit files, those that win first (systemd.unit(5), "Unit File Load Path"); /usr/lib is
// written /lib here, for hosts have both names for it.
var folders = []string{
	"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", "/run/systemd/generator.early",
	"/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system", "/run/systemd/system.attached",
	"/run/systemd/generator", "/usr/local/lib/systemd/system", "/lib/systemd/system", "/run/systemd/generator.late",
}

// outranks says whether systemd would take a unit file of the one path rather than one of the other, or in its place. A file of
// the unit's own name wins over its template, wherever they lie; of a path that is in none of systemd's folders nobody can tell.
func outranks(name, path, other string) bool {
	names := fragments(name)
	folder, file := split(path)
	otherFolder, otherFile := split(other)
	is, was := slices.Index(names, file), slices.Index(names, otherFile)
	if is < 0 || was < 0 || is != was {
		return is < was || was < 0 || is < 0
	}
	rank, otherRank := slices.Index(folders, folder), slices.Index(folders, otherFolder)
	return rank < 0 || otherRank < 0 || rank <= otherRank
}

func split(path string) (folder, file string) {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "", path
	}
	folder = path[:at]
	if strings.HasPrefix(folder, "/usr/lib/") {
		folder = strings.TrimPrefix(folder, "/usr")
	}
	return folder, path[at+1:]
}
