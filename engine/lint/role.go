package lint

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// declared is a resource with the fields that the rules ask for.
type declared struct {
	*resource.Resource
	Path       string
	Name       string
	Content    any
	Mode       string
	State      string
	Enabled    bool
	UnitFile   string   `json:"unit_file"`
	RestartOn  []string `json:"restart_on"`
	Cwd        string
	Idempotent *bool
}

// decode reads a declared record; the manifest reader has judged its kinds.
func decode(r *resource.Resource) *declared {
	d := &declared{}
	if err := json.Unmarshal(r.Declared, d); err != nil {
		d = &declared{} // a record of a type that uses a name in another way
	}
	d.Resource = r
	return d
}

func (d *declared) present() bool { return d.State != "absent" }

// executable says whether the declared mode lets anybody execute the file.
func (d *declared) executable() bool { return strings.ContainsAny(d.Mode, "1357") }

// resources judges a role's resources one by one and in their order.
func (l *linter) resources(r *manifest.RoleRecord) {
	all := make([]*declared, len(r.Resources))
	for i := range r.Resources {
		all[i] = decode(&r.Resources[i])
	}
	dirs := map[string][]int{} // of each directory that is to be there, its places in the list
	for i, d := range all {
		if d.Type == "directory" && d.present() {
			dirs[path.Clean(d.Path)] = append(dirs[path.Clean(d.Path)], i)
		}
	}
	for i, d := range all {
		l.spelling(d)
		l.reason(r, d)
		l.order(r, all, dirs, i)
	}
}

// above gives the first of the directories listed after a resource that is p itself or above it; -1 for none.
func above(p string, dirs map[string][]int, after int) int {
	first := -1
	for p = path.Clean(p); ; p = path.Dir(p) {
		for _, i := range dirs[p] {
			if i > after && (first < 0 || i < first) {
				first = i
			}
		}
		if p == path.Dir(p) {
			return first
		}
	}
}

// slug is how the name of a command is written.
var slug = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// spelling judges the names that may be written in several ways.
func (l *linter) spelling(d *declared) {
	if name, ok := strings.CutPrefix(d.ID, "command:"); ok && !slug.MatchString(name) {
		l.warn(d.Pos, RuleSpelling, d.ID+": the name of a command is lower-case letters and digits with hyphens between", "write command:"+kebab(name))
	}
}

// kebab writes a name in lower case with hyphens.
func kebab(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._-", r) }), "-")
}

// reason demands what reports show of a command that runs at every apply: the sentence of the description that names it.
func (l *linter) reason(r *manifest.RoleRecord, d *declared) {
	if d.Type != "command" || d.Idempotent == nil || *d.Idempotent {
		return
	}
	if _, told := resource.Why(r.Description, d.ID); told {
		return
	}
	message := "no sentence in the role's description names " + d.ID + " and says why it runs at every apply"
	if strings.TrimSpace(r.Description) == "" {
		message = "the role has no description that says why " + d.ID + " runs at every apply"
	}
	l.warn(d.Pos, RuleReason, message, "write a sentence there that begins: "+d.ID+" runs at every apply because; every report shows it. Or give the command creates: and leave out idempotent: false")
}

// unitFolders are where systemd looks for units, systemd.unit(5).
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// template gives the name of the template that a unit is an instance of, else its own.
func template(unit string) string {
	name, rest, ok := strings.Cut(unit, "@")
	if !ok {
		return unit
	}
	return name + "@" + path.Ext(rest)
}

// defines says whether a file is a unit's own: its fragment, its template, or a drop-in.
func defines(file, unit string) bool {
	dir, base := path.Split(file)
	dir = path.Clean(dir)
	for _, name := range []string{unit, template(unit)} {
		if slices.Contains(unitFolders, dir) && base == name || path.Base(dir) == name+".d" && slices.Contains(unitFolders, path.Dir(dir)) {
			return true
		}
	}
	return false
}

// environment are the files that a unit's text names in EnvironmentFile=, systemd.exec(5).
var environment = regexp.MustCompile(`(?m)^[ \t]*EnvironmentFile[ \t]*=[ \t]*-?(/\S+)`)

// order judges a resource against those listed after it.
func (l *linter) order(r *manifest.RoleRecord, all []*declared, dirs map[string][]int, i int) {
	d := all[i]
	say := func(later *declared, reason string) {
		l.warn(d.Pos, RuleOrder, fmt.Sprintf("%s comes before %s (line %d), %s", d.ID, later.ID, later.Pos.Line, reason), "list "+d.ID+" after it")
	}
	switch d.Type {
	case "systemd_unit":
		why := l.unitNeeds(r, all, i)
		for _, later := range all[i+1:] {
			if reason := why(later); reason != "" {
				say(later, reason)
				return
			}
		}
	case "file", "env", "directory", "symlink", "line":
		if d.present() && path.Clean(d.Path) != "/" { // what goes away is taken in the order that it needs
			if at := above(path.Dir(path.Clean(d.Path)), dirs, i); at >= 0 {
				say(all[at], "the directory that it lies in")
			}
		}
	case "command":
		if d.Cwd != "" {
			if at := above(d.Cwd, dirs, i); at >= 0 {
				say(all[at], "the directory that it is run in")
			}
		}
	}
}

// unitNeeds says why a unit should come after a resource of the same role.
func (l *linter) unitNeeds(r *manifest.RoleRecord, all []*declared, i int) func(*declared) string {
	d := all[i]
	var files []string // of EnvironmentFile=
	for _, o := range all {
		if text, ok := o.Content.(string); ok && o.Path != "" && (defines(o.Path, d.Name) || o.Path == d.UnitFile) {
			for _, m := range environment.FindAllStringSubmatch(text, -1) {
				files = append(files, path.Clean(m[1]))
			}
		}
	}
	stem := strings.TrimSuffix(d.Name, path.Ext(d.Name))
	brought := slices.ContainsFunc(all[:i], func(o *declared) bool { return o.brings(d.Name) }) || l.requiredBrings(r, d.Name)
	return func(later *declared) string {
		if !later.present() {
			return ""
		}
		switch p := path.Clean(later.Path); {
		case slices.Contains(d.RestartOn, later.ID):
			return "which restart_on names"
		case later.Path != "" && d.UnitFile == p:
			return "which is its unit_file"
		case later.Type == "file" && defines(p, d.Name):
			return "which systemd reads for the unit"
		case later.Path != "" && slices.Contains(files, p):
			return "which its EnvironmentFile= names"
		case later.Type == "package" && (d.State == "started" || d.Enabled):
			name, _, _ := strings.Cut(later.Name, ":")
			if name == stem {
				return "which installs it; what is not installed cannot start"
			}
			if !brought {
				return "and nothing before it installs the unit"
			}
		}
		return ""
	}
}

// brings says whether a resource may install a unit: any package, any command, the unit's own file.
func (d *declared) brings(unit string) bool {
	if !d.present() {
		return false
	}
	switch d.Type {
	case "package", "command":
		return true
	case "file", "symlink":
		return defines(path.Clean(d.Path), unit)
	}
	return false
}

// requiredBrings says whether a role that is applied before this one may install a unit.
func (l *linter) requiredBrings(r *manifest.RoleRecord, unit string) bool {
	seen := map[string]bool{r.Name: true}
	todo := append([]string{manifest.BaseRole}, r.Requires...)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		other := l.catalog.Role(name)
		if other == nil {
			continue
		}
		for i := range other.Resources {
			if decode(&other.Resources[i]).brings(unit) {
				return true
			}
		}
		todo = append(todo, other.Requires...)
	}
	return false
}
