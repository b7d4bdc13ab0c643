package dpkg

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/process"
)

// adminVariable is the variable by which dpkg itself can be pointed at another database; it is passed on.
const adminVariable = "DPKG_ADMINDIR"

// adminDir is the folder of dpkg's database.
func adminDir() string {
	if d := os.Getenv(adminVariable); d != "" {
		return d
	}
	return "/var/lib/dpkg"
}

// The fields of one record. None of their values holds a tab or a newline: dpkg-query renders relations on one line.
var fields = []string{
	"${Package}", "${Architecture}", "${db:Status-Want}", "${db:Status-Eflag}", "${db:Status-Status}",
	"${Version}", "${Essential}", "${Protected}", "${Provides}",
}

// query reads the whole database with one dpkg-query. dpkg-query takes a missing database for an empty one; here it is
// an error, so that nothing is absent because it could not be seen.
func query(ctx context.Context) (*database, error) {
	if err := verifyAdmin(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var errs process.Output
	end, err := process.Run(ctx, process.Spec{
		Argv:   []string{"dpkg-query", "-W", "-f=" + strings.Join(fields, `\t`) + `\n`},
		Env:    process.Tool(adminVariable),
		Stdout: &out, Stderr: &errs,
	})
	if err != nil {
		return nil, fault.New(fault.Unavailable, "the package database cannot be read: %w", err)
	}
	if end.Exit != 0 {
		return nil, fault.New(fault.Unavailable, "the package database %s cannot be read: %s", adminDir(), lastLines(errs.End(1000)))
	}
	entries, err := parse(out.String())
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 && hasFileLists() {
		return nil, fault.New(fault.Unavailable, "the package database %s/status is empty although packages were installed here; %s/status-old may be its last good state",
			adminDir(), adminDir())
	}
	return newDatabase(entries), nil
}

func verifyAdmin() error {
	f, err := os.Open(filepath.Join(adminDir(), "status"))
	if err == nil {
		return f.Close()
	}
	code := fault.Unavailable
	if errors.Is(err, fs.ErrPermission) {
		code = fault.PermissionDenied
	}
	return fault.New(code, "the package database cannot be read: %w", err)
}

// hasFileLists says whether dpkg has ever installed a package: each leaves a list of its files.
func hasFileLists() bool {
	lists, err := filepath.Glob(filepath.Join(adminDir(), "info", "*.list"))
	return err == nil && len(lists) > 0
}

// parse reads dpkg-query's records.
func parse(out string) ([]*entry, error) {
	var entries []*entry
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != len(fields) || f[0] == "" || !strings.HasSuffix(line, "\n") {
			return nil, fault.New(fault.Unavailable, "dpkg-query printed a line that is no record of a package: %.100q", line)
		}
		if _, known := words[f[4]]; !known {
			return nil, fault.New(fault.Unavailable, "dpkg-query tells an unknown status of %s: %.100q", f[0], f[4])
		}
		e := &entry{
			name: f[0], arch: f[1], want: f[2], flag: f[3], status: f[4], version: f[5],
			essential: f[6] == "yes" || f[7] == "yes", provides: provided(f[8]),
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// provided gives the names of a Provides field, without versions and architectures.
func provided(field string) []string {
	var names []string
	for _, p := range strings.Split(field, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(p), " ")
		name, _, _ = strings.Cut(name, ":")
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// native asks dpkg for the architecture that it was built for.
func native(ctx context.Context) (string, error) {
	var out bytes.Buffer
	end, err := process.Run(ctx, process.Spec{Argv: []string{"dpkg", "--print-architecture"}, Env: process.Tool(), Stdout: &out})
	if err != nil {
		return "", fault.New(fault.Unavailable, "the architecture cannot be told: %w", err)
	}
	arch := strings.TrimSpace(out.String())
	if end.Exit != 0 || arch == "" {
		return "", fault.New(fault.Unavailable, "dpkg --print-architecture failed with status %d", end.Exit)
	}
	return arch, nil
}

// lastLines gives the last few lines of a tool's message as one line.
func lastLines(s string) string {
	lines := strings.FieldsFunc(strings.TrimSpace(s), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 12 {
		lines = append([]string{"…"}, lines[len(lines)-12:]...)
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " / ")
}
