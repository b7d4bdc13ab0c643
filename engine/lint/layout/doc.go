// Package layout judges how a manifest is written, and rewrites it without changing what it says: line endings, blank
// space, indentation, the order of keys, quotes. A rewriting is taken only when the document is the same before and
// after and no comment is lost.
//
// It must not know what the fields mean, but for their order, and it reads and writes no files.
package layout

import "gyrum.ai/engine/manifest"

// The rules that a problem names.
const (
	RuleEndings     = "line-endings"
	RuleBlank       = "blank-space"
	RuleIndentation = "indentation"
	RuleOrder       = "key-order"
	RuleQuotes      = "quotes"
	RuleAmbiguous   = "ambiguous-word"
)

// Problem is one thing that is written in another way than it should be.
type Problem struct {
	// Line and Column count from 1.
	Line, Column int
	Rule         string
	Message      string
	// Hint says what to write instead.
	Hint string
}

// Rules describes the rules, in the order in which they are applied.
func Rules() []manifest.Rule {
	return []manifest.Rule{
		{ID: RuleEndings, Title: "lines end in a line feed", Doc: "Every line ends in one line feed, without a carriage return."},
		{ID: RuleBlank, Title: "no needless blank space", Doc: "No line ends in spaces or tabs, the file neither begins nor ends with empty lines and has not more than two in a row, and its last line ends too. What stands inside a block or a quoted text is left alone."},
		{ID: RuleIndentation, Title: "two spaces a level", Doc: "Mappings and lists below a key are indented by two spaces, lists as well, and one space follows a dash."},
		{ID: RuleOrder, Title: "keys in the order of reading", Doc: "A role begins with role and version and ends with its resources; a host begins with its name; a resource begins with its type. In hosts and in catalog.yaml the keys of other tools (x-*) come last; roles take none."},
		{ID: RuleQuotes, Title: "double quotes", Doc: "Quoted texts stand in double quotes; single ones are for texts with backslashes or double quotes in them."},
		{ID: RuleAmbiguous, Title: "words that YAML readers disagree about stand in quotes", Doc: "yes, no, on, off, 1:30, 2026-01-31 and their like are strings in YAML 1.2 and something else to readers of YAML 1.1; quotes make them the same for all."},
	}
}
