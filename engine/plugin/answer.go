package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
)

// Nothing that a plugin says is taken on trust: an answer is canonicalised (which refuses a name that occurs twice),
// then read member by member. A member that is not known is an error, unlike in encoding/json also when only its case
// differs.

// Bounds of what an item shows.
const (
	maxText   = 16 << 10
	maxList   = 4096
	codeChars = 64
)

var codePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// readError reads {"error":{"code","text"},"output"?}, the answer of status 1.
func readError(raw []byte) (*ActionError, error) {
	out := &ActionError{}
	reason := drift.Reason{}
	err := readRecord(raw, "the error answer", members{
		"error!":  into(&reason, readReason),
		"output?": func(raw json.RawMessage) (err error) { out.Output, err = readObject(raw, "output"); return err },
	})
	out.Code, out.Text = reason.Code, reason.Text
	return out, err
}

// readOutput reads {"output"?}, what an apply that worked answers.
func readOutput(raw []byte) (output json.RawMessage, err error) {
	err = readRecord(raw, "the answer", members{
		"output?": func(raw json.RawMessage) (err error) { output, err = readObject(raw, "output"); return err },
	})
	return output, err
}

// readResults gives the results of {"results":[...]}, each as canonical JSON.
func readResults(raw []byte) (results []json.RawMessage, err error) {
	err = readRecord(raw, "the answer", members{"results!": func(raw json.RawMessage) error { return json.Unmarshal(raw, &results) }})
	return results, err
}

// readEach reads the results for n resources.
func readEach[T any](results []json.RawMessage, n int, read func(json.RawMessage) (T, error)) ([]T, error) {
	if len(results) != n {
		return nil, fmt.Errorf("the answer has %d results for %d resources", len(results), n)
	}
	out := make([]T, n)
	var err error
	for i, r := range results {
		if out[i], err = read(r); err != nil {
			return nil, fmt.Errorf("result %d: %w", i, err)
		}
	}
	return out, nil
}

func readObservation(raw json.RawMessage) (o drift.Observation, err error) {
	err = readMembers(raw, "an observation", members{
		"observed!":          func(raw json.RawMessage) (err error) { o.Observed, err = readObject(raw, "observed"); return err },
		"facts?":             func(raw json.RawMessage) (err error) { o.Facts, err = readObject(raw, "facts"); return err },
		"inputs?":            func(raw json.RawMessage) (err error) { o.Inputs, err = readWords(raw); return err },
		"package_may_start?": func(raw json.RawMessage) error { return json.Unmarshal(raw, &o.PackageMayStart) },
		"unobservable?": func(raw json.RawMessage) error {
			if string(raw) == "null" {
				return nil
			}
			o.Unobservable = &drift.Reason{}
			return readReason(raw, o.Unobservable)
		},
	})
	if err == nil && o.Unobservable != nil && o.Observed != nil {
		err = errors.New("it is unobservable and observed at once")
	}
	return o, err
}

// readDecision gives nil for null: in sync.
func readDecision(raw json.RawMessage, verbs []drift.Verb) (*drift.Decision, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	d := &drift.Decision{}
	err := readMembers(raw, "a decision", members{
		"verb!": func(raw json.RawMessage) error {
			if err := readText(raw, (*string)(&d.Verb)); err != nil {
				return err
			}
			if d.Verb != drift.Noop && !slices.Contains(verbs, d.Verb) {
				return fmt.Errorf("%q is none of the manifest's verbs %v", d.Verb, verbs)
			}
			return nil
		},
		"params?": func(raw json.RawMessage) (err error) { d.Params, err = readObject(raw, "params"); return err },
		"reason!": into(&d.Reason, readReason),
		"severity!": func(raw json.RawMessage) error {
			if err := readText(raw, (*string)(&d.Severity)); err != nil {
				return err
			}
			switch d.Severity {
			case drift.SeverityDrift, drift.SeverityWarn, drift.SeverityError:
				return nil
			}
			return fmt.Errorf("there is no severity %q", d.Severity)
		},
		"idempotent?": func(raw json.RawMessage) error { return json.Unmarshal(raw, &d.Idempotent) },
		"blocked?":    into(&d.Blocked, readText),
		"note?":       into(&d.Note, readText),
		"needs?": func(raw json.RawMessage) error {
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil {
				return err
			}
			for _, e := range list {
				need, err := readNeed(e)
				if err != nil {
					return err
				}
				d.Needs = append(d.Needs, need)
			}
			return nil
		},
	})
	if err == nil && d.Blocked != "" && d.Severity != drift.SeverityError {
		err = fmt.Errorf("it is blocked and of severity %s; what is blocked is an error", d.Severity)
	}
	return d, err
}

