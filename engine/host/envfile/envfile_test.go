package envfile_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"gyrum.ai/engine/host/envfile"
	"pgregory.net/rapid"
)

// The readings that were seen with systemd 252.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     map[string]string
	}{
		{"plain", "A=1\nB=2\n", map[string]string{"A": "1", "B": "2"}},
		{"no newline at the end", "A=1", map[string]string{"A": "1"}},
		{"empty values", "A=\nB=", map[string]string{"A": "", "B": ""}},
		{"a line without =", "A\nB=1\n", map[string]string{"B": "1"}},
		{"quotes within a word stay", `A=a"b"c`, map[string]string{"A": `a"b"c`}},
		{"a quoted part and more", `A="a"b`, map[string]string{"A": "ab"}},
		{"two quoted parts", `A="a" 'b'`, map[string]string{"A": "ab"}},
		{"white space around", " \t A = b c \t\n", map[string]string{"A": "b c"}},
		{"white space in quotes", "A=\" b \"\n", map[string]string{"A": " b "}},
		{"white space kept by a backslash", "A=b\\ \n", map[string]string{"A": "b "}},
		{"backslash at the end of a line", "A=a\\\nb\n", map[string]string{"A": "ab"}},
		{"backslash before a letter", `A=a\nb`, map[string]string{"A": "anb"}},
		{"backslash in double quotes", `A="a\nb\"\$\` + "`" + `\\"`, map[string]string{"A": "a\\nb\"$`\\"}},
		{"joined line in double quotes", "A=\"a\\\nb\"", map[string]string{"A": "ab"}},
		{"newline in quotes", "A='a\nb'\nB=\"c\nd\"", map[string]string{"A": "a\nb", "B": "c\nd"}},
		{"backslash in single quotes", `A='a\nb'`, map[string]string{"A": `a\nb`}},
		{"a quote without end runs to the end of the file", "A=\"a\nB=2\n", map[string]string{"A": "a\nB=2\n"}},
		{"comments", "# a\n; b\nA=1 # c\n", map[string]string{"A": "1 # c"}},
		{"the last one counts", "A=1\nA=2\n", map[string]string{"A": "2"}},
		{"carriage returns end a line", "A=1\r\nB=2\r\n", map[string]string{"A": "1", "B": "2"}},
		{"an equals sign in the value", "A=b=c\n", map[string]string{"A": "b=c"}},
		{"dollar is no reference", "A=$B${C}\n", map[string]string{"A": "$B${C}"}},
		{"empty file", "", map[string]string{}},
	} {
		f := envfile.Read([]byte(c.in))
		if !maps.Equal(f.Vars, c.want) || f.Damage != "" || f.Ignored != 0 || f.Ambiguous {
			t.Errorf("%s: %q reads as %+v, want %v", c.name, c.in, f, c.want)
		}
	}
}

func TestNamesThatSystemdDrops(t *testing.T) {
	f := envfile.Read([]byte("MY-VAR=1\na.b=2\n1X=3\nexport D=4\n=5=6\nE=7\n"))
	if !maps.Equal(f.Vars, map[string]string{"E": "7"}) || f.Ignored != 5 {
		t.Errorf("got %+v", f)
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct {
		in, text   string
		unreadable bool
	}{
		{"A=1\x00\n", "NUL", true},
		{"A=1\nB=\xe9\n", "line 2", true},
		{"A=\xef\xbf\xbf\n", "line 1", true}, // U+FFFF
		{"\xef\xbb\xbfA=1\nB=2\n", "byte order mark", false},
	} {
		f := envfile.Read([]byte(c.in))
		if !strings.Contains(f.Damage, c.text) || f.Unreadable != c.unreadable {
			t.Errorf("%q: got %+v", c.in, f)
		}
	}
	if f := envfile.Read([]byte("# caf\xe9\nA=1\n")); f.Damage != "" || f.Vars["A"] != "1" {
		t.Errorf("a Latin-1 comment harms nothing, got %+v", f)
	}
}

// A backslash at the end of a comment hides the next line before version 254 and not since.
func TestCommentsThatJoin(t *testing.T) {
	f := envfile.Read([]byte("# c \\\nA=1\nB=2\n"))
	if !f.Ambiguous || !maps.Equal(f.Vars, map[string]string{"B": "2"}) {
		t.Errorf("got %+v", f)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, vars := range []map[string]string{
		{"MY-VAR": "1"}, {"a.b": "1"}, {"1X": "1"}, {"": "1"}, {"A": "caf\xe9"}, {"A": "a\x00b"}, {"A": "\ufffe"},
		{"A": strings.Repeat("x", 128<<10)},
	} {
		if out, err := envfile.Write(vars); err == nil {
			t.Errorf("%.40v: wrote %.40q", vars, out)
		}
	}
}

func TestWriteIsStable(t *testing.T) {
	vars := map[string]string{"PRINTABLE": printable(), "A": "", "Z": "a b", "M": "x"}
	first, err := envfile.Write(vars)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, _ := envfile.Write(maps.Clone(vars)); !bytes.Equal(again, first) {
			t.Fatalf("%q, then %q", first, again)
		}
	}
	if f := envfile.Read(first); !maps.Equal(f.Vars, vars) || f.Ambiguous {
		t.Errorf("reads back as %+v", f)
	}
}

func printable() string {
	var b strings.Builder
	for c := byte(' '); c < 0x7f; c++ {
		b.WriteByte(c)
	}
	return b.String()
}

// Whatever the values are, they read back as they were.
func TestRoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,8}`)
	value := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("\\\"'`$ \t\n\r#;=a"))))
	rapid.Check(t, func(t *rapid.T) {
		vars := rapid.MapOf(name, value.Filter(envfile.ValidText)).Draw(t, "vars")
		out, err := envfile.Write(vars)
		if err != nil {
			t.Fatal(err)
		}
		f := envfile.Read(out)
		if !maps.Equal(f.Vars, vars) || f.Damage != "" || f.Ignored != 0 || f.Ambiguous {
			t.Fatalf("%q reads back as %+v", out, f)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("A=\"a\\\nb\" 'c'\n# d \\\nB=\\\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		first := envfile.Read(raw)
		if first.Unreadable {
			return
		}
		out, err := envfile.Write(first.Vars)
		if err != nil {
			t.Fatalf("what systemd takes cannot be written: %v", err)
		}
		if again := envfile.Read(out); !maps.Equal(again.Vars, first.Vars) {
			t.Fatalf("%q was read as %v, written as %q, read as %v", raw, first.Vars, out, again.Vars)
		}
	})
}
