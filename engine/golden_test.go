package engine

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a value's JSON with a file in testdata.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs; look at it and run go test -update:\n%s", file, got.Bytes())
	}
}

func TestTheReportIsAsThePeopleWhoReadItKnowIt(t *testing.T) {
	b := newBench(t, prober()...)
	b.o.Clock = func() time.Time { return epoch }
	b.after["package:gyrum-prober"] = func() { b.groups["gyrum"] = true }
	golden(t, "check.json", b.check())
	result := b.apply()
	golden(t, "executed.json", result.Executed)
	golden(t, "after.json", result.After)
}
