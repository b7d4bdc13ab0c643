package envfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxAssignment is the longest NAME=value with its NUL that execve(2) passes on (MAX_ARG_STRLEN).
const maxAssignment = 128 << 10

// Write gives the bytes that systemd reads back as exactly these variables, sorted by name, so that the same variables
// always give the same bytes. An error names the variable and never holds its value.
func Write(vars map[string]string) ([]byte, error) {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		value := vars[name]
		if err := Check(name, value); err != nil {
			return nil, err
		}
		out.WriteString(name)
		out.WriteByte('=')
		quote(&out, value)
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// Check says why a variable cannot be written; nil when it can. The error names the variable and never holds its value.
func Check(name, value string) error {
	switch {
	case !ValidName(name):
		return fmt.Errorf("%q is no name of a variable: use letters, digits and _, not beginning with a digit", name)
	case !ValidText(value):
		return fmt.Errorf("the value of %s has bytes that systemd refuses: it must be UTF-8 without NUL and noncharacters", name)
	case len(name)+len(value)+2 > maxAssignment:
		return fmt.Errorf("the value of %s is longer than a process can be given (128 KiB)", name)
	}
	return nil
}

// quote writes a plain value as it is and puts any other in double quotes, where both systemd and a shell take everything
// literally but the four characters that are escaped.
func quote(out *bytes.Buffer, value string) {
	if !strings.ContainsFunc(value, special) {
		out.WriteString(value)
		return
	}
	out.WriteByte('"')
	for i := range len(value) {
		switch value[i] {
		case '"', '\\', '`', '$':
			out.WriteByte('\\')
		}
		out.WriteByte(value[i])
	}
	out.WriteByte('"')
}

func special(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:@%+,-", r)
	return !plain
}
