package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"gyrum.ai/cmd/gyrum/internal/text"
	"gyrum.ai/engine/manifest"
)

// findingJSON is one finding as data.
type findingJSON struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Path     string `json:"path,omitempty"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func toFindings(fs []manifest.Finding) []findingJSON {
	out := make([]findingJSON, 0, len(fs))
	for _, f := range fs {
		out = append(out, findingJSON{f.Pos.File, f.Pos.Line, f.Pos.Column, f.Path, f.Rule, f.Severity, f.Message, f.Hint})
	}
	return out
}

// wordFinding gives file:line:column: rule: what, and what to write instead on a line of its own. The file is named from the
// working directory, so that an editor finds it.
func (p *program) wordFinding(f manifest.Finding) string {
	var b strings.Builder
	if f.Pos.File != "" {
		pos := f.Pos
		pos.File = filepath.Join(p.flags.catalog, pos.File)
		b.WriteString(text.Clean(pos.String()) + ": ")
	}
	if f.Severity == "warn" {
		b.WriteString("warning: ")
	}
	if f.Rule != "" {
		b.WriteString(f.Rule + ": ")
	}
	b.WriteString(text.Clean(f.Message) + "\n")
	if f.Hint != "" {
		b.WriteString("    " + text.Clean(f.Hint) + "\n")
	}
	return b.String()
}

// complain writes the findings to standard error and says how many of them are errors.
func (p *program) complain(fs []manifest.Finding) (errs int) {
	for _, f := range fs {
		if f.Severity != "warn" {
			errs++
		} else if p.flags.quiet {
			continue
		}
		fmt.Fprint(p.err, p.wordFinding(f))
	}
	return errs
}
