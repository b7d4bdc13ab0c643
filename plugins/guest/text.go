package guest

import "unicode/utf8"

// string reads a JSON string whose opening quote is next.
func (d *decoder) string() string {
	d.at++
	start, at := d.at, d.at
	for at < len(d.in) && d.in[at] != '"' && d.in[at] != '\\' && d.in[at] >= 0x20 {
		at++
	}
	d.at = at
	if at < len(d.in) && d.in[at] == '"' {
		return d.text(d.in[start:at])
	}
	text := append([]byte(nil), d.in[start:at]...)
	for d.at < len(d.in) && d.wrong == "" {
		switch c := d.in[d.at]; {
		case c == '"':
			return d.text(string(text))
		case c < 0x20:
			d.fail("a control character in a string")
		case c == '\\':
			text = d.escape(text)
		default:
			text = append(text, c)
			d.at++
		}
	}
	d.fail("a string does not end")
	return ""
}

// text ends a string at its closing quote.
func (d *decoder) text(raw string) string {
	d.at++
	if !utf8.ValidString(raw) {
		d.fail("a string is not UTF-8")
		return ""
	}
	return raw
}

func (d *decoder) escape(text []byte) []byte {
	if d.at+1 >= len(d.in) {
		d.at = len(d.in)
		return text
	}
	c := d.in[d.at+1]
	d.at += 2
	switch c {
	case '"', '\\', '/':
		return append(text, c)
	case 'b':
		return append(text, '\b')
	case 'f':
		return append(text, '\f')
	case 'n':
		return append(text, '\n')
	case 'r':
		return append(text, '\r')
	case 't':
		return append(text, '\t')
	case 'u':
		r := d.hex()
		if r >= 0xD800 && r < 0xDC00 && d.at+1 < len(d.in) && d.in[d.at] == '\\' && d.in[d.at+1] == 'u' {
			d.at += 2
			if low := d.hex(); low >= 0xDC00 && low < 0xE000 {
				return appendRune(text, 0x10000+(r-0xD800)<<10+(low-0xDC00))
			}
		}
		if r >= 0xD800 && r < 0xE000 {
			d.fail("half a surrogate pair")
			return text
		}
		return appendRune(text, r)
	}
	d.fail("no such escape")
	return text
}

// hex reads the four digits of an escape.
func (d *decoder) hex() rune {
	if len(d.in)-d.at < 4 {
		d.fail("an escape is cut off")
		d.at = len(d.in)
		return 0
	}
	var r rune
	for i := d.at; i < d.at+4; i++ {
		switch c := d.in[i]; {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			d.fail("an escape needs four hexadecimal digits")
		}
	}
	d.at += 4
	return r
}
