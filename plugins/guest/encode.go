package guest

const hexDigits = "0123456789abcdef"

// Encode gives the canonical form of a value (RFC 8785): no spaces, members ordered by name, the shortest escapes.
func Encode(v Value) []byte { return appendValue(make([]byte, 0, size(v)), v) }

// size is about how many bytes a value takes, so that the output seldom has to grow.
func size(v Value) int {
	n := 24 + len(v.Text())
	for _, item := range v.Items() {
		n += size(item) + 1
	}
	for _, f := range v.Fields() {
		n += len(f.Name) + size(f.Value) + 4
	}
	return n
}

func appendValue(out []byte, v Value) []byte {
	switch v.Kind() {
	case KindBool:
		if v.True() {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	case KindInt:
		return appendInt(out, v.Number())
	case KindString:
		return appendString(out, v.Text())
	case KindList:
		out = append(out, '[')
		for i, item := range v.Items() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendValue(out, item)
		}
		return append(out, ']')
	case KindObject:
		return appendObject(out, v.Fields())
	}
	return append(out, "null"...)
}

func appendObject(out []byte, fields []Field) []byte {
	out = append(out, '{')
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, f.Name)
		out = append(out, ':')
		out = appendValue(out, f.Value)
	}
	return append(out, '}')
}

// byName orders as RFC 8785 wants it, by UTF-16 code units. That is the order of UTF-8 bytes but for the characters
// beyond U+FFFF: their units begin with D8, so they stand before U+E000 to U+FFFF (bytes EE and EF).
func byName(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
			x, y = y, x
		}
		return int(x) - int(y)
	}
	return len(a) - len(b)
}

func appendInt(out []byte, n int64) []byte {
	var digits [20]byte
	i := len(digits)
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	for {
		i--
		digits[i] = '0' + byte(u%10)
		if u /= 10; u == 0 {
			break
		}
	}
	if n < 0 {
		i--
		digits[i] = '-'
	}
	return append(out, digits[i:]...)
}

func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	if plain(s) {
		return append(append(out, s...), '"')
	}
	// Ranging over a string gives U+FFFD for what is not UTF-8, so the answer is valid whatever a plugin puts in it.
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r >= 0x20:
			out = appendRune(out, r)
		case r == '\b':
			out = append(out, '\\', 'b')
		case r == '\f':
			out = append(out, '\\', 'f')
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		}
	}
	return append(out, '"')
}

// plain says that a text is ASCII without anything to escape, as most are.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendRune(out []byte, r rune) []byte {
	switch {
	case r < 0x80:
		return append(out, byte(r))
	case r < 0x800:
		return append(out, 0xC0|byte(r>>6), 0x80|byte(r)&0x3F)
	case r < 0x10000:
		return append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return append(out, 0xF0|byte(r>>18), 0x80|byte(r>>12)&0x3F, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}
