package manifest

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"sync"
)

// The definitions of cue/, as tools/schemagen exports them. The field names are those of its table.go.

//go:embed table.json
var tableJSON []byte

// value is what one field, element or label may be: one of the alternatives.
type value struct {
	Alts    []*alt `json:"alts"`
	Hint    string `json:"hint"`
	Default any    `json:"default"`
}

// alt is one form of a value.
type alt struct {
	Kind     kind         `json:"kind"`
	Enum     []string     `json:"enum"`
	Match    []*pattern   `json:"match"`
	Reject   []*pattern   `json:"reject"`
	NonEmpty bool         `json:"non_empty"`
	Min      *int64       `json:"min"`
	Max      *int64       `json:"max"`
	MinItems int          `json:"min_items"`
	Items    *value       `json:"items"`
	Def      string       `json:"def"`
	Fields   []fieldValue `json:"fields"`
	Labels   []label      `json:"labels"`
	Open     bool         `json:"open"`
	ID       string       `json:"id"`
}

// fieldValue is a named field of a struct.
type fieldValue struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Doc      string `json:"doc"`
	value
}

// label is what holds for fields whose names meet it.
type label struct {
	Match  []*pattern `json:"match"`
	Reject []*pattern `json:"reject"`
	value
}

// pattern is a regular expression that is compiled when it is first used.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// UnmarshalJSON keeps the text.
func (p *pattern) UnmarshalJSON(raw []byte) error { return json.Unmarshal(raw, &p.text) }

func (p *pattern) match(s string) bool {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re.MatchString(s)
}

// meets says whether s matches all of match and none of reject.
func meets(s string, match, reject []*pattern) bool {
	for _, p := range match {
		if !p.match(s) {
			return false
		}
	}
	for _, p := range reject {
		if p.match(s) {
			return false
		}
	}
	return true
}

// table is everything that files are judged by.
type table struct {
	Role     *alt              `json:"role"`
	Host     *alt              `json:"host"`
	Catalog  *alt              `json:"catalog"`
	Resource *alt              `json:"resource"`
	Types    map[string]*alt   `json:"types"`
	Docs     map[string]string `json:"docs"`
	Patterns map[string]string `json:"patterns"`
}

// definitions is the parsed table; the embedded file is generated and tested, so it parses.
var definitions = sync.OnceValue(func() *table {
	var t table
	if err := json.Unmarshal(tableJSON, &t); err != nil {
		panic("manifest: the embedded table.json is damaged: " + err.Error())
	}
	return &t
})

// field finds a named field of a struct.
func (a *alt) field(name string) *fieldValue {
	for i := range a.Fields {
		if a.Fields[i].Name == name {
			return &a.Fields[i]
		}
	}
	return nil
}

// defaultText gives a field's default string, "" when it has none.
func (a *alt) defaultText(name string) string {
	if f := a.field(name); f != nil {
		if s, ok := f.Default.(string); ok {
			return s
		}
	}
	return ""
}
