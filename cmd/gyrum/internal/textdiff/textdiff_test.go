package textdiff

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func render(ls []Line) string {
	var b strings.Builder
	for _, l := range ls {
		switch l.Kind {
		case '@':
			b.WriteString(l.Text)
		case '\\':
			b.WriteString("\\ " + l.Text)
		default:
			b.WriteByte(l.Kind)
			b.WriteString(l.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestUnified(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"equal", "a\n", "a\n", ""},
		{"both empty", "", "", ""},
		{"one line changes", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"a line is added", "a\nc\n", "a\nb\nc\n", "@@ -1,2 +1,3 @@\n a\n+b\n c\n"},
		{"the last newline is missing", "a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"an empty file is filled", "", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		{"a file is emptied", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"carriage returns count", "a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"},
		{"two distant changes are two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
			"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := render(Unified([]byte(c.old), []byte(c.new))); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestAnyTwoTextsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		var b bytes.Buffer
		for range r.IntN(40) {
			b.WriteString(strings.Repeat(string(rune('a'+r.IntN(3))), r.IntN(2)))
			b.WriteByte('\n')
		}
		if r.IntN(3) == 0 {
			b.WriteString("open")
		}
		return b.Bytes()
	}
	for range 3000 {
		old, new := text(), text()
		a, aOpen := lines(old)
		b, bOpen := lines(new)
		var gotA, gotB []string
		for _, s := range script(a, b, aOpen, bOpen) {
			if s.kind != '+' {
				gotA = append(gotA, s.text)
			}
			if s.kind != '-' {
				gotB = append(gotB, s.text)
			}
		}
		if strings.Join(gotA, "\n") != strings.Join(a, "\n") || strings.Join(gotB, "\n") != strings.Join(b, "\n") {
			t.Fatalf("script does not reproduce its texts\nold %q\nnew %q", old, new)
		}
	}
}

// What patch(1) makes of the difference must be the new text, also where the old one lacks its last newline.
func TestPatchAcceptsIt(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Logf("patch(1) is not installed: its agreement is not shown here")
		return
	}
	for _, c := range []struct{ old, new string }{
		{"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk", "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n"},
		{"a\n", "a"},
		{"x\na\n", "a\ny\n"},
	} {
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(c.old), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "-u", file)
		cmd.Stdin = strings.NewReader("--- f\n+++ f\n" + render(Unified([]byte(c.old), []byte(c.new))))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got, _ := os.ReadFile(file); string(got) != c.new {
			t.Errorf("got %q, want %q", got, c.new)
		}
	}
}

func TestTextsWithoutACommonLineAreReplacedWhole(t *testing.T) {
	old, new := strings.Repeat("a\n", maxEdits), strings.Repeat("b\n", maxEdits)
	ls := Unified([]byte(old), []byte(new))
	if len(ls) != 1+2*maxEdits {
		t.Errorf("got %d lines", len(ls))
	}
}
