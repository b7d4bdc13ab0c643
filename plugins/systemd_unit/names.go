package systemdunit

import "strings"

// template says whether a name is that of a template, t@.service, which is no unit by itself.
func template(name string) bool {
	at, dot := strings.IndexByte(name, '@'), strings.LastIndexByte(name, '.')
	return at >= 0 && dot == at+1
}

// fragments are the names that a unit's file can have: its own, and for an instance that of its template.
func fragments(name string) []string {
	at, dot := strings.IndexByte(name, '@'), strings.LastIndexByte(name, '.')
	if at >= 0 && dot > at {
		return []string{name, name[:at+1] + name[dot:]}
	}
	return []string{name}
}
