package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/outcome"
)

// expectLine begins the part of a case that Update writes; it is the last one.
const expectLine = "\nexpect:"

// Update writes into the case's file what a check found as what is expected. What stands before expect: stays as it is.
func (c *Case) Update(found outcome.Outcome) error {
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	head, tail, _ := strings.Cut("\n"+string(raw), expectLine)
	for _, line := range strings.Split(tail, "\n")[min(1, strings.Count(tail, "\n")):] {
		if line != "" && !strings.ContainsAny(line[:1], " -#") {
			return fmt.Errorf("%s: put expect: last, so that it can be written anew", c.File)
		}
	}
	head = strings.TrimRight(head[min(1, len(head)):], "\n") + "\n"
	return os.WriteFile(c.File, append([]byte(head), expectation(found)...), 0o644)
}

// Add writes a new case for a tape that lies beside it; host is empty for the tape's own.
func Add(file, host, tape string, found outcome.Outcome) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	head := "tape: " + quote(tape) + "\n"
	if host != "" {
		head += "host: " + quote(host) + "\n"
	}
	_, err = f.Write(append([]byte(head), expectation(found)...))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// expectation writes the items as YAML that every reader understands alike.
func expectation(found outcome.Outcome) []byte {
	var b bytes.Buffer
	if len(found.Items) == 0 {
		b.WriteString("expect: [] # in sync\n")
		return b.Bytes()
	}
	b.WriteString("expect:\n")
	for _, l := range found.Items {
		fmt.Fprintf(&b, "  - verb: %s\n    id: %s\n", l.Verb, quote(l.ID))
		if l.Severity != drift.SeverityDrift {
			fmt.Fprintf(&b, "    severity: %s\n", l.Severity)
		}
		if l.Blocked {
			b.WriteString("    blocked: true\n")
		}
		if l.Reason != "" {
			fmt.Fprintf(&b, "    reason: %s\n", quote(l.Reason))
		}
	}
	return b.Bytes()
}

// quote writes a string in double quotes: JSON's escapes are YAML's.
func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}
