package manifest

import "strings"

// didYouMean gives a hint that names the nearest of the words, "" when none is near.
func didYouMean(got string, words []string) string {
	if len(got) > 64 {
		return ""
	}
	best, at := "", max(len(got)/3, 1)+1
	for _, w := range words {
		if strings.EqualFold(w, got) {
			return "did you mean " + w + "?"
		}
		if len(w) < 3 && len(got) < 3 {
			continue
		}
		if d := distance(strings.ToLower(got), strings.ToLower(w)); d < at && d < len(w) {
			best, at = w, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// distance counts the insertions, deletions, replacements and swaps of neighbours between two short words.
func distance(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
