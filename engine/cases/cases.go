// Package cases reads and judges the test cases of a catalog: a tape, and what a check of it with this catalog is to find. It
// knows neither plugins nor how a tape is played.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/outcome"
)

// Dir is the folder of a catalog that holds its cases, one YAML file each.
const Dir = "tests"

// maxCase bounds a case's file, in bytes.
const maxCase = 1 << 20

// Case is one test of a catalog.
type Case struct {
	// Name is the file's name without .yaml.
	Name string `json:"-"`
	// File is the path of the case's file.
	File string `json:"-"`
	// Tape is the tape's path, relative to the folder of the cases.
	Tape string `json:"tape"`
	// Host is the host record to check; the tape's own host when empty.
	Host string `json:"host"`
	// Only and Skip are the selection; the tape's own when both are empty.
	Only []string `json:"only"`
	Skip []string `json:"skip"`
	// Expect is what the check must find, item by item in the order of execution; nil when the case does not say it yet.
	Expect []Expected `json:"expect"`
}

// Expected is one item that must be found.
type Expected struct {
	Verb drift.Verb `json:"verb"`
	ID   string     `json:"id"`
	// Severity is drift when it is left out.
	Severity drift.Severity `json:"severity"`
	Blocked  bool           `json:"blocked"`
	// Reason and Params are compared where they are given.
	Reason string          `json:"reason"`
	Params json.RawMessage `json:"params"`
}

// Names lists the cases of a catalog, sorted. A catalog without the folder has none.
func Names(catalog string) ([]string, error) {
	list, err := os.ReadDir(filepath.Join(catalog, Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range list {
		if name, is := strings.CutSuffix(e.Name(), ".yaml"); is && !e.IsDir() {
			names = append(names, name)
		}
	}
	return names, err
}

// Read reads a case of a catalog.
func Read(catalog, name string) (*Case, error) {
	c := &Case{Name: name, File: filepath.Join(catalog, Dir, name+".yaml")}
	info, err := os.Stat(c.File)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxCase {
		return nil, fmt.Errorf("%s: a case is a regular file of at most %d bytes", c.File, maxCase)
	}
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return nil, err
	}
	return c, c.parse(raw)
}

func (c *Case) parse(raw []byte) error {
	doc, findings := manifest.Document(c.File, raw)
	if len(findings) > 0 {
		return errors.New(findings[0].String())
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return fmt.Errorf("%s: %w; a case has tape, host, only, skip and expect", c.File, err)
	}
	if c.Tape == "" {
		return fmt.Errorf("%s: it names no tape; write tape: and a path relative to this file", c.File)
	}
	for i, e := range c.Expect {
		switch {
		case e.ID == "" || !slices.Contains(drift.Verbs(), e.Verb):
			return fmt.Errorf("%s: expect[%d]: an item needs an id and a verb, one of %v", c.File, i, drift.Verbs())
		case e.Severity == "":
			c.Expect[i].Severity = drift.SeverityDrift
		case !slices.Contains([]drift.Severity{drift.SeverityDrift, drift.SeverityWarn, drift.SeverityError}, e.Severity):
			return fmt.Errorf("%s: expect[%d]: severity is drift, warn or error", c.File, i)
		}
	}
	return nil
}

// TapePath is where the case's tape lies, relative to the catalog.
func (c *Case) TapePath() string {
	return filepath.Join(Dir, filepath.FromSlash(c.Tape))
}

// Difference is one way in which a check did not find what was expected.
type Difference struct {
	// Want and Got are items in a line of words; empty where there is none.
	Want string `json:"want,omitempty"`
	Got  string `json:"got,omitempty"`
}

// Judge compares what a check found with what the case expects, item by item.
func (c *Case) Judge(found outcome.Outcome) []Difference {
	var out []Difference
	for i := range max(len(c.Expect), len(found.Items)) {
		switch {
		case i >= len(found.Items):
			out = append(out, Difference{Want: c.Expect[i].words()})
		case i >= len(c.Expect):
			out = append(out, Difference{Got: expected(found.Items[i]).words()})
		case !c.Expect[i].fits(found.Items[i]):
			out = append(out, Difference{Want: c.Expect[i].words(), Got: c.Expect[i].like(found.Items[i]).words()})
		}
	}
	return out
}

func (e Expected) fits(l outcome.Line) bool {
	return e.Verb == l.Verb && e.ID == l.ID && e.Severity == l.Severity && e.Blocked == l.Blocked &&
		(e.Reason == "" || e.Reason == l.Reason) && (len(e.Params) == 0 || sameParams(e.Params, l.Params))
}

func sameParams(a, b json.RawMessage) bool {
	if len(b) == 0 {
		b = json.RawMessage("{}")
	}
	ca, errA := canonical.Transform(a)
	cb, errB := canonical.Transform(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// like gives an item with as much detail as the expectation has.
func (e Expected) like(l outcome.Line) Expected {
	got := expected(l)
	if len(e.Params) > 0 {
		got.Params = l.Params
	}
	return got
}

func expected(l outcome.Line) Expected {
	return Expected{Verb: l.Verb, ID: l.ID, Severity: l.Severity, Blocked: l.Blocked, Reason: l.Reason}
}

func (e Expected) words() string {
	words := []string{string(e.Verb), e.ID}
	if e.Severity != drift.SeverityDrift {
		words = append(words, string(e.Severity))
	}
	if e.Blocked {
		words = append(words, "blocked")
	}
	if e.Reason != "" {
		words = append(words, e.Reason)
	}
	if len(e.Params) > 0 {
		words = append(words, string(e.Params))
	}
	return strings.Join(words, " ")
}
