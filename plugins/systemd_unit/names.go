package systemdunit

import "strings"

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
