package plugin

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Inside a folder that is ours, what is not ours is not loaded: it was put there while the folder was open to others.
func TestEntriesThatAreNotOurs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes files of another user")
	}
	for name, spoil := range map[string]func(dir, entry string) error{
		"a file of another user": func(_, entry string) error { return os.Chown(entry, 65534, 65534) },
		"a symlink for the file": func(dir, entry string) error {
			if err := os.Rename(entry, filepath.Join(dir, "elsewhere")); err != nil {
				return err
			}
			return os.Symlink(filepath.Join(dir, "elsewhere"), entry)
		},
		"a folder of another user": func(_, entry string) error { return os.Chown(filepath.Dir(filepath.Dir(entry)), 65534, 65534) },
		"an open folder":           func(_, entry string) error { return os.Chmod(filepath.Dir(filepath.Dir(entry)), 0o777) },
		"one more file": func(_, entry string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(entry), strings.Repeat("0", 64)), []byte("x"), 0o600)
		},
	} {
		dir := filepath.Join(t.TempDir(), "cache")
		cacheTry(t, dir)
		entry := compiledFiles(t, dir)[0]
		sound, err := os.ReadFile(entry)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(entry, append(bytes.Clone(sound), "planted"...), 0o600); err != nil {
			t.Fatal(err)
		}
		// The planter could make a seal that fits.
		if err := seal(filepath.Dir(filepath.Dir(entry))); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir, entry); err != nil {
			t.Fatal(err)
		}
		cacheTry(t, dir) // it works, by compiling anew
		if info, err := os.Lstat(entry); err == nil && info.Mode().IsRegular() && owner(info) == 0 {
			if got, _ := os.ReadFile(entry); bytes.Contains(got, []byte("planted")) && name != "an open folder" && name != "a folder of another user" {
				t.Errorf("%s: what was planted stands there still", name)
			}
		}
	}
}

// wazero names its folder by its version, so the code of another version is not even looked at.
func TestTheCodeOfAnotherVersionOfTheRuntime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	cacheTry(t, dir)
	entry := compiledFiles(t, dir)[0]
	versioned := filepath.Dir(entry)
	if !strings.Contains(filepath.Base(versioned), "wazero-") {
		t.Fatalf("the folder %s does not name the version", versioned)
	}
	old := filepath.Join(filepath.Dir(versioned), "wazero-v0.0.1-amd64-linux")
	if err := os.Rename(versioned, old); err != nil {
		t.Fatal(err)
	}
	if err := seal(filepath.Dir(versioned)); err != nil {
		t.Fatal(err)
	}
	cacheTry(t, dir)
	if _, err := os.Stat(entry); err != nil {
		t.Errorf("nothing was compiled for this version: %v", err)
	}
	// Code of another version under this one's name is not used either.
	raw, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(raw, []byte("WAZEVO"))
	if i < 0 {
		t.Fatal("the entry has no mark of its maker")
	}
	raw[i+7] ^= 1
	if err := os.WriteFile(entry, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := seal(filepath.Dir(versioned)); err != nil {
		t.Fatal(err)
	}
	cacheTry(t, dir)
	if got, err := os.ReadFile(entry); err != nil || bytes.Equal(got, raw) {
		t.Errorf("it was used: %v", err)
	}
}
