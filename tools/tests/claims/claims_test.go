// Package claims holds what the documentation claims about security to the tests that it names.
package claims

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

// link is a test, or a fuzz target, and the file that it is in, relative to docs/.
var link = regexp.MustCompile(`\[((?:Test|Fuzz)\w+)\]\(([^)]+)\)`)

// Every row of a table of claims names a test that exists, where the page says.
func TestEveryClaimNamesItsTests(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "docs/threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	claims := 0
	for i, line := range strings.Split(string(raw), "\n") {
		row := strings.HasPrefix(line, "| ") && line != "| claim | test |"
		links := link.FindAllStringSubmatch(line, -1)
		if row {
			claims++
			if len(links) == 0 {
				t.Errorf("line %d: a claim without a test: %s", i+1, line)
			}
		}
		for _, l := range links {
			name, file := l[1], filepath.Join(root, "docs", l[2])
			source, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("line %d: %v", i+1, err)
				continue
			}
			if !regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(source) {
				t.Errorf("line %d: there is no %s in %s", i+1, name, l[2])
			}
		}
	}
	if claims < 30 {
		t.Errorf("only %d claims were found", claims)
	}
}

// apt has options that take packages which nobody signed. None of them stands in the sources.
func TestAptIsNeverToldToTrust(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)allow-unauthenticated|AllowUnauthenticated|AllowInsecureRepositories|allow-insecure-repositories|AllowWeakRepositories|trusted=yes|--force-yes|--no-check-certificate|Verify-Peer`)
	err := filepath.WalkDir(filepath.Join(root, "engine"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && forbidden.Match(raw) {
			t.Errorf("%s: %s", path, forbidden.Find(raw))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
