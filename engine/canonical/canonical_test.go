package canonical_test

import (
	"encoding/json"
	"testing"
	"time"

	"gyrum.ai/engine/canonical"
)

func TestTransform(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"RFC 8785 section 3.2.2", `{
			"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
			"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
			"literals": [null, true, false]
		}`, `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`},
		{"RFC 8785 section 3.2.3, sorted by UTF-16 units", `{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`,
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}"},
		{"names with one stem", `{"ab":1,"a":2,"b":[]}`, `{"a":2,"ab":1,"b":[]}`},
		{"minus zero", `[-0, 0.0, 1e-7, 1e21, 123456789012345680000]`, `[0,0,1e-7,1e+21,123456789012345680000]`},
		{"no HTML escapes", `"<&>"`, `"<&>"`},
		{"empty", ` { "a" : { } , "b" : [ ] } `, `{"a":{},"b":[]}`},
	} {
		got, err := canonical.Transform([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v; want %s", c.name, got, err, c.want)
		}
	}
}

func TestTransformRefuses(t *testing.T) {
	for _, in := range []string{
		``, `{`, `[1,]`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `01`, `1.`, `1e`, `+1`, `1e999`, `"\ud800"`, `"\udc00\ud800"`,
		"\"\xff\"", "\"a\nb\"", `"a`, `tru`, `1 2`, `{"a" 1}`, `{a:1}`, `"\x41"`, `"\u12"`, `nul`,
	} {
		if got, err := canonical.Transform([]byte(in)); err == nil {
			t.Errorf("%q: accepted as %s", in, got)
		}
	}
}

type inner struct {
	Z int `json:"z"`
}

type record struct {
	inner
	Inner
	B    string            `json:"b"`
	A    []string          `json:"a,omitempty"`
	Raw  json.RawMessage   `json:"raw"`
	When time.Time         `json:"when,omitzero"`
	P    *bool             `json:"p,omitempty"`
	M    map[string]string `json:"m"`
	Skip int               `json:"-"`
	own  int
}

// Inner is embedded, so that its field is promoted.
type Inner struct {
	C uint32 `json:"c"`
}

func TestMarshal(t *testing.T) {
	r := record{B: "a\xff\\b<", Raw: json.RawMessage(`{"y": 1.0, "x": "\u003c"}`), M: map[string]string{"k\xfe": "v"}, own: 1}
	got, err := canonical.Marshal(r)
	want := `{"b":"a\\xff\\\\b<","c":0,"m":{"k\\xfe":"v"},"raw":{"x":"<","y":1},"z":0}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	for _, v := range []any{1 << 60, uint64(1 << 60), make(chan int), json.RawMessage(`{`), map[int]int{1: 1}} {
		if got, err := canonical.Marshal(v); err == nil {
			t.Errorf("%v: accepted as %s", v, got)
		}
	}
}

// What encoding/json writes and what Marshal writes are the same document.
func TestMarshalAgreesWithTransform(t *testing.T) {
	yes := true
	r := record{B: "q", A: []string{"1", "ü"}, Raw: json.RawMessage(`null`), When: time.Unix(0, 0).UTC(), P: &yes, M: nil}
	plain, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want, err := canonical.Transform(plain)
	if err != nil {
		t.Fatal(err)
	}
	got, err := canonical.Marshal(r)
	if err != nil || string(got) != string(want) {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func FuzzTransform(f *testing.F) {
	f.Add([]byte(`{"b":[1,2.5e3,"\u00e9"],"a":null}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := canonical.Transform(in)
		if err != nil {
			return
		}
		again, err := canonical.Transform(out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("canonical form is not stable: %q -> %q, %v", out, again, err)
		}
		var a, b any
		if json.Unmarshal(in, &a) != nil || json.Unmarshal(out, &b) != nil {
			t.Fatalf("encoding/json refuses %q or %q", in, out)
		}
	})
}
