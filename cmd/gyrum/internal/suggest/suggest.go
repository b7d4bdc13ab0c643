// Package suggest finds the name that a person most likely meant. It knows only words.
package suggest

// Nearest returns the candidate closest to name, or "" when none is close enough to be worth naming: at most one edit
// in three letters. Swapped neighbours count as one edit, a missing end of a longer word as one; case does not count. The
// first of equals wins.
func Nearest(name string, candidates []string) string {
	best, at := "", len([]rune(name))/3+1
	for _, c := range candidates {
		n, f := fold(name), fold(c)
		d := distance(n, f, at)
		if len(n) >= 4 && len(f) > len(n) {
			d = min(d, distance(n, f[:len(n)], at)+1)
		}
		if d < at || d == at && best == "" {
			best, at = c, d
		}
	}
	return best
}

func fold(s string) []rune {
	rs := []rune(s)
	for i, r := range rs {
		if 'A' <= r && r <= 'Z' {
			rs[i] = r + 'a' - 'A'
		}
	}
	return rs
}

// distance is the optimal string alignment distance (Damerau's edits, no substring edited twice). It gives up with
// limit+1 when the lengths alone put the words further apart.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
