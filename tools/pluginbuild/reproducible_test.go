package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestAnotherFolderGivesTheSameBytes builds one module from a copy elsewhere, where there is no go.work.
func TestAnotherFolderGivesTheSameBytes(t *testing.T) {
	here, err := newBuild("../..")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "some where", "else")
	if err := os.CopyFS(filepath.Join(elsewhere, "plugins"), os.DirFS(here.plugins)); err != nil {
		t.Fatal(err)
	}
	copySettling(t, elsewhere)
	there, err := newBuild(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, b := range []*build{here, there} {
		b.dist, b.state = t.TempDir(), filepath.Join(t.TempDir(), "state.json")
		m := *b.modules[0]
		if err := b.module(&m); err != nil {
			t.Fatal(err)
		}
		sums = append(sums, m.sum)
	}
	if sums[0] != sums[1] {
		t.Errorf("the same sources give %s here and %s elsewhere", sums[0], sums[1])
	}
}

// copySettling copies what the keys cover beside the sources.
func copySettling(t *testing.T, root string) {
	t.Helper()
	for _, name := range settledBy {
		raw, err := os.ReadFile(filepath.Join("../../plugins", name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(root, "plugins", name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, "plugins", name), raw, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What decides how a module is settled is in the key by which it is known as built.
func TestTheKeyCoversSettling(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "plugins"), os.DirFS("../../plugins")); err != nil {
		t.Fatal(err)
	}
	copySettling(t, root)
	key := func() string {
		t.Helper()
		b, err := newBuild(root)
		if err != nil {
			t.Fatal(err)
		}
		return b.modules[0].key
	}
	seen := map[string]string{key(): "nothing"}
	for _, name := range settledBy {
		f, err := os.OpenFile(filepath.Join(root, "plugins", name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("\n// changed\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		k := key()
		if before, ok := seen[k]; ok {
			t.Errorf("a change of %s leaves the key as it was after %s", name, before)
		}
		seen[k] = name
	}
}

// TestImportsAreRead holds the reader of import sections against damaged modules.
func TestImportsAreRead(t *testing.T) {
	head := "\x00asm\x01\x00\x00\x00"
	for name, c := range map[string]struct {
		raw  string
		want int
		ok   bool
	}{
		"no module":                 {"ELF", 0, false},
		"no import section":         {head, 0, false},
		"one import":                {head + "\x01\x01\x00" + "\x02\x07\x01\x01a\x01b\x00\x00", 1, true},
		"a memory is imported":      {head + "\x02\x08\x01\x01a\x01b\x02\x00\x01", 0, false},
		"it is cut off":             {head + "\x02\x07\x02\x01a\x01b\x00\x00", 0, false},
		"a section longer than all": {head + "\x02\x7f\x01", 0, false},
		"a length without an end":   {head + "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0, false},
	} {
		got, err := importsOf([]byte(c.raw))
		if (err == nil) != c.ok || len(got) != c.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
