// Package envfile holds the reader and the writer of environment files against systemd itself: a unit with the file in its
// EnvironmentFile= dumps the environment that it got, byte for byte.
package envfile

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/host/envfile"
	"gyrum.ai/tools/tests/realhost"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	if why := realhost.Missing(); why != "" {
		fmt.Println("skipped: environment files against systemd:", why)
		if realhost.Required() {
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		// Each check is a whole batch of files.
		if err := flag.Set("rapid.checks", "12"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// reader is a host that says what its systemd makes of environment files.
type reader struct {
	host  *realhost.Host
	dir   string // shown inside as /x
	own   map[string]string
	count int
}

// unit dumps what it gets. It ends at once, and one with a file that systemd refuses does not begin.
const unit = `[Unit]
StartLimitIntervalSec=0
[Service]
Type=oneshot
EnvironmentFile=/x/%i.env
ExecStart=/usr/bin/env -0
StandardOutput=truncate:/x/%i.out
StandardError=null
`

func newReader(t *testing.T) *reader {
	r := &reader{dir: t.TempDir()}
	if err := os.Chmod(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.host = realhost.Boot(t, realhost.Options{Binds: []realhost.Bind{{Outside: r.dir, Inside: "/x", Writable: true}}})
	r.host.Write("/etc/systemd/system/dump@.service", unit)
	r.host.Shell("systemctl daemon-reload")
	got, err := r.read([][]byte{nil})
	if err != nil || got[0] == nil {
		t.Fatalf("a unit with an empty file: %v, %v", got, err)
	}
	r.own = got[0] // what systemd gives every unit
	return r
}

// read gives the environment of a unit for each file; nil where systemd does not start it.
func (r *reader) read(files [][]byte) ([]map[string]string, error) {
	start, out := []string{"systemctl", "start"}, make([]map[string]string, len(files))
	first := r.count
	for _, raw := range files {
		if err := os.WriteFile(r.path(r.count, "env"), raw, 0o644); err != nil {
			return nil, err
		}
		start = append(start, fmt.Sprintf("dump@%d.service", r.count))
		r.count++
	}
	r.host.Run(start...) // fails where one of them does
	r.host.Run("systemctl", "reset-failed")
	for i := range files {
		raw, err := os.ReadFile(r.path(first+i, "out"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[i] = map[string]string{}
		for _, v := range strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			out[i][name] = value
		}
	}
	return out, nil
}

func (r *reader) path(number int, ext string) string {
	return filepath.Join(r.dir, fmt.Sprintf("%d.%s", number, ext))
}

// set takes away what systemd gives every unit and the file does not set.
func (r *reader) set(got, want map[string]string) map[string]string {
	rest := maps.Clone(got)
	for name := range r.own {
		if _, ok := want[name]; !ok {
			delete(rest, name)
		}
	}
	return rest
}

// name is of any form that is one; those of systemd's own and of the loader are as good as others.
var name = rapid.OneOf(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,12}`), rapid.SampledFrom([]string{"PATH", "HOME", "LANG", "USER", "INVOCATION_ID", "_"}))

// value is any string that the schema admits, most of them of characters that mean something to systemd or to a shell.
var value = rapid.OneOf(
	rapid.StringOf(rapid.SampledFrom([]rune("\\\"'`$ \t\n\r#;=%{}!*~a\v\f\x01\x1b\x7f\u0085\u2028é😀"))),
	rapid.String(),
	rapid.StringMatching(`[ -~]{0,40}`),
	rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom([]string{"x", "\\", "\"", "\n", "é", " "}).Draw(t, "unit"), rapid.IntRange(1000, 20000).Draw(t, "times"))
	}),
).Filter(envfile.ValidText)

// TestSystemdReadsWhatIsWritten: the bytes written are those that systemd reads back as exactly the declared strings.
func TestSystemdReadsWhatIsWritten(t *testing.T) {
	r := newReader(t)
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.MapOfN(name, value, 0, 40), 10, 25).Draw(t, "files")
		var files [][]byte
		for _, vars := range all {
			raw, err := envfile.Write(vars)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, raw)
		}
		got, err := r.read(files)
		if err != nil {
			t.Fatal(err)
		}
		for i, vars := range all {
			if got[i] == nil || !maps.Equal(r.set(got[i], vars), vars) {
				t.Fatalf("%q was written as %q and read as %q", vars, files[i], got[i])
			}
		}
	})
}

// TestLargestValue: the longest value that can be written reaches a process, and one more byte is refused beforehand.
func TestLargestValue(t *testing.T) {
	r := newReader(t)
	vars := map[string]string{"A": strings.Repeat("x", 128<<10-3)}
	raw, err := envfile.Write(vars)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.read([][]byte{raw}); err != nil || got[0]["A"] != vars["A"] {
		t.Errorf("the largest value reads back with %d bytes, %v", len(got[0]["A"]), err)
	}
	if _, err := envfile.Write(map[string]string{"A": vars["A"] + "x"}); err == nil {
		t.Error("a larger value is written")
	}
}

