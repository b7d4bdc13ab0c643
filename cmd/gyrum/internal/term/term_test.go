package term

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestTheLocaleDecidesAboutGlyphs(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want bool
	}{
		{nil, true},
		{[]string{"LANG", "de_DE.UTF-8"}, true},
		{[]string{"LANG", "C.utf8"}, true},
		{[]string{"LANG", "C"}, false},
		{[]string{"LANG", "de_DE.UTF-8", "LC_ALL", "POSIX"}, false},
		{[]string{"LANG", "de_DE.ISO-8859-1"}, false},
		{[]string{"LANG", "C", "LC_CTYPE", "C.UTF-8"}, true},
	} {
		if got := UTF8(env(c.env...)); got != c.want {
			t.Errorf("%v: got %v", c.env, got)
		}
	}
}

func TestAPipeIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if IsTerminal(w) || Width(w) != 0 || Color(w, env()) {
		t.Error("a pipe was taken for a terminal")
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProgressSpeaksLateAndLeavesNothing(t *testing.T) {
	var out lockedBuffer
	p := NewProgress(&out, func() int { return 20 })
	p.Say("quick")
	p.Pause()
	if out.String() != "" {
		t.Errorf("quick work was announced: %q", out.String())
	}
	p.Say("installing gyrum-prober")
	for deadline := time.Now().Add(5 * time.Second); out.String() == "" && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	p.Close()
	p.Close()
	if got := out.String(); !strings.Contains(got, "installing gyrum-p\x1b") && !strings.Contains(got, "installing gyrum-pr\x1b") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("got %q", got)
	}
	var none *Progress
	none.Say("x")
	none.Pause()
	none.Close()
}
