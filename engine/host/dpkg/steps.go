package dpkg

import (
	"slices"
	"strings"
)

// step is one line of a simulation: Inst or Remv.
type step struct {
	name    string // with ":arch" where apt writes it, for packages of another architecture
	version string // that is put in; empty for a removal
	old     string // that is there now
	remove  bool
}

type transaction []step

// parseSteps reads the lines
//
//	Inst NAME [OLD] (NEW ORIGIN [ARCH])
//	Remv NAME [OLD]
//
// of apt-get -s; others are for people.
func parseSteps(out string) transaction {
	var t transaction
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "Inst" && f[0] != "Remv" {
			continue
		}
		s := step{name: f[1], remove: f[0] == "Remv"}
		rest := f[2:]
		if len(rest) > 0 && strings.HasPrefix(rest[0], "[") {
			s.old = strings.Trim(rest[0], "[]")
			rest = rest[1:]
		}
		if !s.remove {
			if len(rest) == 0 || !strings.HasPrefix(rest[0], "(") {
				continue
			}
			s.version = strings.Trim(rest[0], "()")
		}
		t = append(t, s)
	}
	return t
}

// installs says whether the transaction puts in the package of exactly this name.
func (t transaction) installs(name string) bool {
	base, arch, _ := strings.Cut(name, ":")
	for _, s := range t {
		b, a, _ := strings.Cut(s.name, ":")
		if !s.remove && b == base && (arch == "" || a == "" || a == arch) {
			return true
		}
	}
	return false
}

// installed gives dpkg's entry of what the step replaces or removes.
func (s step) installed(db *database) *entry {
	base, arch, _ := strings.Cut(s.name, ":")
	for _, e := range db.byName[base] {
		if (arch == "" || e.arch == arch) && (s.old == "" || e.version == s.old) && (e.installed() || e.half()) {
			return e
		}
	}
	return nil
}

// known is what apt-cache showpkg tells of a name.
type known struct {
	versions  []string // in any list and in dpkg's database
	available []string // in a list
	providers []string
}

// parseShowpkg reads the block of exactly this name; showpkg prints those of names that match it as a pattern too.
func parseShowpkg(out, name string) known {
	var k known
	mine, section := false, ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if p, ok := strings.CutPrefix(line, "Package: "); ok {
			base, _, _ := strings.Cut(p, ":")
			mine, section = base == name, ""
			continue
		}
		if !mine {
			continue
		}
		switch {
		case line == "":
		case strings.HasSuffix(strings.TrimSpace(line), ":") && !strings.HasPrefix(line, " "):
			section = strings.TrimSpace(line)
		case section == "Versions:" && !strings.HasPrefix(line, " "):
			v, where, _ := strings.Cut(line, " ")
			k.versions = append(k.versions, v)
			if strings.Contains(where, "/lists/") {
				k.available = append(k.available, v)
			}
		case section == "Reverse Provides:":
			p, _, _ := strings.Cut(line, " ")
			base, _, _ := strings.Cut(p, ":")
			if !contains(k.providers, base) {
				k.providers = append(k.providers, base)
			}
		}
	}
	return k
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// broken gives what apt says of a set of packages that does not fit together: the packages that would break when it
// lists them on standard output, else its errors.
func broken(a answer) string {
	var names []string
	for line := range strings.Lines(a.out) {
		if name, why, ok := strings.Cut(strings.TrimSpace(line), " : "); ok && strings.Contains(why, "epends: ") && !strings.Contains(name, " ") {
			names = append(names, name+" ("+strings.TrimSpace(why)+")")
		}
	}
	if len(names) == 0 {
		return lastLines(a.err)
	}
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return strings.Join(names, ", ")
}

// heldNeeds names the packages that apt's words about unmet needs name and that are on hold, so that it had to leave them.
func heldNeeds(out string, db *database) []string {
	var names []string
	for line := range strings.Lines(out) {
		_, need, ok := strings.Cut(line, "epends: ")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSpace(need), " ")
		name, _, _ = strings.Cut(name, ":")
		held := slices.ContainsFunc(db.byName[name], func(e *entry) bool { return e.held() })
		if held && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
