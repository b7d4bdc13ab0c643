// Package text renders reports for people: one aligned line a pending change, the words beneath it that explain it, and
// a summary. It reads reports and writes bytes; it knows no catalog, no host and no terminal but the Style it is given.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Style says what the place that is written to can show.
type Style struct {
	// Color allows ANSI colours.
	Color bool
	// ASCII replaces glyphs and arrows by plain characters, for places that are not UTF-8.
	ASCII bool
	// Width wraps lines at so many columns; 0 never wraps.
	Width int
}

// tint is an ANSI SGR parameter.
type tint string

const (
	bold   tint = "1"
	dim    tint = "2"
	red    tint = "31"
	green  tint = "32"
	yellow tint = "33"
	blue   tint = "34"
)

func (s Style) paint(t tint, text string) string {
	if !s.Color || t == "" || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[0m"
}

// Bold sets text apart.
func (s Style) Bold(text string) string { return s.paint(bold, text) }

// glyph is the first character of an item's line: what kind of change it is, at a glance.
type glyph struct {
	sign, ascii string
	tint        tint
}

var (
	gAdd     = glyph{"+", "+", green}
	gChange  = glyph{"~", "~", yellow}
	gRemove  = glyph{"-", "-", red}
	gRestart = glyph{"↻", "@", yellow}
	gStart   = glyph{"▶", ">", green}
	gStop    = glyph{"■", "#", red}
	gError   = glyph{"!", "!", red}
	gNote    = glyph{"·", ".", dim}
	gDone    = glyph{"✓", "*", green}
	gFailed  = glyph{"✗", "x", red}
)

func (s Style) glyph(g glyph) string {
	if s.ASCII {
		return s.paint(g.tint, g.ascii)
	}
	return s.paint(g.tint, g.sign)
}

func (s Style) arrow() string {
	if s.ASCII {
		return "->"
	}
	return "→"
}

// Clean makes any string safe to print on a line of a terminal: what is not printable (control characters, bytes that
// are no UTF-8, marks that turn the direction of writing) is shown as a Go escape.
func Clean(s string) string {
	safe := true
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			safe = false
			break
		}
	}
	if safe {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// clip shortens a string to at most n characters and marks that it did.
func (s Style) clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	mark := "…"
	if s.ASCII {
		mark = "..."
	}
	return string([]rune(text)[:n-utf8.RuneCountInString(mark)]) + mark
}

// Duration writes a span of time as people read it: 0.12 s, 14.2 s, 3 min 05 s.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "0.00 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	sec := int(d.Seconds())
	return fmt.Sprintf("%d min %02d s", sec/60, sec%60)
}

// bytesText writes a size in powers of 1024.
func bytesText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), ""
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v, unit = v/1024, u; v < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// count writes a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// wrap breaks text at spaces so that no line is wider than width, where words allow it.
func wrap(text string, width int) []string {
	if width <= 0 {
		return []string{text}
	}
	var out []string
	line, used := "", 0
	for _, w := range strings.Fields(text) {
		n := utf8.RuneCountInString(w)
		if line != "" && used+1+n > width {
			out, line, used = append(out, line), "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+w, used+n
	}
	return append(out, line)
}
