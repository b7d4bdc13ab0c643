package layout

import (
	"slices"
	"strings"

	"gyrum.ai/engine/manifest"
)

// step is one rule: what breaks it, and the lines with as much as possible put right.
type step func(d *document) (problems []Problem, fixed []string)

// steps are applied in this order; each sees what the ones before it have made.
var steps = []step{quotes, ambiguous, order, typeFirst, indentation, blanks}

// Problems judges a file that the manifest reader accepts; of any other nothing is said, for what it refuses has to be
// mended first, and its lines may be others for the reader than they are here.
func Problems(raw []byte) []Problem {
	if !manifest.Readable(raw) {
		return nil
	}
	lf, out := endings(raw)
	d, ok := read(lf)
	if !ok {
		return out
	}
	for _, s := range steps {
		problems, _ := s(d)
		out = append(out, problems...)
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return out
}

// maxRounds bounds how often the steps are repeated; one round makes the next needless but for what the order of
// steps left over.
const maxRounds = 4

// Fix gives the file as it should be written, as far as that can be done safely; a file that cannot be read comes back
// as it is. What comes back is the same document with the same comments.
func Fix(raw []byte) []byte {
	if !manifest.Readable(raw) {
		return raw
	}
	lf, _ := endings(raw)
	now := keep(raw, lf)
	if string(now) != string(lf) {
		return raw // its lines are others for the reader than for the steps
	}
	for range maxRounds {
		before := now
		for _, s := range steps {
			d, ok := read(now)
			if !ok {
				return now
			}
			_, d.lines = s(d)
			d.ended = true
			if next := keep(now, d.bytes()); len(next) > 0 {
				now = next
			}
		}
		if string(now) == string(before) {
			break
		}
	}
	return now
}

// keep gives the new text where it says the same as the old one, else the old one.
func keep(old, fixed []byte) []byte {
	if string(old) == string(fixed) || !slices.Equal(words(old), words(fixed)) || !manifest.Equal(old, fixed) {
		return old
	}
	return fixed
}

// words gives a file's lines, sorted, without what a rewriting may touch: blank space, quotes, and the dash that a
// resource begins with. A comment that was lost, or cut, shows.
func words(raw []byte) []string {
	var out []string
	bare := strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "")
	lf, _ := endings(raw)
	for line := range strings.Lines(string(lf)) {
		line = strings.TrimPrefix(bare.Replace(strings.TrimRight(line, "\n")), "-")
		if line != "" {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}
