package main

import (
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
