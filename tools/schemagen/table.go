package main

// Value is what one field, element or label may be: one of Alts. It is the form in which engine/manifest reads the
// definitions.
type Value struct {
	Alts []Alt `json:"alts"`
	// Hint says what is right, where the definitions say it.
	Hint string `json:"hint,omitempty"`
	// Default stands where the field is left out.
	Default any `json:"default,omitempty"`
}

// Alt is one form of a value: a kind and what holds for it.
type Alt struct {
	// Kind is string, bool, int, list, struct or any.
	Kind string `json:"kind"`
	// Enum lists the strings allowed.
	Enum []string `json:"enum,omitempty"`
	// Match and Reject are regular expressions (RE2) that a string meets and does not meet.
	Match  []string `json:"match,omitempty"`
	Reject []string `json:"reject,omitempty"`
	// NonEmpty refuses the empty string.
	NonEmpty bool `json:"non_empty,omitempty"`
	// Min and Max bound an int, MinItems a list.
	Min      *int64 `json:"min,omitempty"`
	Max      *int64 `json:"max,omitempty"`
	MinItems int    `json:"min_items,omitempty"`
	// Items is every element of a list.
	Items *Value `json:"items,omitempty"`
	// Def names the definition that a struct was written as, "" for one in place.
	Def string `json:"def,omitempty"`
	// Fields and Labels are what a struct holds; a field that neither names is an error.
	Fields []Field `json:"fields,omitempty"`
	Labels []Label `json:"labels,omitempty"`
	// Open is set for a struct that may hold anything.
	Open bool `json:"open,omitempty"`
	// ID is the field that an id is made of, as <type>:<field>, or two of them with # between.
	ID string `json:"id,omitempty"`
}

// Field is a named field of a struct.
type Field struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc,omitempty"`
	Value
}

// Label says what holds for the fields whose names meet it.
type Label struct {
	Match  []string `json:"match,omitempty"`
	Reject []string `json:"reject,omitempty"`
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
