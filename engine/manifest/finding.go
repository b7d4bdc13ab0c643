package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/engine/resource"
)

// The severities of a finding.
const (
	SeverityError = "error"
	SeverityWarn  = "warn"
)

// The rules beside R1 to R13 that a finding names.
const (
	RuleRead    = "unreadable"    // the file cannot be read, or is none
	RuleSyntax  = "syntax"        // the file is no YAML
	RuleUnknown = "unknown-field" // a field that nothing defines
	RuleMissing = "missing-field" // a field that must be given
	RuleType    = "wrong-type"    // a value of another kind
	RuleValue   = "wrong-value"   // a value that the field may not have
	RuleFields  = "fields"        // fields that do not go together
	RuleLock    = "lock"          // gyrum.lock does not accept a plugin, or cannot be read
	RuleOwnType = "own-type"      // a type of the catalog's own cannot be used
)

// Finding is one thing that is wrong in a catalog, where it is, and what to write instead.
type Finding struct {
	// Pos is where; its file is relative to the catalog's root.
	Pos resource.Position
	// Rule is R1 to R13 or one of the rules above.
	Rule string
	// Severity is error or warn; with an error the catalog is not used.
	Severity string
	// Message says what is wrong and in which resource and field. It never holds a variable's value or a content, nor what has
	// the shape of a secret (R11), wherever it stands.
	Message string
	// Hint says what to write instead; it may be empty.
	Hint string
	// Path is the field within the file, such as resources[3].mode.
	Path string
}

// String gives file:line:column: rule: message; hint.
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Pos.String())
	b.WriteString(": ")
	if f.Severity == SeverityWarn {
		b.WriteString("warning: ")
	}
	b.WriteString(f.Rule)
	b.WriteString(": ")
	b.WriteString(f.Message)
	if f.Hint != "" {
		b.WriteString("; ")
		b.WriteString(f.Hint)
	}
	return b.String()
}

// HasErrors says whether one of the findings is an error.
func HasErrors(fs []Finding) bool {
	return slices.ContainsFunc(fs, func(f Finding) bool { return f.Severity != SeverityWarn })
}

// Sort orders findings by file, line and column.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
}

// report gathers the findings of one file.
type report struct {
	file string
	// resource is what messages call the resource in hand, in place of its index in the list.
	resource string
	findings []Finding
	// base is the path of the resource in hand, and wrong what has a finding below it (".mode", ".restart_on[0]"; "" is the
	// resource itself), beyond maxFindings too.
	base  string
	wrong []string
	// beyond counts the findings that more stands for.
	beyond int
	// severity is that of the finding in hand, where it is no error.
	severity string
}

func (r *report) add(line, column int, rule, path, message, hint string) {
	if r.base != "" {
		r.wrong = append(r.wrong, strings.TrimPrefix(path, r.base))
	}
	if len(r.findings) >= maxFindings {
		r.more(line, column, rule)
		return
	}
	if where := r.where(path); where != "" {
		message = where + ": " + message
	}
	r.findings = append(r.findings, Finding{
		Pos:  resource.Position{File: r.file, Line: line, Column: column},
		Rule: rule, Severity: cmp.Or(r.severity, SeverityError), Message: Conceal(oneLine(message)), Hint: Conceal(oneLine(hint)), Path: path,
	})
}

// more counts a finding beyond maxFindings in one that stands for all of them, where the first of them is.
func (r *report) more(line, column int, rule string) {
	if r.beyond++; r.beyond == 1 {
		r.findings = append(r.findings, Finding{
			Pos:  resource.Position{File: r.file, Line: line, Column: column},
			Rule: rule, Severity: cmp.Or(r.severity, SeverityError), Hint: "mend the others of this file first",
		})
	}
	last := &r.findings[len(r.findings)-1]
	last.Message = fmt.Sprintf("the first of %d more in this file, which are not shown", r.beyond)
	if r.beyond == 1 {
		last.Message = "one more in this file, which is not shown"
	}
	if r.severity == "" {
		last.Severity = SeverityError
	}
}

// where names a field as people do: by its resource and what lies below it.
func (r *report) where(path string) string {
	item, below, _ := strings.Cut(path, ".")
	if r.resource == "" || !strings.HasPrefix(item, "resources[") {
		return path
	}
	if below == "" {
		return r.resource
	}
	return r.resource + ": " + below
}

// at adds a finding at a node.
func (r *report) at(n *node, rule, path, message, hint string) {
	r.add(n.line, n.column, rule, path, message, hint)
}
