package dpkg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/engine/host/fault"
)

// fakeDatabase points dpkg-query at a made-up database.
func fakeDatabase(t *testing.T, stanzas ...string) string {
	t.Helper()
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("needs dpkg-query")
	}
	dir := t.TempDir()
	for _, d := range []string{"info", "updates", "triggers", "parts"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "status"), strings.Join(stanzas, "\n"))
	write(t, filepath.Join(dir, "available"), "")
	write(t, filepath.Join(dir, "arch"), "amd64\narm64\ni386\n")
	t.Setenv("DPKG_ADMINDIR", dir)
	return dir
}

// stanza is one record of a status file; arch may be followed by further fields.
func stanza(name, status, version, arch string, more ...string) string {
	s := fmt.Sprintf("Package: %s\nStatus: %s\nArchitecture: %s\nMaintainer: T <t@example.org>\nDescription: test\n", name, status, arch)
	if version != "" {
		s += "Version: " + version + "\n"
	}
	for _, m := range more {
		s += m + "\n"
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWhatTheStatusWordsMean(t *testing.T) {
	tests := []struct {
		status                string
		installed, half, held bool
	}{
		{"install ok installed", true, false, false},
		{"hold ok installed", true, false, true},
		{"deinstall ok installed", true, false, false},
		{"purge ok installed", true, false, false},
		{"unknown ok installed", true, false, false},
		{"install ok triggers-pending", true, false, false},
		{"hold ok triggers-pending", true, false, true},
		{"install ok triggers-awaited", true, false, false},
		{"deinstall ok config-files", false, false, false},
		{"hold ok config-files", false, false, true},
		{"install ok half-installed", false, true, false},
		{"install reinstreq half-installed", false, true, false},
		{"install ok unpacked", false, true, false},
		{"install ok half-configured", false, true, false},
		{"install reinstreq installed", false, true, false},
	}
	var stanzas []string
	for i, tt := range tests {
		var more []string
		if strings.HasSuffix(tt.status, "awaited") {
			more = append(more, "Triggers-Awaited: p0")
		}
		if strings.HasSuffix(tt.status, "pending") {
			more = append(more, "Triggers-Pending: x")
		}
		stanzas = append(stanzas, stanza(fmt.Sprintf("p%d", i), tt.status, "1.0", "all", more...))
	}
	fakeDatabase(t, stanzas...)
	var m Manager
	for i, tt := range tests {
		s, err := m.Package(context.Background(), fmt.Sprintf("p%d", i))
		if err != nil {
			t.Fatal(err)
		}
		if !s.Known || s.Installed != tt.installed || s.Half != tt.half || s.Held != tt.held || s.Status != tt.status || s.Version != "1.0" {
			t.Errorf("%s: %+v", tt.status, s)
		}
	}
}

func TestWhichPackageANameMeans(t *testing.T) {
	arch, err := exec.Command("dpkg", "--print-architecture").Output()
	if err != nil || strings.TrimSpace(string(arch)) != "amd64" {
		t.Skip("the table is for amd64")
	}
	const in = "install ok installed"
	fakeDatabase(t,
		stanza("libc6", in, "2.36", "amd64", "Multi-Arch: same"), stanza("libc6", in, "2.35", "i386", "Multi-Arch: same"),
		stanza("libz", in, "1.2", "i386", "Multi-Arch: same"), stanza("libz", "deinstall ok config-files", "1.1", "amd64", "Multi-Arch: same"),
		stanza("foreign", in, "3", "arm64"), stanza("g++", in, "12", "amd64"), stanza("libxs.1", in, "1", "amd64"),
		stanza("indep", in, "4", "all"), stanza("exim", in, "5", "amd64", "Provides: mail-transport-agent, smtp (= 2.0)"),
		stanza("gone", "deinstall ok config-files", "1", "amd64", "Provides: was-there"))
	tests := []struct {
		name      string
		known     bool
		installed bool
		version   string
		providers string
	}{
		{name: "libc6", known: true, installed: true, version: "2.36"},
		{name: "libc6:amd64", known: true, installed: true, version: "2.36"},
		{name: "libc6:i386", known: true, installed: true, version: "2.35"},
		{name: "libc6:native", known: true, installed: true, version: "2.36"},
		{name: "libc6:all"},
		{name: "libc6:nosucharch"},
		{name: "libz", known: true, installed: true, version: "1.2"}, // as apt has it: another architecture counts
		{name: "libz:amd64", known: true, version: "1.1"},
		{name: "foreign", known: true, installed: true, version: "3"},
		{name: "foreign:amd64"},
		{name: "g++", known: true, installed: true, version: "12"},
		{name: "g"},
		{name: "libxs.1", known: true, installed: true, version: "1"},
		{name: "libxs01"},
		{name: "indep", known: true, installed: true, version: "4"},
		{name: "indep:amd64", known: true, installed: true, version: "4"},
		{name: "indep:all", known: true, installed: true, version: "4"},
		{name: "indep:i386"},
		{name: "mail-transport-agent", providers: "exim"},
		{name: "smtp", providers: "exim"},
		{name: "was-there"},
	}
	var m Manager
	for _, tt := range tests {
		s, err := m.Package(context.Background(), tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Known != tt.known || s.Installed != tt.installed || s.Version != tt.version || strings.Join(s.Providers, " ") != tt.providers || s.Virtual != (tt.providers != "") {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
	for _, bad := range []string{"l*", "-l", "", "a b", "a=1", "Curl", "a/stable", "a:b:c", "a?", "[ab]", "a^", "a:", "--help", "ä", "a\nb", "_x"} {
		if _, err := m.Package(context.Background(), bad); code(err) != fault.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestABrokenDatabaseIsNeverAbsence(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(dir string) error
		code  string
	}{
		{"no folder", func(dir string) error { return os.RemoveAll(dir) }, fault.Unavailable},
		{"no status file", func(dir string) error { return os.Remove(filepath.Join(dir, "status")) }, fault.Unavailable},
		{"damaged", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "status"), []byte("Package: a\ngarbage\n"), 0o644)
		}, fault.Unavailable},
		{"emptied", func(dir string) error {
			return errors.Join(os.Truncate(filepath.Join(dir, "status"), 0), os.WriteFile(filepath.Join(dir, "info", "a.list"), nil, 0o644))
		}, fault.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := fakeDatabase(t, stanza("a", "install ok installed", "1", "all"))
			if err := tt.spoil(dir); err != nil {
				t.Fatal(err)
			}
			var m Manager
			for range 2 {
				if s, err := m.Package(context.Background(), "a"); code(err) != tt.code {
					t.Errorf("got %+v, %v", s, err)
				}
			}
		})
	}
	t.Run("no dpkg-query", func(t *testing.T) {
		fakeDatabase(t, stanza("a", "install ok installed", "1", "all"))
		if _, err := parse("a\tall\n"); code(err) != fault.Unavailable {
			t.Errorf("a short record: %v", err)
		}
	})
	t.Run("new and empty", func(t *testing.T) {
		fakeDatabase(t)
		var m Manager
		if s, err := m.Package(context.Background(), "a"); err != nil || s.Known {
			t.Errorf("%+v %v", s, err)
		}
	})
}

func TestLocaleAndNoiseChangeNothing(t *testing.T) {
	fakeDatabase(t, stanza("a", "hold ok installed", "1", "all"))
	real, err := exec.LookPath("dpkg-query")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	wrapper := "#!/bin/sh\necho \"Warnung: $LANG$LANGUAGE$LC_ALL\" >&2\nexec " + real + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "dpkg-query"), []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("LANG", "de_DE.UTF-8")
	t.Setenv("LANGUAGE", "de")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	var m Manager
	if s, err := m.Package(context.Background(), "a"); err != nil || !s.Installed || !s.Held {
		t.Errorf("%+v %v", s, err)
	}
}

func TestTheDatabaseIsReadOnce(t *testing.T) {
	dir := fakeDatabase(t, stanza("a", "install ok installed", "1", "all"))
	var m Manager
	ask := func() string {
		s, err := m.Package(context.Background(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return s.Version
	}
	first := ask()
	write(t, filepath.Join(dir, "status"), stanza("a", "install ok installed", "2", "all"))
	if again := ask(); first != "1" || again != "1" {
		t.Errorf("%s then %s", first, again)
	}
	m.Forget()
	if now := ask(); now != "2" {
		t.Errorf("after Forget: %s", now)
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Code
}
