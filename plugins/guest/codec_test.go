package guest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestCanonicalForm(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":[true,false,null]}`:         `{"a":[true,false,null],"b":1}`,
		" {\n\t\"a\" : -7 } ":                   `{"a":-7}`,
		`"\u00e9\u20ac\ud83d\ude00\/"`:          `"é€😀/"`,
		`"\u0000\u001f\b\f\n\r\t\"\\\u007f"`:    "\"\\u0000\\u001f\\b\\f\\n\\r\\t\\\"\\\\\x7f\"",
		`[]`:                                    `[]`,
		`{}`:                                    `{}`,
		`0`:                                     `0`,
		`9223372036854775807`:                   `9223372036854775807`,
		`-9223372036854775808`:                  `-9223372036854775808`,
		`{"\ufb33":1,"\ud83d\ude00":2,"é":3}`:   "{\"é\":3,\"😀\":2,\"\ufb33\":1}",
		`{"a":{"z":1,"y":{"x":[[]]}},"A":"<>"}`: `{"A":"<>","a":{"y":{"x":[[]]},"z":1}}`,
	} {
		v, err := Decode([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err.Text)
		} else if got := string(Encode(v)); got != want {
			t.Errorf("%s becomes %s, not %s", in, got, want)
		}
	}
}

func TestWhatIsNoCanonicalJSONIsRefused(t *testing.T) {
	for in, why := range map[string]string{
		``:                          "value is missing",
		`{`:                         "name is missing",
		`{"a"}`:                     "colon",
		`{"a":1`:                    "comma",
		`{"a":1,}`:                  "name is missing",
		`[1,]`:                      "value is missing",
		`[1 2]`:                     "comma",
		`{"a":1,"b":2,"a":3}`:       "twice",
		`{"\u0061":1,"a":2}`:        "twice",
		`1.5`:                       "no integer",
		`1e3`:                       "no integer",
		`01`:                        "begins with 0",
		`-`:                         "digit",
		`-0`:                        "minus zero",
		`9223372036854775808`:       "too large",
		`-9223372036854775809`:      "too large",
		`99999999999999999999999`:   "too large",
		`"a`:                        "does not end",
		`"\`:                        "does not end",
		`"\x"`:                      "escape",
		`"\u12xy"`:                  "hexadecimal",
		`"\u1`:                      "cut off",
		`"\ud800"`:                  "surrogate",
		`"\ud800\u0041"`:            "surrogate",
		`"\udc00"`:                  "surrogate",
		"\"\n\"":                    "control character",
		"\"\xff\"":                  "UTF-8",
		"\"\\t\xff\"":               "UTF-8",
		`truth`:                     "word",
		`nul`:                       "word",
		`1 2`:                       "more follows",
		strings.Repeat("[", 70):     "too deeply",
		strings.Repeat(`{"a":`, 70): "too deeply",
	} {
		if v, err := Decode([]byte(in)); err == nil {
			t.Errorf("%q is accepted as %s", in, Encode(v))
		} else if !strings.Contains(err.Text, why) || err.Code != "invalid" {
			t.Errorf("%q: %s; %q is missing", in, err.Text, why)
		}
	}
}

func TestNamesAreInTheOrderOfUTF16(t *testing.T) {
	names := []string{"", "a", "aa", "b", "é", "z\u0800", "\uffff", "\ue000", "\ud7ff", "😀", "\U0010ffff", "\U00010000", "a😀", "a\uffff"}
	for _, a := range names {
		for _, b := range names {
			want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
			if got := cmp.Compare(byName(a, b), 0); got != want {
				t.Errorf("%q and %q: %d, not %d", a, b, got, want)
			}
		}
	}
}

func TestObjectsAreNotChangedOnceMade(t *testing.T) {
	one := Record("b", "1")
	two := one.WithText("a", "2").With("b", Int(3))
	if string(Encode(one)) != `{"b":"1"}` || string(Encode(two)) != `{"a":"2","b":3}` {
		t.Errorf("%s %s", Encode(one), Encode(two))
	}
}

func TestTextThatIsNotUTF8IsReplaced(t *testing.T) {
	if got := string(Encode(String("a\xffb"))); got != "\"a\ufffdb\"" {
		t.Errorf("%q", got)
	}
}

// FuzzDecode holds the codec against encoding/json: what it accepts is JSON with the same meaning, and its own form is
// read back as the same form.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-2,"\u00e9",null,true]}`, `"\ud83d\ude00"`, `{"a":1,"a":2}`, `[[[]]]`, "\"\xff\"", `-0`, `1e5`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := Decode(in)
		if err != nil {
			return
		}
		out := Encode(v)
		again, err := Decode(out)
		if err != nil || !bytes.Equal(Encode(again), out) {
			t.Fatalf("%q becomes %q, which is read back as %q, %v", in, out, Encode(again), err)
		}
		if !utf8.Valid(out) {
			t.Fatalf("%q becomes %q", in, out)
		}
		var mine, theirs any
		if json.Unmarshal(out, &mine) != nil || json.Unmarshal(in, &theirs) != nil {
			t.Fatalf("%q is accepted as %q and is no JSON", in, out)
		}
		a, _ := json.Marshal(mine)
		b, _ := json.Marshal(theirs)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q means %s, not %s", in, a, b)
		}
	})
}
