package engine

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/resource"
)

// The types by whose nature items depend on each other. What a type means is its plugin's matter; this is the one place where
// the engine knows types by name.
const (
	typePackage   = "package"
	typeCommand   = "command"
	typeDirectory = "directory"
	typeUnit      = "systemd_unit"
	typeUser      = "user"
	typeGroup     = "group"
	typeLine      = "line"
)

// touches is what a resource's action can change on the host.
type touches struct {
	path string // the path that it owns, cleaned; empty for types without one
	unit string // the unit that it owns
	// part says that it owns only a part of what stands at the path, beside others.
	part bool
	// account is the id of a user or group; ownGroup that of the group which is made with a user.
	account, ownGroup string
	// state is the state that the record declares, in its type's word; empty when it declares none.
	state string
	// creates is the path that a command makes, unitFile the one that a unit is defined by.
	creates, unitFile string
	// brings says that the resource is declared to be there, so that its action makes it.
	brings bool
	// wide says that the action may change anything: a package's scripts, a command.
	wide bool
}

func touchesOf(r resource.Resource) touches {
	var d struct {
		Path     string `json:"path"`
		Name     string `json:"name"`
		State    string `json:"state"`
		Group    string `json:"group"`
		Creates  string `json:"creates"`
		UnitFile string `json:"unit_file"`
	}
	// The record was validated when it was read; a type without these fields owns neither.
	_ = json.Unmarshal(r.Declared, &d)
	t := touches{state: d.State, brings: d.State != "absent", wide: r.Type == typePackage || r.Type == typeCommand}
	t.path, t.part = absolute(d.Path), r.Type == typeLine
	switch r.Type {
	case typeUser, typeGroup:
		t.account = r.ID
		if r.Type == typeUser && d.Group == "" {
			t.ownGroup = typeGroup + ":" + d.Name
		}
	case typeUnit:
		t.unit, t.unitFile = d.Name, absolute(d.UnitFile)
	case typeCommand:
		t.creates = absolute(d.Creates)
	}
	return t
}

// absolute gives the one spelling of an absolute path, and nothing for anything else.
func absolute(p string) string {
	if !strings.HasPrefix(p, "/") {
		return ""
	}
	return usr(path.Clean(p))
}

// usr gives one name to the two that a merged /usr has for a file: systemd names the one, a manifest may name the other.
func usr(p string) string {
	for _, dir := range []string{"/lib/", "/bin/", "/sbin/"} {
		if strings.HasPrefix(p, "/usr"+dir) {
			return strings.TrimPrefix(p, "/usr")
		}
	}
	return p
}

// input gives the name of the input of f that another item's action changes, empty when it changes none. Modes and owners
// are no inputs where there is content that a unit reads; of a folder they are all that is declared. What a package would take
// along must go in this plan, or change before: afterwards it is too late.
func (f *finding) input(other *finding) string {
	switch other.decision.Verb {
	case drift.Run:
		return ""
	case drift.Chmod, drift.Chown:
		if other.resource.Type != typeDirectory {
			return ""
		}
	}
	if f.resource.Type == typePackage && other.resource.Type == typePackage && other.touches.brings && other.at > f.at {
		return ""
	}
	t := other.touches
	for _, input := range f.obs.Inputs {
		if input == other.resource.ID || t.path != "" && absolute(input) == t.path {
			return input
		}
	}
	// A fragment or a drop-in that is not there yet is in no list of inputs.
	if f.touches.unit != "" && t.path != "" && definesUnit(t.path, f.touches.unit) {
		return t.path
	}
	return ""
}

// unitFolders is where systemd looks for units of the system manager (systemd.unit(5), "Unit File Load Path").
var unitFolders = []string{
	"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient", "/run/systemd/generator.early",
	"/etc/systemd/system", "/etc/systemd/system.attached", "/run/systemd/system", "/run/systemd/system.attached",
	"/run/systemd/generator", "/usr/local/lib/systemd/system", "/lib/systemd/system", "/run/systemd/generator.late",
}

// definesUnit says whether a file of this path, cleaned and with one name for a merged /usr, is a part of the unit's definition: its
// fragment, its template's, or a drop-in of either, of a prefix of its name, or of its type.
func definesUnit(file, unit string) bool {
	dir, base := path.Split(file)
	dir = path.Clean(dir)
	names := unitNames(unit)
	if slices.Contains(unitFolders, dir) {
		// A prefix or a bare type is the name of a drop-in folder only.
		return slices.Contains(names[:fragments(unit)], base)
	}
	parent, folder := path.Split(dir)
	if !slices.Contains(unitFolders, path.Clean(parent)) || !strings.HasSuffix(base, ".conf") {
		return false
	}
	of, isDropIn := strings.CutSuffix(folder, ".d")
	return isDropIn && slices.Contains(names, of)
}

// fragments is how many of unitNames can have a fragment.
func fragments(unit string) int {
	if instance(unit) {
		return 2
	}
	return 1
}

func instance(unit string) bool {
	stem := strings.TrimSuffix(unit, path.Ext(unit))
	at := strings.IndexByte(stem, '@')
	return at > 0 && at < len(stem)-1
}

// unitNames lists the names under which a unit's definition may stand: its own, its template's, then those of which only
// drop-ins are read: the prefixes that end in a dash, and the type (systemd.unit(5)).
func unitNames(unit string) []string {
	suffix := path.Ext(unit)
	stem := strings.TrimSuffix(unit, suffix)
	names := []string{unit}
	if instance(unit) {
		stem, _, _ = strings.Cut(stem, "@")
		names = append(names, stem+"@"+suffix)
		stem += "@"
	}
	for i := len(stem) - 1; i > 0; i-- {
		if stem[i] == '-' && i < len(stem)-1 {
			names = append(names, stem[:i+1]+suffix)
		}
	}
	return append(names, strings.TrimPrefix(suffix, "."))
}
