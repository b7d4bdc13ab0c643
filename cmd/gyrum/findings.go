package main

import (
	"slices"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/manifest/findings"
)

// complain writes findings to standard error and says how many of them are errors.
func (p *program) complain(found []manifest.Finding) (errs int, err error) {
	if p.flags.quiet {
		found = slices.DeleteFunc(slices.Clone(found), func(f manifest.Finding) bool { return f.Severity == manifest.SeverityWarn })
	}
	return countErrors(found), findings.Write(p.err, formatText, p.flags.catalog, found)
}

func countErrors(found []manifest.Finding) (n int) {
	for _, f := range found {
		if f.Severity != manifest.SeverityWarn {
			n++
		}
	}
	return n
}
