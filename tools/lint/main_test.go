package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	good, styled, bad := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{good, styled, bad} {
		write(t, filepath.Join(dir, "host-roles/r.yaml"), "role: r\nversion: 1\nresources: []\n")
		write(t, filepath.Join(dir, "hosts/t.yaml"), "name: t\nroles: [r]\n")
	}
	write(t, filepath.Join(styled, "hosts/u.yaml"), "roles: [r]\nname: u\n")
	write(t, filepath.Join(bad, "hosts/u.yaml"), "name: u\nroles: [r, nowhere]\n")
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"clean", []string{good}, 0, "", ""},
		{"a warning", []string{styled}, 1, styled + "/hosts/u.yaml:2:1: warning: key-order: name comes after roles\n", "lint: 1 finding in"},
		{"only errors", []string{"-q", styled}, 0, "", ""},
		{"an error", []string{"-q", bad}, 1, "u.yaml:2:12: R1: roles[1]: there is no role nowhere\n", "finding in"},
		{"github", []string{"-format", "github", styled}, 1, "::warning file=", ""},
		{"sarif", []string{"-format=sarif", good}, 0, `"id": "closed-types"`, ""},
		{"fixed", []string{"-fix", styled}, 0, "", "lint: fixed hosts/u.yaml\n"},
		{"an unknown format", []string{"-format", "xml", good}, 64, "", "lint: -format xml: choose one of text, json, "},
		{"an unknown flag", []string{"-nope"}, 64, "", "usage: lint"},
		{"two catalogs", []string{good, bad}, 64, "", "lint: one catalog at a time"},
		{"an empty name", []string{""}, 64, "", "the catalog's name is empty"},
		{"a revision that is none", []string{"-since", "nowhere", good}, 64, "", `no commit to compare with: "nowhere"`},
		{"no catalog", []string{t.TempDir()}, 1, "", "is no catalog"},
		{"help", []string{"-h"}, 0, "", "usage: lint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, err bytes.Buffer
			if code := run(c.args, &out, &err); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(out.String(), c.out) || c.out == "" && out.Len() > 0 {
				t.Errorf("stdout %q, want %q", out.String(), c.out)
			}
			if !strings.Contains(err.String(), c.err) || c.err == "" && c.code == 0 && err.Len() > 0 {
				t.Errorf("stderr %q, want %q", err.String(), c.err)
			}
		})
	}
}

// The repository has nothing to say about itself, neither as a catalog nor of its types.
func TestThisRepository(t *testing.T) {
	var out, err bytes.Buffer
	if code := run([]string{"../.."}, &out, &err); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out.String(), err.String())
	}
}
