// Package lines finds, puts and takes one managed line in a text that others own. It works on bytes: what it does not
// change stays as it is, line ends and the lack of a last one included.
//
// It knows no files and no resources.
package lines

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
)

// Rule says which line is managed: every one that equals Line or meets Match.
type Rule struct {
	Line string
	// Match may be nil.
	Match *regexp.Regexp
	// After and Before say beside which line a new one goes; at most one is set, and without one it goes to the end.
	After, Before *regexp.Regexp
}

// State is what a text holds of the managed line.
type State struct {
	// Managed counts the managed lines, Same those of them that equal Line.
	Managed int `json:"managed"`
	Same    int `json:"same"`
	// Anchors counts the lines that After or Before meets, apart from managed ones.
	Anchors int `json:"anchors"`
}

// ErrAmbiguous is the error for a text in which it is not clear which line is meant.
var ErrAmbiguous = errors.New("ambiguous")

// Look finds the managed line.
func (r Rule) Look(text []byte) State {
	var s State
	for _, l := range split(text) {
		same, managed := r.managed(l)
		switch {
		case managed:
			s.Managed++
			if same {
				s.Same++
			}
		case r.anchor() != nil && r.anchor().Match(body(l)):
			s.Anchors++
		}
	}
	return s
}

// Put gives the text with the managed line as declared: replaced in its place, or put in. It fails where several managed
// lines differ, and where the anchor is not one line.
func (r Rule) Put(text []byte) ([]byte, error) {
	s := r.Look(text)
	switch {
	case s.Managed > 0 && s.Same == s.Managed:
		return text, nil
	case s.Managed > 1:
		return nil, fmt.Errorf("%d lines are meant by the rule and they differ: %w", s.Managed, ErrAmbiguous)
	case s.Managed == 0 && r.anchor() != nil && s.Anchors != 1:
		return nil, fmt.Errorf("%d lines are met by the expression that says where the line goes, not one: %w", s.Anchors, ErrAmbiguous)
	}
	all := split(text)
	var out []byte
	for _, l := range all {
		_, managed := r.managed(l)
		beside := s.Managed == 0 && r.anchor() != nil && r.anchor().Match(body(l))
		switch {
		case managed:
			out = append(append(out, r.Line...), l[len(body(l)):]...)
			if r.Line == "" && !bytes.HasSuffix(l, []byte("\n")) { // an empty line is nothing but its end
				if bytes.HasSuffix(l, []byte("\r")) {
					out = append(out, '\n')
				} else {
					out = append(out, end(text)...)
				}
			}
		case beside && r.Before != nil:
			out = append(append(append(out, r.Line...), end(text)...), l...)
		case beside:
			out = append(complete(append(out, l...), text), r.Line...)
			out = append(out, end(text)...)
		default:
			out = append(out, l...)
		}
	}
	if s.Managed == 0 && r.anchor() == nil {
		out = append(append(complete(out, text), r.Line...), end(text)...)
	}
	return out, nil
}

// Take gives the text without the managed line. It fails where several managed lines are there and not all as declared.
func (r Rule) Take(text []byte) ([]byte, error) {
	if s := r.Look(text); s.Managed > 1 && s.Same < s.Managed {
		return nil, fmt.Errorf("%d lines are meant by the rule and they differ: %w", s.Managed, ErrAmbiguous)
	}
	var out []byte
	for _, l := range split(text) {
		if _, managed := r.managed(l); !managed {
			out = append(out, l...)
		}
	}
	return out, nil
}

func (r Rule) anchor() *regexp.Regexp {
	if r.After != nil {
		return r.After
	}
	return r.Before
}

// managed says whether a line is the managed one, and whether it reads as declared.
func (r Rule) managed(l []byte) (same, managed bool) {
	same = string(body(l)) == r.Line
	return same, same || r.Match != nil && r.Match.Match(body(l))
}

// split gives the lines with their ends; a last one without an end counts.
func split(text []byte) [][]byte {
	all := bytes.SplitAfter(text, []byte("\n"))
	if len(all[len(all)-1]) == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// body is a line without its end: a line feed with or without a carriage return before it, or the first half of that at
// the end of the text.
func body(l []byte) []byte { return bytes.TrimSuffix(bytes.TrimSuffix(l, []byte("\n")), []byte("\r")) }

// end is how lines end in a text: as its first one does.
func end(text []byte) string {
	if at := bytes.IndexByte(text, '\n'); at > 0 && text[at-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// complete gives a last line its end.
func complete(out, text []byte) []byte {
	switch {
	case len(out) == 0 || out[len(out)-1] == '\n':
		return out
	case out[len(out)-1] == '\r':
		return append(out, '\n') // the half of an end is completed, so that the line stays what it was
	}
	return append(out, end(text)...)
}
