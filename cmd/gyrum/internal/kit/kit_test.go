package kit

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

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
