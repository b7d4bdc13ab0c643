package main

// Value is what one field, element or label may be: one of Alts. It is the form in which engine/manifest reads the
// definitions.
type Value struct {
	Alts []Alt
	// Hint says what is right, where the definitions say it.
	Hint string
	// Default stands where the field is left out.
	Default any
}

// Alt is one form of a value: a kind and what holds for it.
type Alt struct {
	// Kind is string, bool, int, list, struct or any.
	Kind string
	// Enum lists the strings allowed.
	Enum []string
	// Match and Reject are regular expressions (RE2) that a string meets and does not meet.
	Match  []string
	Reject []string
	// NonEmpty refuses the empty string.
	NonEmpty bool
	// Min and Max bound an int, MinItems a list.
	Min      *int64
	Max      *int64
	MinItems int
	// Items is every element of a list.
	Items *Value
	// Def names the definition that a struct was written as, "" for one in place.
	Def string
	// Fields and Labels are what a struct holds; a field that neither names is an error.
	Fields []Field
	Labels []Label
	// Open is set for a struct that may hold anything.
	Open bool
	// ID is the field that an id is made of, as <type>:<field>, or two of them with # between.
	ID string
}

// Field is a named field of a struct.
type Field struct {
	Name     string
	Required bool
	Doc      string
	Value
}

// Label says what holds for the fields whose names meet it.
type Label struct {
	Match  []string
	Reject []string
	Value
}

// Table is everything that engine/manifest judges by.
type Table struct {
	Role     Alt
	Host     Alt
	Catalog  Alt
	Resource Alt
	Types    map[string]Alt
	// Docs are the descriptions of the types and of the three kinds of file.
	Docs map[string]string
	// Patterns are the named regular expressions of the definitions.
	Patterns map[string]string
}
