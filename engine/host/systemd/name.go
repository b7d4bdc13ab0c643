package systemd

import (
	"regexp"
	"strings"

	"gyrum.ai/engine/host/fault"
)

// nameGrammar is systemd.unit(5)'s: at most 255 characters, an instance after @, and a type.
var nameGrammar = regexp.MustCompile(`^[a-zA-Z0-9:_.\\-]+(@[a-zA-Z0-9:_.\\@-]*)?\.(service|socket|device|mount|automount|swap|target|path|timer|slice|scope)$`)

// check says what is wrong with a unit name.
func check(name string) error {
	if len(name) > 255 || !nameGrammar.MatchString(name) {
		return fault.New(fault.Invalid, "%q is no unit name: write it whole, with its suffix, such as ssh.service", name)
	}
	return nil
}

// isTemplate says whether a name is a template's, which has no instance and cannot run.
func isTemplate(name string) bool {
	i := strings.IndexByte(name, '@')
	return i >= 0 && i+1 == strings.LastIndexByte(name, '.')
}

// kind is the suffix without its dot.
func kind(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// dotted is the interface that carries what is special of a kind of unit.
func dotted(name string) string {
	k := kind(name)
	return unitInterface[:len(unitInterface)-len("Unit")] + strings.ToUpper(k[:1]) + k[1:]
}
