package dpkg

import (
	"regexp"
	"strings"

	"gyrum.ai/engine/host/fault"
)

// A name is what deb-control(5) allows, with an architecture after a colon or without. Everything that dpkg and apt
// would take for a pattern, an option or a modifier is outside of it, but for the + and - at the end that apt reads as
// "install" and "remove" when there is no package of that name.
var nameGrammar = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]*(:[a-z0-9][a-z0-9-]*)?$`)

// splitName checks a name and splits it into package and architecture; the architecture is empty when none is written.
func splitName(name string) (base, arch string, err error) {
	if !nameGrammar.MatchString(name) {
		return "", "", fault.New(fault.Invalid,
			"%q is no package name: write one exact name in lower case, such as curl or libc6:amd64; patterns are not supported", name)
	}
	base, arch, _ = strings.Cut(name, ":")
	return base, arch, nil
}