// text is of what means something in one place or another.
var text = rapid.StringOf(rapid.SampledFrom([]rune("\\\\\\\"'`$ \t\n\r#;=abn")))

// line is an assignment as somebody might write it: parts of a value, in quotes or not, that mostly end as they should.
var line = rapid.Custom(func(t *rapid.T) string {
	out := rapid.SampledFrom([]string{"A=", "B=", " A =", "AB=", "_1= "}).Draw(t, "name")
	for range rapid.IntRange(1, 3).Draw(t, "parts") {
		quote := rapid.SampledFrom([]string{"", "'", "\"", "\""}).Draw(t, "quote")
		out += quote + text.Draw(t, "text") + quote
		out += rapid.SampledFrom([]string{"", "", " "}).Draw(t, "between")
	}
	return out + rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\\\n", ""}).Draw(t, "end")
})

// piece is anything else that a file may hold.
var piece = rapid.OneOf(
	rapid.SampledFrom([]string{
		"A=", "B=", "=", "\"", "'", "\\", "\n", "\r", " ", "\t", "#", ";", "$", "a", "b c", "export C=", "MY-VAR=1\n", "1X=", "\\\n", "# c \\\n", "\n#", "\n;",
		"\v", "\f", "\x01", "\x1b", "é", "\xe9", "\x00", "\ufeff", "\uffff", "\u2028", "\u00a0", "\ud7ff", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\ufdd0", "\U0001fffe",
	}),
	text,
	rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 1, 3).Draw(t, "bytes")) }),
)

// content is the bytes of a file that somebody else wrote.
var content = rapid.Custom(func(t *rapid.T) []byte {
	lines := rapid.OneOf(rapid.SliceOfN(line, 1, 4), rapid.SliceOfN(rapid.OneOf(line, piece), 0, 8), rapid.SliceOfN(piece, 0, 24))
	return []byte(strings.Join(lines.Draw(t, "content"), ""))
})

// TestReaderAgreesWithSystemd: whatever the bytes are, systemd and the reader make the same environment of them, or both
// refuse the file.
func TestReaderAgreesWithSystemd(t *testing.T) {
	r := newReader(t)
	rapid.Check(t, func(t *rapid.T) {
		files := rapid.SliceOfN(content, 60, 120).Draw(t, "files")
		got, err := r.read(files)
		if err != nil {
			t.Fatal(err)
		}
		for i, raw := range files {
			f := envfile.Read(raw)
			switch {
			case f.Unreadable && got[i] != nil:
				t.Fatalf("%q: the reader refuses it (%s), systemd reads %q", raw, f.Damage, r.set(got[i], nil))
			case !f.Unreadable && got[i] == nil:
				t.Fatalf("%q: systemd refuses it, the reader reads %q", raw, f.Vars)
			case !f.Unreadable && !maps.Equal(r.set(got[i], f.Vars), f.Vars):
				t.Fatalf("%q: systemd reads %q, the reader %q", raw, r.set(got[i], f.Vars), f.Vars)
			}
		}
	})
}

// TestReaderAgreesOnItsCorpus: the files that fuzzing found worth keeping.
func TestReaderAgreesOnItsCorpus(t *testing.T) {
	r := newReader(t)
	var files [][]byte
	for _, text := range []string{
		"A=1\nB=2\n", "A=a\"b\"c", "A=\"a\"b", "A=\"a\" 'b'", "A='a\nb'\nB=\"c\nd\"", "A=\"a\nB=2\n", "# c \\\nA=1\n", "A=1\r\nB=2\r\n", "A=a\\\r\nb", "A=\"a\\\r\nb\"",
		"A=b\\ \n", "A=\\", "A=\"\\", "A= \\\n b\n", "A='a' b 'c'", "A=a 'b'", "A", "=1", " =1\nA=1", "A =1", "A B=1", "\ufeffA=1\nB=2", "A=1\x00", "A=\xff", "# \xff\nA=1", "\xff\nA=1", "A\xff=1",
	} {
		files = append(files, []byte(text))
	}
	got, err := r.read(files)
	if err != nil {
		t.Fatal(err)
	}
	for i, raw := range files {
		f := envfile.Read(raw)
		if f.Unreadable != (got[i] == nil) || got[i] != nil && !maps.Equal(r.set(got[i], f.Vars), f.Vars) {
			t.Errorf("%q: systemd reads %q, the reader %+v", raw, r.set(got[i], f.Vars), f)
		}
	}
}
