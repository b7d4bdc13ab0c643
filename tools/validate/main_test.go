package main

import (
	"bytes"
	"encoding/json"
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
	good, bad, one := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{good, bad, one} {
		write(t, filepath.Join(dir, "host-roles/r.yaml"), "role: r\nversion: 1\nresources: []\n")
		write(t, filepath.Join(dir, "hosts/t.yaml"), "name: t\nroles: [r]\n")
	}
	write(t, filepath.Join(bad, "hosts/u.yaml"), "name: u\nroles: [r, 'a%b,c', nowhere]\n")
	write(t, filepath.Join(one, "hosts/u.yaml"), "name: u\nroles: [nowhere]\n")
	for _, c := range []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"valid", []string{good}, 0, "", "valid: 1 host, 1 role\n"},
		{"valid and quiet", []string{"-q", good}, 0, "", ""},
		{"findings", []string{bad}, 1, bad + "/hosts/u.yaml:2:21: R1: roles[2]: there is no role nowhere\n", "2 findings in"},
		{"one finding", []string{one}, 1, "there is no role nowhere", "validate: 1 finding in "},
		{"github", []string{"-format", "github", bad}, 1, ",line=2,col=12,title=wrong-value::roles[1]: \"a%25b,c\" is not allowed", "validate: 2 findings in"},
		{"json", []string{"-format=json", bad}, 1, `"rule": "R1"`, "validate: 2 findings in"},
		{"json without findings", []string{"-format=json", good}, 0, `"findings": []`, ""},
		{"sarif", []string{"-format=sarif", bad}, 1, `"version": "2.1.0"`, "validate: 2 findings in"},
		{"no catalog", []string{t.TempDir()}, 1, "", "is no catalog: it has neither hosts/ nor host-roles/; name a catalog's folder: validate CATALOG\n"},
		{"no folder", []string{filepath.Join(good, "nowhere")}, 1, "", "no such file or directory; name a catalog's folder: validate CATALOG\n"},
		{"an unknown format", []string{"-format=xml", good}, 64, "", "validate: -format xml: choose one of text, json, "},
		{"too many", []string{good, bad}, 64, "", "validate: one catalog at a time"},
		{"an empty name", []string{""}, 64, "", "the catalog's name is empty"},
		{"an unknown flag", []string{"-x"}, 64, "", "usage:"},
		{"help", []string{"-h"}, 0, "", "usage:"},
	} {
		var out, errs bytes.Buffer
		code := run(c.args, &out, &errs)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.err) || c.out == "" && out.Len() > 0 {
			t.Errorf("%s: code %d, want %d\n%s\n%s", c.name, code, c.code, out.String(), errs.String())
		}
		if strings.HasPrefix(strings.Join(c.args, " "), "-format=json") || strings.Contains(strings.Join(c.args, " "), "sarif") {
			if !json.Valid(out.Bytes()) {
				t.Errorf("%s: not JSON: %s", c.name, out.String())
			}
		}
	}
}
