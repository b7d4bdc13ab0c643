package layout_test

import (
	"fmt"
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
	small, large := least(took, 4000), least(took, 32000)
	if large > 40*small {
		t.Errorf("8 times the values took %v, %v before", large, small)
	}
}

// A file may have very many keys or comments of its own; judging them takes work in proportion. What was in proportion to
// the square of them took half a minute for fifty thousand, so that the limit here is far from both.
func TestManyLines(t *testing.T) {
	for name, body := range map[string]string{
		"keys":     "k%d: 1\n",
		"comments": "# %d\n",
	} {
		t.Run(name, func(t *testing.T) {
			took := func(n int) time.Duration {
				var b strings.Builder
				b.WriteString("role: r\nversion: 1\n")
				for i := range n {
					fmt.Fprintf(&b, body, i)
				}
				b.WriteString("zz: 1\n")
				raw := []byte(b.String())
				start := time.Now()
				layout.Problems(raw)
				return time.Since(start)
			}
			took(1000)
			small, large := least(took, 4000), least(took, 64000)
			if large > 100*small { // 16 times the lines; 256 times the work when it is the square
				t.Errorf("16 times the lines took %v, %v before", large, small)
			}
		})
	}
}

// least gives the shortest of three runs, so that only work counts and not what else the machine does.
func least(took func(int) time.Duration, n int) time.Duration {
	return min(took(n), took(n), took(n))
}
