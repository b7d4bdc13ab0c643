// Package canonical writes JSON in the one form that is hashed, stored and sent to plugins: RFC 8785 (JCS), that is
// object names sorted by UTF-16 code units, no spaces, the shortest escapes, numbers as ECMAScript prints them.
//
// It knows nothing of what the documents mean.
package canonical

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Digest gives "sha256:" and the lower-case hexadecimal digest of the bytes.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Text gives s when it is UTF-8, and otherwise a readable stand-in: every byte that belongs to no UTF-8 sequence
// becomes \xHH (lower-case hexadecimal) and every backslash is doubled. File names and link targets are bytes; JSON
// strings are not.
func Text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// appendString appends s, which must be UTF-8, as a JSON string with the escapes of RFC 8785 section 3.2.2.2.
func appendString(dst []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// appendNumber appends f as ECMAScript's Number::toString does (RFC 8785 section 3.2.2.3).
func appendNumber(dst []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("canonical JSON has no number %v", f)
	}
	if f == 0 {
		return append(dst, '0'), nil // also for -0
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	// Go pads the exponent to two digits, ECMAScript does not.
	if n := len(text); n >= 4 && text[n-2] == '0' && (text[n-3] == '-' || text[n-3] == '+') {
		text = text[:n-2] + text[n-1:]
	}
	return append(dst, text...), nil
}

// member is one name of an object with its encoded value.
type member struct {
	name  string
	value []byte
}

// appendObject sorts the members and appends the object; a name that occurs twice is an error.
func appendObject(dst []byte, members []member) ([]byte, error) {
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.name, b.name) })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			if members[i-1].name == m.name {
				return nil, fmt.Errorf("the name %q occurs twice in one object", m.name)
			}
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.name)
		dst = append(dst, ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}'), nil
}

// compareUTF16 orders by UTF-16 code units. That differs from the order of UTF-8 bytes only where a character beyond
// the basic plane meets one from U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] < 0xee || b[i] < 0xee {
			return int(a[i]) - int(b[i])
		}
		break
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// AppendString appends s as a canonical JSON string; what is not UTF-8 enters as [Text] writes it.
func AppendString(dst []byte, s string) []byte { return appendString(dst, Text(s)) }
