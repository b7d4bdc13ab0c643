package tape

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
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
	var text bytes.Buffer
	if err := r.Tape(Header{Host: "h"}).WriteText(&text); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		tape, err := Read(bytes.NewReader(raw))
		if err != nil {
			return
		}
		var text bytes.Buffer
		if err := tape.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		for form, file := range map[string][]byte{"compressed": write(t, tape), "plain": text.Bytes()} {
			again, err := Read(bytes.NewReader(file))
			if err != nil || !reflect.DeepEqual(again.Exchanges, tape.Exchanges) {
				t.Errorf("what was read cannot be written, %s: %v", form, err)
			}
		}
		p := tape.Player(nil)
		for _, e := range tape.Exchanges {
			if reply, err := p.For(e.Type).Ask(t.Context(), e.Capability, e.Request); err != nil || len(reply) == 0 {
				t.Errorf("%s: %v", e.Capability, err)
			}
			_, _ = p.Resolve("/etc/x")
		}
	})
}

// What people edit is read: without the last line, with lines between and spaces within.
func TestATapeThatWasEdited(t *testing.T) {
	tape := record(t)
	var text bytes.Buffer
	if err := tape.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text.String(), "\n")
	edited := lines[0] + "\n" + strings.ReplaceAll(strings.Join(lines[1:], "\n"), `":"`, `" : "`)
	again, err := Read(strings.NewReader(edited))
	if err != nil || !reflect.DeepEqual(again, tape) {
		t.Errorf("%+v\nbecame\n%+v, %v", tape, again, err)
	}
	sealed := unpack(t, write(t, tape))
	if again, err := Read(strings.NewReader(sealed)); err != nil || !reflect.DeepEqual(again, tape) {
		t.Errorf("unpacked: %v", err)
	}
	for name, bad := range map[string]string{
		"edited and sealed": strings.Replace(sealed, `{"<n>":1}`, `{"<n>":7}`, 1),
		"a name twice":      lines[0] + `{"capability":"a","capability":"b","request":{},"reply":{}}` + "\n",
		"no reply":          lines[0] + `{"capability":"a","request":{}}` + "\n",
		"no object":         lines[0] + `{"capability":"a","request":{},"reply":[]}` + "\n",
		"no header":         strings.Join(lines[1:], ""),
		"half a line":       text.String()[:text.Len()-10],
	} {
		if got, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: accepted: %+v", name, got)
		}
	}
}

// A few bytes that unpack to more than a tape may have are refused before they fill the memory.
func TestATapeThatIsABomb(t *testing.T) {
	var head bytes.Buffer
	if err := record(t).WriteText(&head); err != nil {
		t.Fatal(err)
	}
	for name, fill := range map[string]string{
		"one line":   strings.Repeat(" ", maxLine+1),
		"many lines": strings.Repeat(`{"capability":"a","request":{},"reply":{}}`+strings.Repeat(" ", 1<<20)+"\n", maxSize>>20+1),
	} {
		bomb := pack(t, head.String()+fill)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if got, err := Read(bytes.NewReader(bomb)); err == nil {
			t.Errorf("%s: %d bytes were accepted: %d exchanges", name, len(bomb), len(got.Exchanges))
		}
		runtime.ReadMemStats(&after)
		if grown := after.HeapSys - before.HeapSys; int64(grown) > 4*maxSize {
			t.Errorf("%s: %d bytes took %d MiB", name, len(bomb), grown>>20)
		}
	}
}

// What a reply depends on besides the request binds it to the record that was declared.
func TestAReplyIsAboutWhatWasDeclared(t *testing.T) {
	env := func(vars, state string) []resource.Resource {
		return []resource.Resource{{ID: "env:/a", View: []byte(`{"id":"env:/a","path":"/a","state":"` + state + `","vars":` + vars + `}`)}}
	}
	r := NewRecorder(&counting{}, env(`{"A":"1"}`, "present"))
	ask(t, r.For("env"), "env_file", `{"id":"env:/a"}`)
	recorded := r.Tape(Header{})
	for name, c := range map[string]struct {
		rs    []resource.Resource
		known bool
	}{
		"the same":         {env(`{"A":"1"}`, "present"), true},
		"another state":    {env(`{"A":"1"}`, "absent"), true},
		"other variables":  {env(`{"A":"2"}`, "present"), false},
		"no such resource": {nil, false},
	} {
		reply := ask(t, recorded.Player(c.rs).For("env"), "env_file", `{"id":"env:/a"}`)
		if known := !strings.Contains(reply, NotOnTape); known != c.known {
			t.Errorf("%s: %s", name, reply)
		}
	}
	recorded.Exchanges[0].About = "" // as somebody writes it by hand
	if reply := ask(t, recorded.Player(env(`{"A":"2"}`, "present")).For("env"), "env_file", `{"id":"env:/a"}`); strings.Contains(reply, NotOnTape) {
		t.Error(reply)
	}
}

func TestResolving(t *testing.T) {
	r := NewRecorder(&counting{}, nil)
	resolve := r.Resolve(func(p string) (string, error) {
		if p == "/bad/x" {
			return "", errors.New("no way")
		}
		return strings.Replace(p, "/link/", "/real/", 1), nil
	})
	for _, p := range []string{"/link/x", "/bad/x"} {
		_, _ = resolve(p)
	}
	p := r.Tape(Header{}).Player(nil)
	if got, err := p.Resolve("/link/other"); err != nil || got != "/real/other" {
		t.Errorf("%s %v", got, err)
	}
	for name, says := range map[string]string{"/bad/x": "no way", "/new/x": NotOnTape} {
		if _, err := p.Resolve(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
