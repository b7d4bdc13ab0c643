package layout_test

import (
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine/lint/layout"
)

// A file may be one line of a million values; judging and rewriting it takes time in proportion.
func TestLongLine(t *testing.T) {
	took := func(n int) time.Duration {
		raw := []byte("role: r\nversion: 1\nrequires: [" + strings.Repeat("'a', yes, ", n) + "b]\nresources: []\n")
		start := time.Now()
		if p := layout.Problems(raw); len(p) != 2*n {
			t.Fatalf("%d problems", len(p))
		}
		layout.Fix(raw)
		return time.Since(start)
	}
	took(1000)
	small, large := took(4000), took(32000)
	if large > 40*small {
		t.Errorf("8 times the values took %v, %v before", large, small)
	}
}