func readNeed(raw json.RawMessage) (n drift.Need, err error) {
	err = readMembers(raw, "a need", members{
		"kind!": func(raw json.RawMessage) error {
			if err := readText(raw, &n.Kind); err != nil {
				return err
			}
			if !slices.Contains([]string{"path", "file", "user", "group", "unit", "package"}, n.Kind) {
				return fmt.Errorf("there is no kind of need %q", n.Kind)
			}
			return nil
		},
		"name!": into(&n.Name, readText),
		"text!": into(&n.Text, readText),
	})
	return n, err
}

func readReason(raw json.RawMessage, r *drift.Reason) error {
	return readMembers(raw, "a reason", members{
		"code!": func(raw json.RawMessage) error {
			if err := readText(raw, &r.Code); err != nil {
				return err
			}
			if len(r.Code) > codeChars || !codePattern.MatchString(r.Code) {
				return fmt.Errorf("the code %.80q is no words-with-hyphens", r.Code)
			}
			return nil
		},
		"text!": into(&r.Text, readText),
	})
}

// members maps a name with "!" (required) or "?" (optional) behind it to what reads its value.
type members map[string]func(json.RawMessage) error

func into[T any](target *T, read func(json.RawMessage, *T) error) func(json.RawMessage) error {
	return func(raw json.RawMessage) error { return read(raw, target) }
}

// readRecord canonicalises a whole answer and reads its members.
func readRecord(raw []byte, what string, known members) error {
	strict, err := canonical.Transform(raw)
	if err != nil {
		return fmt.Errorf("%s is malformed: %w", what, err)
	}
	return readMembers(strict, what, known)
}

func readMembers(raw json.RawMessage, what string, known members) error {
	var got map[string]json.RawMessage
	if err := json.Unmarshal(raw, &got); err != nil || got == nil {
		return fmt.Errorf("%s is no object", what)
	}
	// In order, since what is wrong first becomes part of an item.
	for _, name := range slices.Sorted(maps.Keys(known)) {
		bare, required := name[:len(name)-1], name[len(name)-1] == '!'
		value, ok := got[bare]
		if !ok {
			if required {
				return fmt.Errorf("%s has no %q", what, bare)
			}
			continue
		}
		delete(got, bare)
		if err := known[name](value); err != nil {
			return fmt.Errorf("%s of %s: %w", bare, what, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		return fmt.Errorf("%s has an unknown member %.80q", what, name)
	}
	return nil
}

func readObject(raw json.RawMessage, what string) (json.RawMessage, error) {
	switch {
	case string(raw) == "null":
		return nil, nil
	case raw[0] != '{':
		return nil, fmt.Errorf("%s is neither an object nor null", what)
	}
	return raw, nil
}

func readText(raw json.RawMessage, s *string) error {
	if raw[0] != '"' {
		return errors.New("it is no string")
	}
	if len(raw) > maxText {
		return fmt.Errorf("the text has more than %d bytes", maxText)
	}
	return json.Unmarshal(raw, s)
}

func readWords(raw json.RawMessage) ([]string, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("it is no list")
	}
	if len(list) > maxList {
		return nil, fmt.Errorf("the list has more than %d entries", maxList)
	}
	var out []string
	for _, e := range list {
		var s string
		if err := readText(e, &s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
