package system

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/fault"
)

// From the read side nothing that writes can be reached, not even by a type assertion.
func TestReadingHasNoWriter(t *testing.T) {
	h := Open(Options{StateDir: t.TempDir()})
	defer h.Close()
	r := h.Reading()
	if _, ok := r.FS.(fsys.FS); ok {
		t.Error("the file system can be changed")
	}
	if _, ok := r.Packages.(host.PackageWriter); ok {
		t.Error("packages can be changed")
	}
	if _, ok := r.Units.(host.UnitWriter); ok {
		t.Error("units can be changed")
	}
	w := h.Writing()
	if w.FS == nil || w.Packages == nil || w.Units == nil || w.Commands == nil || w.CommandEnv == nil {
		t.Errorf("incomplete: %+v", w)
	}
}

func TestProgramsOfSecrets(t *testing.T) {
	t.Setenv("INHERITED", "yes")
	dir := t.TempDir()
	for _, c := range []struct{ name, script, want, text string }{
		{"prints", `printf 's3cret\n'; echo noise >&2`, "s3cret\n", ""},
		{"has no arguments and nothing inherited", `echo "$#$INHERITED"`, "0\n", ""},
		{"fails", `echo s3cret; echo s3cret >&2; exit 3`, "", "exit status 3"},
		{"is killed", `echo s3cret; kill -9 $$`, "", "SIGKILL"},
		{"hangs", `echo s3cret; exec sleep 60`, "", "did not end within"},
		{"floods", `head -c 100000 /dev/zero`, "", "more than 1000 bytes"},
	} {
		program := filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-"))
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		out, err := run(context.Background(), program, 2*time.Second, 1000)
		switch {
		case c.text == "" && (err != nil || string(out) != c.want):
			t.Errorf("%s: got %q, %v", c.name, out, err)
		case c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text) || fault.Of(err).Code == ""):
			t.Errorf("%s: got %v", c.name, err)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the error holds the value", c.name)
		}
	}
}
