package kit

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gyrum.ai/engine/plugin"
	"gyrum.ai/plugins"
)

// TestABuiltPlugin tries one with its own cases, and with a case that it does not meet.
func TestABuiltPlugin(t *testing.T) {
	if _, err := plugins.Modules().Open("directory.observe.wasm"); err != nil {
		t.Fatalf("%v: run make plugins", err)
	}
	cache := t.TempDir()
	result, err := Try(t.Context(), "directory", plugins.Modules(), os.DirFS("../../../../plugins/directory/testdata/cases"), cache)
	if err != nil || !result.Passed() || result.Cases < 10 || len(result.Rules) < 10 {
		t.Errorf("%+v, %v", result, err)
	}

	wrong := fstest.MapFS{"a.txt": {Data: []byte(`declared:  {"type":"directory","id":"directory:/a","path":"/a","mode":"0755","owner":"root","group":"root","state":"present"}
account:   {"user":{"exists":true,"id":0},"group":{"exists":true,"id":0}}
file_stat: {"exists":false}

case: one
want:      in sync

case: two
want:      write drift missing
params:    {"mode":"0755","owner":"root","group":"root"}
`)}}
	result, err = Try(t.Context(), "directory", plugins.Modules(), wrong, cache)
	if err != nil || result.Passed() || len(result.Wrong) != 1 || !strings.HasPrefix(result.Wrong[0], "a.txt:5: one: it says ") {
		t.Errorf("%+v, %v", result.Wrong, err)
	}
}

func TestWhatCannotBeTried(t *testing.T) {
	cases := os.DirFS("../../../../plugins/file/testdata/cases")
	if _, err := Try(t.Context(), "file", fstest.MapFS{}, cases, ""); err == nil {
		t.Error("no module, and no error")
	}
	if _, err := Try(t.Context(), "file", plugins.Modules(), fstest.MapFS{}, ""); err == nil {
		t.Error("no case, and no error")
	}
}

// looping is a module whose phase functions never come to an end.
func looping(phases ...string) []byte {
	list := func(entries ...string) string {
		return string(binary.AppendUvarint(nil, uint64(len(entries)))) + strings.Join(entries, "")
	}
	sized := func(text string) string { return string(binary.AppendUvarint(nil, uint64(len(text)))) + text }
	export := func(name string, kind, index int) string {
		return sized(name) + string([]byte{byte(kind), byte(index)})
	}
	functions := []string{"\x00", "\x01"}
	exports := []string{export("memory", 2, 0), export("_initialize", 0, 0), export("gyrum_abi", 0, 1)}
	code := []string{sized("\x00\x0b"), sized("\x00\x41\x01\x0b")}
	for i, name := range phases {
		functions = append(functions, "\x02")
		exports = append(exports, export(name, 0, 2+i))
		code = append(code, sized("\x00\x03\x40\x0c\x00\x0b\x00\x0b")) // loop, br 0, end, unreachable
	}
	out := "\x00asm\x01\x00\x00\x00"
	for _, section := range []struct {
		id   byte
		body string
	}{
		{1, list("\x60\x00\x00", "\x60\x00\x01\x7f", "\x60\x01\x7f\x01\x7f")}, // () -> (), () -> i32, i32 -> i32
		{3, list(functions...)},
		{5, list("\x00\x01")},
		{7, list(exports...)},
		{10, list(code...)},
	} {
		out += string([]byte{section.id}) + sized(section.body)
	}
	return []byte(out)
}

// What every case would meet is said once, and at once.
func TestAModuleThatIsHopeless(t *testing.T) {
	limits := plugin.DefaultLimits()
	limits.Time = 400 * time.Millisecond
	manifest := &fstest.MapFile{Data: []byte(`{"plugin":{"type":"x_note","version":1,"abi":1,"verbs":["write"],"decision":"0001-note","observe":{},"apply":{}}}`)}
	text := ""
	for i := range 20 {
		text += fmt.Sprintf("case: %d\nwant:      in sync\n\n", i)
	}
	cases := fstest.MapFS{"a.txt": {Data: []byte("declared:  {\"type\":\"x_note\",\"id\":\"x_note:/a\"}\n\n" + text)}}
	for name, c := range map[string]struct {
		observe []byte
		want    string
	}{
		"it loops":            {looping("observe", "diff"), "it computed longer than"},
		"it cannot be loaded": {[]byte("no module"), "it cannot be loaded"},
	} {
		t.Run(name, func(t *testing.T) {
			modules := fstest.MapFS{"x_note.json": manifest, "x_note.observe.wasm": {Data: c.observe}, "x_note.apply.wasm": {Data: looping("apply")}}
			result, err := try(t.Context(), "x_note", modules, cases, "", limits, Longest)
			if err != nil || result.Passed() || len(result.Wrong) != 1 || len(result.Rules) > 0 ||
				!strings.Contains(result.Wrong[0], c.want) || !strings.HasSuffix(result.Wrong[0], "; the 19 cases that follow and the suite were not tried") {
				t.Errorf("%+v %v", result, err)
			}
		})
	}
}

// One that goes on for longer than anything should is stopped with a verdict, wherever it is.
func TestATrialComesToAnEnd(t *testing.T) {
	cases := os.DirFS("../../../../plugins/directory/testdata/cases")
	for _, longest := range []time.Duration{time.Nanosecond, 300 * time.Millisecond} {
		result, err := try(t.Context(), "directory", plugins.Modules(), cases, "", plugin.DefaultLimits(), longest)
		if err != nil || result.Passed() || !strings.Contains(fmt.Sprint(result), fmt.Sprintf("was not through after %v", longest)) {
			t.Errorf("%v: %+v %v", longest, result, err)
		}
	}
}
