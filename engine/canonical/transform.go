package canonical

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting that Transform follows; no document of ours is deeper than ten.
const maxDepth = 512

// Transform gives the canonical form of one JSON text. It refuses what has no canonical form or more than one reading:
// text that is not UTF-8, a name that occurs twice in an object, a lone surrogate, anything after the value.
func Transform(raw []byte) ([]byte, error) {
	if !utf8.Valid(raw) {
		return nil, fmt.Errorf("JSON text is not UTF-8")
	}
	p := parser{in: string(raw)}
	out, err := p.value(make([]byte, 0, len(raw)), 0)
	if err != nil {
		return nil, fmt.Errorf("JSON at byte %d: %w", p.at, err)
	}
	p.space()
	if p.at != len(p.in) {
		return nil, fmt.Errorf("JSON at byte %d: something follows the value", p.at)
	}
	return out, nil
}

type parser struct {
	in string
	at int
}

func (p *parser) space() {
	for p.at < len(p.in) {
		switch p.in[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// take moves over c when it comes next.
func (p *parser) take(c byte) bool {
	if p.at < len(p.in) && p.in[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value(dst []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	p.space()
	if p.at == len(p.in) {
		return nil, fmt.Errorf("a value is missing")
	}
	switch c := p.in[p.at]; {
	case c == '{':
		return p.object(dst, depth)
	case c == '[':
		return p.array(dst, depth)
	case c == '"':
		s, err := p.text()
		if err != nil {
			return nil, err
		}
		return appendString(dst, s), nil
	case c == '-' || c >= '0' && c <= '9':
		return p.number(dst)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.in[p.at:], word) {
			p.at += len(word)
			return append(dst, word...), nil
		}
	}
	return nil, fmt.Errorf("no value begins with %q", p.in[p.at])
}

func (p *parser) object(dst []byte, depth int) ([]byte, error) {
	p.at++
	var members []member
	p.space()
	if p.take('}') {
		return append(dst, '{', '}'), nil
	}
	for {
		p.space()
		if p.at == len(p.in) || p.in[p.at] != '"' {
			return nil, fmt.Errorf("a name in quotes is missing")
		}
		name, err := p.text()
		if err != nil {
			return nil, err
		}
		p.space()
		if !p.take(':') {
			return nil, fmt.Errorf("a colon is missing")
		}
		value, err := p.value(nil, depth+1)
		if err != nil {
			return nil, err
		}
		members = append(members, member{name, value})
		p.space()
		if p.take(',') {
			continue
		}
		if p.take('}') {
			return appendObject(dst, members)
		}
		return nil, fmt.Errorf("a comma or } is missing")
	}
}

func (p *parser) array(dst []byte, depth int) ([]byte, error) {
	p.at++
	dst = append(dst, '[')
	p.space()
	if p.take(']') {
		return append(dst, ']'), nil
	}
	for {
		var err error
		if dst, err = p.value(dst, depth+1); err != nil {
			return nil, err
		}
		p.space()
		if p.take(',') {
			dst = append(dst, ',')
			continue
		}
		if p.take(']') {
			return append(dst, ']'), nil
		}
		return nil, fmt.Errorf("a comma or ] is missing")
	}
}

// number reads a number by JSON's grammar, which is narrower than strconv's.
func (p *parser) number(dst []byte) ([]byte, error) {
	start := p.at
	p.take('-')
	if !p.take('0') && p.digits() == 0 {
		return nil, fmt.Errorf("a digit is missing")
	}
	if p.take('.') && p.digits() == 0 {
		return nil, fmt.Errorf("a digit is missing after the point")
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if p.digits() == 0 {
			return nil, fmt.Errorf("a digit is missing in the exponent")
		}
	}
	f, err := strconv.ParseFloat(p.in[start:p.at], 64)
	if err != nil {
		return nil, fmt.Errorf("number %s is out of range", p.in[start:p.at])
	}
	return appendNumber(dst, f)
}

func (p *parser) digits() int {
	start := p.at
	for p.at < len(p.in) && p.in[p.at] >= '0' && p.in[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}

// text reads a string in quotes.
func (p *parser) text() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.in) && p.in[p.at] != '"' && p.in[p.at] != '\\' && p.in[p.at] >= 0x20 {
		p.at++
	}
	if p.at < len(p.in) && p.in[p.at] == '"' {
		p.at++
		return p.in[start : p.at-1], nil // the common case, without a copy
	}
	b := []byte(p.in[start:p.at])
	for p.at < len(p.in) {
		c := p.in[p.at]
		p.at++
		switch {
		case c == '"':
			return string(b), nil
		case c < 0x20:
			return "", fmt.Errorf("a control character in a string must be escaped")
		case c != '\\':
			b = append(b, c)
			continue
		}
		r, err := p.escape()
		if err != nil {
			return "", err
		}
		b = utf8.AppendRune(b, r)
	}
	return "", fmt.Errorf("a string has no end")
}

func (p *parser) escape() (rune, error) {
	if p.at == len(p.in) {
		return 0, fmt.Errorf("a string has no end")
	}
	c := p.in[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		r, err := p.unit()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		if p.take('\\') && p.take('u') {
			low, err := p.unit()
			if err != nil {
				return 0, err
			}
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, nil
			}
		}
		return 0, fmt.Errorf("a lone surrogate is no character")
	}
	return 0, fmt.Errorf("no escape \\%c", c)
}

// unit reads the four digits of \uXXXX.
func (p *parser) unit() (rune, error) {
	if len(p.in)-p.at < 4 {
		return 0, fmt.Errorf("\\u needs four hexadecimal digits")
	}
	n, err := strconv.ParseUint(p.in[p.at:p.at+4], 16, 16)
	if err != nil {
		return 0, fmt.Errorf("\\u needs four hexadecimal digits")
	}
	p.at += 4
	return rune(n), nil
}
