// Package textdiff compares two texts line by line and prints the difference as diff -u would. It knows neither files
// nor resources, and bounds its own work: texts too large or too different to be read by a person are only counted.
package textdiff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the largest text that is compared line by line.
const MaxBytes = 1 << 20

// maxEdits bounds the search for a shortest script: beyond it the whole middle is shown as replaced.
const maxEdits = 1000

// context is the number of equal lines around a change.
const context = 3

// Line is one line of a difference. Kind is ' ' (in both), '-' (only in the old text), '+' (only in the new), '@' (a
// hunk's header) or '\\' (a remark, such as a missing last newline). Text has no newline.
type Line struct {
	Kind byte
	Text string
}

// IsText says whether b can be shown to a person as lines: valid UTF-8 without NUL.
func IsText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// Unified returns the difference from old to new in hunks; nil when they are equal.
func Unified(old, new []byte) []Line {
	if bytes.Equal(old, new) {
		return nil
	}
	a, aOpen := lines(old)
	b, bOpen := lines(new)
	return hunks(script(a, b, aOpen, bOpen), aOpen, bOpen, len(a), len(b))
}

// lines splits a text; open says that the last line has no newline.
func lines(b []byte) (ls []string, open bool) {
	if len(b) == 0 {
		return nil, false
	}
	s := string(b)
	open = !strings.HasSuffix(s, "\n")
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n"), open
}

// step is one line of an edit script; a and b are the positions in both texts before it.
type step struct {
	kind byte
	text string
	a, b int
}

// script turns a into b: what begins and ends both texts is taken off, the rest is compared. A last line that has a
// newline in one text only is a changed line.
func script(a, b []string, aOpen, bOpen bool) []step {
	same := func(i, j int) bool {
		return a[i] == b[j] && (aOpen && i == len(a)-1) == (bOpen && j == len(b)-1)
	}
	head := 0
	for head < len(a) && head < len(b) && same(head, head) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && same(len(a)-1-tail, len(b)-1-tail) {
		tail++
	}
	var steps []step
	for i := range head {
		steps = append(steps, step{' ', a[i], i, i})
	}
	steps = append(steps, middle(a, b, head, len(a)-tail, len(b)-tail, same)...)
	for k := tail; k > 0; k-- {
		steps = append(steps, step{' ', a[len(a)-k], len(a) - k, len(b) - k})
	}
	return steps
}

// middle is Myers' greedy algorithm ("An O(ND) Difference Algorithm", 1986) on a[head:aEnd] and b[head:bEnd].
func middle(a, b []string, head, aEnd, bEnd int, same func(i, j int) bool) []step {
	n, m := aEnd-head, bEnd-head
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+2)
	var trace [][]int
	found := -1
search:
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[limit-d:limit+d+2]...))
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && v[limit+k-1] < v[limit+k+1] {
				x = v[limit+k+1]
			} else {
				x = v[limit+k-1] + 1
			}
			y := x - k
			for x < n && y < m && same(head+x, head+y) {
				x, y = x+1, y+1
			}
			v[limit+k] = x
			if x >= n && y >= m {
				found = d
				break search
			}
		}
	}
	var steps []step
	if found < 0 {
		for i := head; i < aEnd; i++ {
			steps = append(steps, step{'-', a[i], i, head})
		}
		for j := head; j < bEnd; j++ {
			steps = append(steps, step{'+', b[j], aEnd, j})
		}
		return steps
	}
	x, y := n, m
	for d := found; d > 0; d-- {
		row := trace[d] // row[d+k] is v[k] before round d
		k := x - y
		pk := k - 1
		if k == -d || k != d && row[d+k-1] < row[d+k+1] {
			pk = k + 1
		}
		// The round's own edit leads from the last round's end (px, py); the rest up to (x, y) is equal lines.
		px := row[d+pk]
		if pk == k-1 {
			px++
		}
		for x > px {
			x, y = x-1, y-1
			steps = append(steps, step{' ', a[head+x], head + x, head + y})
		}
		if pk == k+1 {
			y--
			steps = append(steps, step{'+', b[head+y], head + x, head + y})
		} else {
			x--
			steps = append(steps, step{'-', a[head+x], head + x, head + y})
		}
	}
	for x > 0 {
		x, y = x-1, y-1
		steps = append(steps, step{' ', a[head+x], head + x, head + y})
	}
	slices.Reverse(steps)
	return steps
}

// hunks groups a script's changes with their context and writes the headers.
func hunks(steps []step, aOpen, bOpen bool, an, bn int) []Line {
	var out []Line
	for i := 0; i < len(steps); {
		if steps[i].kind == ' ' {
			i++
			continue
		}
		from := max(0, i-context)
		end, quiet := i, 0
		for j := i; j < len(steps) && quiet <= 2*context; j++ {
			if steps[j].kind == ' ' {
				quiet++
			} else {
				end, quiet = j+1, 0
			}
		}
		to := min(len(steps), end+context)
		out = append(out, hunk(steps[from:to], aOpen, bOpen, an, bn)...)
		i = to
	}
	return out
}

func hunk(steps []step, aOpen, bOpen bool, an, bn int) []Line {
	a, b := 0, 0
	var body []Line
	for _, s := range steps {
		body = append(body, Line{s.kind, s.text})
		lastA, lastB := false, false
		if s.kind != '+' {
			a++
			lastA = aOpen && s.a == an-1
		}
		if s.kind != '-' {
			b++
			lastB = bOpen && s.b == bn-1
		}
		if lastA || lastB {
			body = append(body, Line{'\\', "No newline at end of file"})
		}
	}
	head := Line{'@', fmt.Sprintf("@@ -%s +%s @@", span(steps[0].a, a), span(steps[0].b, b))}
	return append([]Line{head}, body...)
}

// span writes a range as diff does: a count of one is left out, an empty range names the line before.
func span(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, count)
}
