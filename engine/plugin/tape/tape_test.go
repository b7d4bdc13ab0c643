package tape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"gyrum.ai/engine/host"
)

var ask = func(t *testing.T, a host.Asker, capability, request string) string {
	t.Helper()
	reply, err := a.Ask(t.Context(), capability, []byte(request))
	if err != nil {
		t.Fatal(err)
	}
	return string(reply)
}

// counting replies how often it was asked.
type counting struct{ n int }

func (c *counting) Ask(_ context.Context, capability string, request []byte) ([]byte, error) {
	if capability == "refused" {
		return nil, errors.New("refused")
	}
	c.n++
	return fmt.Appendf(nil, `{"<n>":%d}`, c.n), nil
}

func record(t *testing.T) *Tape {
	r := NewRecorder(&counting{}, nil)
	ask(t, r.For("file"), "file_stat", `{"path":"/a"}`)
	ask(t, r.For("file"), "file_stat", `{"path":"/a"}`)
	ask(t, r.For("directory"), "file_stat", `{"path":"/a"}`)
	ask(t, r.For("directory"), "account", `{"user":"root"}`)
	if _, err := r.For("file").Ask(t.Context(), "refused", []byte(`{}`)); err == nil {
		t.Error("the error was lost")
	}
	return r.Tape(Header{Host: "web-01", Applies: 3, Only: []string{"file"}})
}

func write(t *testing.T, tape *Tape) []byte {
	var b bytes.Buffer
	if err := tape.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestATapeSurvivesItsFile(t *testing.T) {
	tape := record(t)
	again, err := Read(bytes.NewReader(write(t, tape)))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tape, again) {
		t.Errorf("%+v\nbecame\n%+v", tape, again)
	}
	if !bytes.Equal(write(t, tape), write(t, again)) {
		t.Error("the same tape has two files")
	}
}

func TestPlaying(t *testing.T) {
	p := record(t).Player(nil)
	for i, c := range []struct{ typ, capability, request, want string }{
		{"file", "file_stat", `{"path":"/a"}`, `{"<n>":1}`},
		{"directory", "file_stat", `{"path":"/a"}`, `{"<n>":3}`},
		{"file", "file_stat", `{"path":"/a"}`, `{"<n>":2}`},
		{"file", "file_stat", `{"path":"/a"}`, `{"<n>":2}`},
		{"file", "account", `{"user":"root"}`, `{"<n>":4}`},
	} {
		if got := ask(t, p.For(c.typ), c.capability, c.request); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	if got := ask(t, p.For("file"), "file_stat", `{"path":"/\"b"}`); !strings.HasPrefix(got, `{"error":{"code":"not-on-tape"`) {
		t.Errorf("an unknown question: %s", got)
	}
	if p.Missed() != 1 {
		t.Errorf("missed %d", p.Missed())
	}
}

func TestTapesThatAreRefused(t *testing.T) {
	sound := write(t, record(t))
	for i := range sound {
		if got, err := Read(bytes.NewReader(sound[:i])); err == nil {
			t.Fatalf("cut at %d of %d: %+v", i, len(sound), got)
		}
	}
	text := unpack(t, sound)
	lines := strings.SplitAfter(text, "\n")
	for name, changed := range map[string]string{
		"another format":  strings.Replace(text, "gyrum-tape/1", "gyrum-tape/2", 1),
		"a changed reply": strings.Replace(text, `{"<n>":1}`, `{"<n>":7}`, 1),
		"a dropped line":  lines[0] + strings.Join(lines[2:], ""),
		"swapped lines":   lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], ""),
		"no end":          strings.Join(lines[:len(lines)-2], ""),
		"more":            text + "{}\n",
		"unknown members": strings.Replace(text, `"capability"`, `"secret":1,"capability"`, 1),
		"nothing":         "",
	} {
		if got, err := Read(bytes.NewReader(pack(t, changed))); err == nil {
			t.Errorf("%s: accepted: %+v", name, got)
		}
	}
}

func unpack(t *testing.T, raw []byte) string {
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out, err := z.DecodeAll(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func pack(t *testing.T, text string) []byte {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

func FuzzRead(f *testing.F) {
	r := NewRecorder(&counting{}, nil)
	if _, err := r.For("file").Ask(f.Context(), "file_stat", []byte(`{"path":"/a"}`)); err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Tape(Header{Host: "h"}).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		tape, err := Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		again, err := Read(bytes.NewReader(write(t, tape)))
		if err != nil || len(again.Exchanges) != len(tape.Exchanges) {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
