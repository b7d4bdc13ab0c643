package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// sums compares what was built with SHA256SUMS, which sha256sum -c reads, or brings it up to date.
func (b *build) sums(check, adopt bool) (said string, err error) {
	file, versionFile := filepath.Join(b.dist, "SHA256SUMS"), filepath.Join(b.dist, "GOVERSION")
	lines := make([]string, len(b.modules))
	for i, m := range b.modules {
		lines[i] = m.sum + "  " + m.file() + "\n"
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i][64:] < lines[j][64:] })
	want := []byte(strings.Join(lines, ""))
	have, _ := os.ReadFile(file)
	recorded, _ := os.ReadFile(versionFile)
	version := strings.TrimSpace(string(recorded))
	switch same := bytes.Equal(have, want); {
	case same:
		return "SHA256SUMS agrees", nil
	case check && version != b.version:
		return "", fmt.Errorf("SHA256SUMS was made with %s and this is %s; the same bytes need the same Go: GOTOOLCHAIN=%s", version, b.version, version)
	case check:
		return "", fmt.Errorf("these modules are not those of plugins/dist/SHA256SUMS:\n%srun go run ./tools/pluginbuild and commit it with the sources", differing(have, want))
	case version != "" && version != b.version && !adopt:
		return "SHA256SUMS is for " + version + " and stays (this is " + b.version + "; -adopt takes it over)", nil
	}
	if err := b.writeIfOther(file, want); err != nil {
		return "", err
	}
	return "SHA256SUMS is written", b.writeIfOther(versionFile, []byte(b.version+"\n"))
}

// differing are the lines of want that have does not hold.
func differing(have, want []byte) string {
	var out strings.Builder
	for line := range bytes.Lines(want) {
		if !bytes.Contains(have, line) {
			out.WriteString("  ")
			out.Write(line)
		}
	}
	return out.String()
}

func sumOf(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// writeIfOther leaves a file alone that holds the content already, so that nothing downstream is built for nothing.
// Others may read or write the same file meanwhile: it is whole at any moment.
func (b *build) writeIfOther(file string, content []byte) error {
	if have, err := os.ReadFile(file); err == nil && bytes.Equal(have, content) {
		return nil
	}
	part, err := os.CreateTemp(filepath.Dir(b.state), filepath.Base(file)+"-")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	_, err = part.Write(content)
	if err := errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), file)
}
