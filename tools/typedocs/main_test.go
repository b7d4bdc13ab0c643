package main

import "testing"

// TestPagesAreUpToDate holds every row of the tables against the cases, and every case against a row.
func TestPagesAreUpToDate(t *testing.T) {
	stale, err := run("../..", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stale {
		t.Errorf("%s is out of date; run go run ./tools/typedocs", name)
	}
}

func TestMarksAreNeeded(t *testing.T) {
	if _, err := place("# a page\n", "x"); err == nil {
		t.Error("a page without the marks is taken")
	}
	if got, err := place("a\n"+begin+"old\n"+end+"b\n", "new\n"); err != nil || got != "a\n"+begin+"new\n"+end+"b\n" {
		t.Errorf("%q, %v", got, err)
	}
}
