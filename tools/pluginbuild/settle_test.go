package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/plugin"
)

// linked is one module as Go's linker writes it.
func linked(t *testing.T) []byte {
	t.Helper()
	b, err := newBuild("../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "linked.wasm")
	if _, err := b.goTool(append(append([]string{"build"}, flags...), "-o", file, "./file/apply")...); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// globalsOf starts a module with its globals exported.
func globalsOf(t *testing.T, raw []byte) *plugin.Started {
	t.Helper()
	m, err := sectionsOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	types, err := globalTypes(m)
	if err != nil {
		t.Fatal(err)
	}
	open, names, err := exportGlobals(m, len(types))
	if err != nil {
		t.Fatal(err)
	}
	s, err := plugin.Start(t.Context(), open.encode(), names...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A settled module begins as the linked one is when it was started, to the last byte, asks for the same and offers the same.
func TestASettledModuleBeginsWhereTheStartEnds(t *testing.T) {
	raw := linked(t)
	settled, err := settle(raw)
	if err != nil {
		t.Fatal(err)
	}
	before, after := globalsOf(t, raw), globalsOf(t, settled)
	if !bytes.Equal(before.Memory, after.Memory) {
		t.Error("its memory is another")
	}
	if len(before.Globals) == 0 {
		t.Error("a module of Go's has globals")
	}
	for i, v := range before.Globals {
		if after.Globals[i] != v {
			t.Errorf("global %d is %#x, not %#x", i, after.Globals[i], v)
		}
	}
	was, is := mustSections(t, raw), mustSections(t, settled)
	if len(was) != len(is) {
		t.Fatalf("%d sections instead of %d", len(is), len(was))
	}
	for i, s := range was {
		switch s.id {
		case sectionFunctions, sectionMemories, sectionGlobals, sectionExports, sectionCode, sectionData:
		default:
			if !bytes.Equal(s.body, is[i].body) {
				t.Errorf("section %d is another", s.id)
			}
		}
	}
	again, err := settle(settled)
	if err != nil {
		t.Fatal(err)
	}
	if third := globalsOf(t, again); !bytes.Equal(third.Memory, after.Memory) {
		t.Error("settled twice, it is another")
	}
	if pieces := (&reader{rest: is.body(sectionData)}).number(); pieces > 1000 {
		t.Errorf("its data is in %d pieces", pieces)
	}
}

func mustSections(t *testing.T, raw []byte) sections {
	t.Helper()
	m, err := sectionsOf(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// assembled is a small module: memory of a page, a global, and a start that does nothing, with some sections replaced.
func assembled(replaced map[byte]string) []byte {
	m := map[byte]string{
		1:                "\x01\x60\x00\x00",
		sectionImports:   "\x01\x01a\x01b\x00\x00",
		sectionFunctions: "\x01\x00",
		sectionMemories:  "\x01\x00\x01",
		sectionGlobals:   "\x02\x7f\x01\x41\x7f\x0b\x7e\x01\x42\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x0b",
		sectionExports:   "\x02\x06memory\x02\x00\x0b_initialize\x00\x01",
		sectionCode:      "\x01\x02\x00\x0b",
		sectionData:      "\x01\x00\x41\x10\x0b\x04data",
	}
	for id, body := range replaced {
		m[id] = body
	}
	out := []byte(magic)
	for id := byte(1); id < 13; id++ {
		if body, ok := m[id]; ok && body != "none" {
			out = append(append(append(out, id), number(len(body))...), body...)
		}
	}
	return out
}

func TestSettleSmallModules(t *testing.T) {
	for name, c := range map[string]struct {
		replaced map[byte]string
		want     string // in the error; empty for none
	}{
		"a sound one":                     {nil, ""},
		"a global is negative":            {map[byte]string{sectionGlobals: "\x01\x7f\x01\x41\x40\x0b"}, ""},
		"no globals":                      {map[byte]string{sectionGlobals: "\x00"}, ""},
		"no data":                         {map[byte]string{sectionData: "\x00"}, ""},
		"two memories":                    {map[byte]string{sectionMemories: "\x02\x00\x01\x00\x01"}, "no memory, or several"},
		"a memory with a limit":           {map[byte]string{sectionMemories: "\x01\x01\x01\x02"}, "a limit of its own"},
		"a global that never changes":     {map[byte]string{sectionGlobals: "\x01\x7f\x00\x41\x00\x0b"}, "no integer which changes"},
		"a global that is a fraction":     {map[byte]string{sectionGlobals: "\x01\x7d\x01\x43\x00\x00\x00\x00\x0b"}, "no integer which changes"},
		"a global that begins as another": {map[byte]string{sectionGlobals: "\x01\x7f\x01\x23\x00\x0b"}, "no integer which changes"},
		"a global that is computed":       {map[byte]string{sectionGlobals: "\x01\x7f\x01\x41\x00\x41"}, "no constant"},
		"globals that are cut off":        {map[byte]string{sectionGlobals: "\x02\x7f\x01\x41\x00\x0b"}, "cut off"},
		"globals with something behind":   {map[byte]string{sectionGlobals: "\x01\x7f\x01\x41\x00\x0b\x00"}, "longer than its entries"},
		"no function to start it":         {map[byte]string{sectionExports: "\x01\x06memory\x02\x00"}, "_initialize"},
		"an imported function starts it":  {map[byte]string{sectionExports: "\x02\x06memory\x02\x00\x0b_initialize\x00\x00"}, "nobody to answer"},
		"exports that are cut off":        {map[byte]string{sectionExports: "\x03\x06memory\x02\x00"}, "section 7"},
		"a section that starts it":        {map[byte]string{sectionStart: "\x01"}, "section 8"},
		"a count of data":                 {map[byte]string{sectionDataCount: "\x01"}, "section 12"},
		"data that a program puts in":     {map[byte]string{sectionData: "\x02\x00\x41\x10\x0b\x04data\x01\x03abc"}, "does not begin in its memory"},
		"data of another memory":          {map[byte]string{sectionData: "\x01\x02\x00\x41\x10\x0b\x04data"}, "does not begin in its memory"},
		"data at a computed place":        {map[byte]string{sectionData: "\x01\x00\x23\x00\x0b\x04data"}, "does not begin in its memory"},
		"data that is cut off":            {map[byte]string{sectionData: "\x01\x00\x41\x10\x0b\x05data"}, "cut off"},
		"a start that changes a table": {map[byte]string{4: "\x01\x70\x00\x02", 9: "\x01\x03\x00\x01\x01",
			sectionCode: "\x01\x08\x00\x41\x00\xd2\x01\x26\x00\x0b"}, "changes a table"},
		"no code":                           {map[byte]string{sectionCode: "none"}, "no section 10"},
		"more functions than there is code": {map[byte]string{sectionFunctions: "\x02\x00\x00"}, "function"},
	} {
		raw := assembled(c.replaced)
		settled, err := settle(raw)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			before, after := globalsOf(t, raw), globalsOf(t, settled)
			if !bytes.Equal(before.Memory, after.Memory) || len(before.Globals) != len(after.Globals) {
				t.Errorf("%s: it begins as another", name)
			}
			for i, v := range before.Globals {
				if after.Globals[i] != v {
					t.Errorf("%s: global %d is %#x, not %#x", name, i, after.Globals[i], v)
				}
			}
		}
	}
	for _, raw := range [][]byte{nil, []byte("ELF"), assembled(nil)[:60], append(assembled(nil), sectionCode, 1, 0)} {
		if _, err := settle(raw); err == nil {
			t.Errorf("%q is settled", raw)
		}
	}
}

// The pieces of data are what is not zero, and short runs of zeros within.
func TestPiecesOfData(t *testing.T) {
	memory := make([]byte, 1<<16)
	memory[0], memory[longestGap+1], memory[2*longestGap+3] = 1, 2, 3
	memory[len(memory)-1] = 4
	r := &reader{rest: dataSection(memory)}
	var got []int
	for range r.number() {
		r.bytes(2)
		r.skipSigned()
		r.bytes(1)
		n := r.number()
		r.bytes(n)
		got = append(got, n)
	}
	if err := r.end("data"); err != nil {
		t.Fatal(err)
	}
	want := []int{longestGap + 2, 1, 1}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("pieces of %v, want %v", got, want)
	}
}
