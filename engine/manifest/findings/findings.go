// Package findings writes what is wrong in a catalog for people, programs, SARIF readers and GitHub. It judges
// nothing.
package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"gyrum.ai/engine/manifest"
)

// Formats lists the formats that Write knows.
func Formats() []string { return []string{"text", "json", "sarif", "github"} }

// Called says what is wrong with the catalogs and the format that a program was called with, "" where nothing is, and gives
// the catalog's folder.
func Called(args []string, format string) (root, wrong string) {
	switch {
	case len(args) > 1:
		return "", fmt.Sprintf("one catalog at a time, not also %q", args[1])
	case len(args) == 1 && args[0] == "":
		return "", "the catalog's name is empty; name its folder, or leave it out for the working directory"
	case !slices.Contains(Formats(), format):
		return "", fmt.Sprintf("-format %s: choose one of %s", format, strings.Join(Formats(), ", "))
	case len(args) == 1:
		return args[0], ""
	}
	return ".", ""
}

// Write writes findings in a format. Files are named from root, the catalog as it was given, so that an editor finds
// them. Text is empty where there is nothing to say; the other formats are documents of their own.
// A SARIF log lists the rules that a finding can name, those of validation where no others are given.
func Write(w io.Writer, format, root string, fs []manifest.Finding, rules ...manifest.Rule) error {
	switch format {
	case "text":
		return text(w, root, fs)
	case "json":
		return writeJSON(w, document(root, fs))
	case "sarif":
		return writeJSON(w, sarif(root, fs, rules))
	case "github":
		return github(w, root, fs)
	}
	return fmt.Errorf("%q is no format of findings; choose one of %s", format, strings.Join(Formats(), ", "))
}

// Count writes a number with its noun: 1 host, 2 hosts.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// text writes file:line:column: rule: what is wrong, and what to write instead on a line of its own.
func text(w io.Writer, root string, fs []manifest.Finding) error {
	var b strings.Builder
	for _, f := range fs {
		hint := f.Hint
		f.Hint, f.Pos.File = "", file(root, f)
		b.WriteString(printable(f.String()) + "\n")
		if hint != "" {
			b.WriteString("    " + printable(hint) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// finding is one finding as data.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Path     string `json:"path,omitempty"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

func document(root string, fs []manifest.Finding) any {
	out := make([]finding, 0, len(fs))
	for _, f := range fs {
		out = append(out, finding{file(root, f), f.Pos.Line, f.Pos.Column, f.Path, f.Rule, f.Severity, f.Message, f.Hint})
	}
	return map[string]any{"findings": out}
}

// github writes workflow commands, which GitHub shows beside the lines
// (docs.github.com/actions/reference/workflow-commands).
func github(w io.Writer, root string, fs []manifest.Finding) error {
	var b strings.Builder
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for _, f := range fs {
		level := "error"
		if f.Severity == manifest.SeverityWarn {
			level = "warning"
		}
		fmt.Fprintf(&b, "::%s file=%s", level, property.Replace(file(root, f)))
		if f.Pos.Line > 0 {
			fmt.Fprintf(&b, ",line=%d", f.Pos.Line)
		}
		if f.Pos.Column > 0 {
			fmt.Fprintf(&b, ",col=%d", f.Pos.Column)
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", property.Replace(f.Rule), data.Replace(whole(f)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// whole is a finding's message and hint as one text.
func whole(f manifest.Finding) string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + "; " + f.Hint
}

// file names a finding's file from the working directory.
func file(root string, f manifest.Finding) string {
	return filepath.ToSlash(filepath.Join(root, f.Pos.File))
}

// printable keeps a file name or a value from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
