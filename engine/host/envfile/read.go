// Package envfile reads the files that a unit names in EnvironmentFile= as systemd reads them (systemd.exec(5), observed
// on version 252), and writes files that systemd reads back as exactly the variables that were given.
//
// It knows nothing of resources, files or secrets.
package envfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// File is what systemd would take from a file's bytes.
type File struct {
	// Vars are the variables that enter the environment.
	Vars map[string]string
	// Ignored counts the assignments that systemd drops because their name is no name of a variable.
	Ignored int
	// Damage says why systemd would not read the file, or not as it looks; empty when it would.
	Damage string
	// Unreadable says that a unit with this file fails to start.
	Unreadable bool
	// Ambiguous says that systemd before and since version 254 read the file differently, because a comment ends in a
	// backslash. Vars is the older reading.
	Ambiguous bool
}

// maxFile is the size from which systemd refuses a file (READ_FULL_BYTES_MAX).
const maxFile = 64<<20 - 1

// MaxSize is the largest file that is worth reading: a larger one is refused by systemd.
const MaxSize = maxFile

// Read reads the bytes of a file.
func Read(raw []byte) File {
	if len(raw) > maxFile {
		return File{Unreadable: true, Damage: "it is larger than systemd reads (64 MiB)"}
	}
	if i := bytes.IndexByte(raw, 0); i >= 0 {
		return File{Unreadable: true, Damage: fmt.Sprintf("it has a NUL byte at offset %d, with which systemd refuses the whole file", i)}
	}
	f := collect(parse(raw, false))
	other := collect(parse(raw, true))
	f.Ambiguous = !same(f, other)
	if bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")) && f.Damage == "" {
		f.Damage = "it begins with a byte order mark, which systemd takes for part of the first name"
	}
	return f
}

func same(a, b File) bool {
	if len(a.Vars) != len(b.Vars) || a.Ignored != b.Ignored || a.Unreadable != b.Unreadable {
		return false
	}
	for k, v := range a.Vars {
		if w, ok := b.Vars[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// collect does what systemd does with the assignments: the last one of a name counts, invalid text refuses the file,
// an invalid name is dropped.
func collect(all []assignment) File {
	f := File{Vars: map[string]string{}}
	for _, a := range all {
		if !ValidText(a.key) || !ValidText(a.value) {
			return File{Unreadable: true, Damage: fmt.Sprintf("line %d is not UTF-8, with which systemd refuses the whole file", a.line)}
		}
		if !ValidName(a.key) {
			f.Ignored++
			continue
		}
		f.Vars[a.key] = a.value
	}
	return f
}

// ValidName says whether systemd takes a name of a variable: [A-Za-z_][A-Za-z0-9_]*.
func ValidName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// ValidText says whether systemd takes the text: UTF-8 without NUL and without the code points that Unicode sets aside
// as noncharacters.
func ValidText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == 0 || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
	})
}

type assignment struct {
	key, value string
	line       int
}

// The places in which a byte can stand.
type place int

const (
	beforeName place = iota
	inName
	beforeValue
	inValue
	afterBackslash // in an unquoted value
	inSingle
	inDouble
	afterDoubleBackslash
	inComment
	afterCommentBackslash
)

func isNewline(c byte) bool { return c == '\n' || c == '\r' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || isNewline(c) }

// text gathers bytes and knows where its trailing white space begins.
type text struct {
	b     []byte
	solid int // length up to the last byte that is kept for sure
}

func (t *text) reset() { t.b, t.solid = t.b[:0], 0 }

// keep appends a byte that is kept even at the end.
func (t *text) keep(c byte) {
	t.b = append(t.b, c)
	t.solid = len(t.b)
}

// add appends a byte that is dropped at the end when it is white space.
func (t *text) add(c byte) {
	t.b = append(t.b, c)
	if !isSpace(c) {
		t.solid = len(t.b)
	}
}

func (t *text) trimmed() string { return string(t.b[:t.solid]) }

// parse splits the bytes into assignments. commentsEnd tells the rule since systemd 254, by which a backslash at the end
// of a comment no longer joins the next line to it.
func parse(raw []byte, commentsEnd bool) []assignment {
	var out []assignment
	var key, value text
	line := 1
	at := beforeName
	end := func() {
		out = append(out, assignment{key.trimmed(), value.trimmed(), line})
		key.reset()
		value.reset()
		at = beforeName
	}
	for _, c := range raw {
		switch at {
		case beforeName:
			switch {
			case c == '#' || c == ';':
				at = inComment
			case !isSpace(c):
				key.reset()
				key.add(c)
				at = inName
			}
		case inName:
			switch {
			case isNewline(c):
				key.reset() // a line without "=" is nothing
				at = beforeName
			case c == '=':
				at = beforeValue
			default:
				key.add(c)
			}
		case beforeValue, inValue:
			// Between the parts of a value white space vanishes; within an unquoted part it stays.
			switch {
			case isNewline(c):
				end()
			case c == '\'' && at == beforeValue:
				at = inSingle
			case c == '"' && at == beforeValue:
				at = inDouble
			case c == '\\':
				value.solid = len(value.b) // what stands before a backslash is no trailing white space
				at = afterBackslash
			case at == inValue:
				value.add(c)
			case !isSpace(c):
				value.add(c)
				at = inValue
			}
		case afterBackslash:
			if !isNewline(c) {
				value.keep(c)
			}
			at = inValue
		case inSingle:
			if c == '\'' {
				at = beforeValue
			} else {
				value.keep(c)
			}
		case inDouble:
			switch c {
			case '"':
				at = beforeValue
			case '\\':
				at = afterDoubleBackslash
			default:
				value.keep(c)
			}
		case afterDoubleBackslash:
			switch c {
			case '"', '\\', '`', '$':
				value.keep(c)
			case '\n':
			default:
				value.keep('\\')
				value.keep(c)
			}
			at = inDouble
		case inComment:
			if c == '\\' {
				at = afterCommentBackslash
			} else if isNewline(c) {
				at = beforeName
			}
		case afterCommentBackslash:
			if commentsEnd && isNewline(c) {
				at = beforeName
			} else {
				at = inComment
			}
		}
		if c == '\n' {
			line++
		}
	}
	switch at {
	case beforeName, inName, inComment, afterCommentBackslash:
	default:
		end()
	}
	return out
}
