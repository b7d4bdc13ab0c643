package own

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Once the modules were judged, what becomes of the files is no matter: a run loads those bytes.
func TestWhatWasJudgedIsWhatIsLoaded(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "plugins", "x_t")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("observe.wasm", "looks")
	write("apply.wasm", "acts")
	write("plugin.json", fmt.Sprintf(`{"plugin":{"type":"x_t","version":1,"abi":1,"verbs":["write"],"decision":"0001-t","observe":{},"apply":{},"digests":{"observe":%q,"apply":%q}}}`,
		digest([]byte("looks")), digest([]byte("acts"))))
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	typ := c.Type("x_t")
	c.Close()
	if found := c.Changed([]string{"file"}); len(found) > 0 || len(typ.held) > 0 {
		t.Errorf("a type that is not used was read: %v", found)
	}
	if found := c.Changed([]string{"x_t"}); len(found) > 0 {
		t.Fatal(found)
	}
	write("apply.wasm", "acts otherwise")
	if raw, err := fs.ReadFile(typ.Modules(), "x_t.apply.wasm"); err != nil || string(raw) != "acts" {
		t.Errorf("%q %v", raw, err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if found := again.Changed([]string{"x_t"}); len(found) != 1 || !strings.Contains(found[0].Message, "its digest is "+digest([]byte("acts otherwise"))) {
		t.Error(found)
	}
}
