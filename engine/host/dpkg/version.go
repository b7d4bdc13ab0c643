package dpkg

import (
	"strconv"
	"strings"

	"gyrum.ai/engine/host/fault"
)

// Compare orders two versions as dpkg does: -1, 0 or 1. The rules are deb-version(7)'s: a tilde sorts before everything,
// even the end; letters sort before other characters; digits compare as numbers. The error is a fault, code invalid,
// for a text that is no version.
func Compare(a, b string) (int, error) {
	x, err := parseVersion(a)
	if err != nil {
		return 0, err
	}
	y, err := parseVersion(b)
	if err != nil {
		return 0, err
	}
	if x.epoch != y.epoch {
		return sign(x.epoch - y.epoch), nil
	}
	if c := comparePart(x.upstream, y.upstream); c != 0 {
		return c, nil
	}
	return comparePart(x.revision, y.revision), nil
}

type version struct {
	epoch              int
	upstream, revision string
}

// parseVersion splits [epoch:]upstream[-revision].
func parseVersion(s string) (version, error) {
	var v version
	rest := s
	if epoch, after, ok := strings.Cut(s, ":"); ok {
		n, err := strconv.ParseUint(epoch, 10, 31)
		if err != nil || strings.HasPrefix(epoch, "+") {
			return v, fault.New(fault.Invalid, "%q is no Debian version: what stands before the colon must be a number", s)
		}
		v.epoch, rest = int(n), after
	}
	v.upstream = rest
	if i := strings.LastIndexByte(rest, '-'); i >= 0 {
		v.upstream, v.revision = rest[:i], rest[i+1:]
		if v.revision == "" {
			return v, fault.New(fault.Invalid, "%q is no Debian version: nothing follows the last hyphen", s)
		}
	}
	if v.upstream == "" {
		return v, fault.New(fault.Invalid, "%q is no Debian version: write it as dpkg shows it, such as 1:2.0-1", s)
	}
	for _, part := range []struct{ text, extra string }{{v.upstream, ".-+~:"}, {v.revision, ".+~"}} {
		for i := 0; i < len(part.text); i++ {
			if c := part.text[i]; !isDigit(c) && !isAlpha(c) && strings.IndexByte(part.extra, c) < 0 {
				return v, fault.New(fault.Invalid, "%q is no Debian version: %q does not belong in one", s, string(rune(c)))
			}
		}
	}
	return v, nil
}

// comparePart compares an upstream version or a revision: runs of non-digits and runs of digits in turn.
func comparePart(a, b string) int {
	for a != "" || b != "" {
		for (a != "" && !isDigit(a[0])) || (b != "" && !isDigit(b[0])) {
			if c := sign(order(a) - order(b)); c != 0 {
				return c
			}
			// Equal weights: both sides stand on the same non-digit.
			a, b = a[1:], b[1:]
		}
		x, y := digits(&a), digits(&b)
		if len(x) != len(y) {
			return sign(len(x) - len(y))
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

// order is the weight of the first character of s.
func order(s string) int {
	switch {
	case s == "" || isDigit(s[0]):
		return 0
	case s[0] == '~':
		return -1
	case isAlpha(s[0]):
		return int(s[0])
	}
	return int(s[0]) + 256
}

// digits cuts the leading digits off s, without leading zeros.
func digits(s *string) string {
	i := 0
	for i < len(*s) && isDigit((*s)[i]) {
		i++
	}
	d := strings.TrimLeft((*s)[:i], "0")
	*s = (*s)[i:]
	return d
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
