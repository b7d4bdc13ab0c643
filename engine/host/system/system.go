// Package system puts the real host together: the kernel's file system, getent, dpkg and apt, systemd, and processes.
//
// It knows no resources; nothing of it is asked before the first question.
package system

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"time"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/account"
	"gyrum.ai/engine/host/dpkg"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/process"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/host/systemd"
)

// Options say where things lie.
type Options struct {
	// StateDir is gyrum's state folder, absolute.
	StateDir string
	// Catalog reads a file of the catalog by its path relative to the root, for age secrets; nil when there is no catalog.
	Catalog func(name string) ([]byte, error)
}

// Host is this machine.
type Host struct {
	options  Options
	self     uint32
	bus      *systemd.Bus
	packages *dpkg.Manager
	units    *systemd.Units
	accounts *account.Accounts
	secrets  *secret.Resolver
}

// Open prepares the host; it connects to nothing yet.
func Open(o Options) *Host {
	h := &Host{options: o, self: uint32(os.Geteuid()), bus: &systemd.Bus{}, packages: &dpkg.Manager{}}
	tree := h.tree()
	h.units = systemd.NewUnits(h.bus, systemd.Config{
		Packages:  h.packages,
		Records:   systemd.StateRecords{Tree: tree, StateDir: o.StateDir},
		Installed: installed,
		Glob:      filepath.Glob,
	})
	h.accounts = account.New(tree, account.Getent)
	h.accounts.Processes = account.Processes
	h.secrets = &secret.Resolver{
		Tree: tree, Credentials: os.Getenv("CREDENTIALS_DIRECTORY"), Catalog: o.Catalog, Run: run,
	}
	return h
}

func (h *Host) tree() files.Tree {
	return files.Tree{FS: fsys.ReadOnly(fsys.System("/")), Self: h.self}
}

// installed names the files that dpkg writes when it installs a package.
func installed(name, arch string) []string {
	const dir = "/var/lib/dpkg/info/"
	return []string{dir + name + ":" + arch + ".list", dir + name + ".list"}
}

// Reading gives the read side. The writing half cannot be reached from it.
func (h *Host) Reading() host.ReadConfig {
	return host.ReadConfig{
		FS: h.tree().FS, Self: h.self, StateDir: h.options.StateDir, Accounts: h.accounts,
		Packages: struct{ host.Packages }{h.packages}, Units: struct{ host.Units }{h.units}, Secrets: h.secrets,
	}
}

// Writing gives the write side.
func (h *Host) Writing() host.WriteConfig {
	fs := fsys.System("/")
	store := systemd.StateStore{
		StateRecords: systemd.StateRecords{Tree: h.tree(), StateDir: h.options.StateDir},
		Write:        files.NewWriteTree(fs, h.self), Group: uint32(os.Getegid()),
	}
	return host.WriteConfig{
		FS: fs, Packages: h.packages, Units: systemd.NewWriter(h.units, h.bus, store, systemd.RealClock{}),
		Commands: process.Commands{}, Accounts: account.Tools{Lookup: h.accounts}, CommandEnv: process.Plain,
	}
}

// Close ends the connections.
func (h *Host) Close() { h.bus.Close() }

// run runs the program of a secret: no arguments, a plain environment with what may hold temporary files, and nothing of
// what it prints in an error.
func run(ctx context.Context, program string, timeout time.Duration, limit int64) ([]byte, error) {
	var out capped
	out.limit = limit
	end, err := process.Run(ctx, process.Spec{Argv: []string{program}, Env: process.Plain(temporary()), Timeout: timeout, Stdout: &out})
	switch {
	case err != nil:
		return nil, err
	case end.TimedOut:
		return nil, fault.New(fault.Timeout, "%s did not end within %s", program, timeout)
	case end.Signal != "":
		return nil, fault.New(fault.Failed, "%s was ended by %s", program, end.Signal)
	case end.Exit != 0:
		return nil, fault.New(fault.Failed, "%s ended with exit status %d", program, end.Exit)
	case out.over:
		return nil, fault.New(fault.Invalid, "%s printed more than %d bytes", program, limit)
	}
	return out.kept.Bytes(), nil
}

// temporary passes TMPDIR on: in a check, it is the one place besides the cache where anything can be written.
func temporary() map[string]string {
	if dir := os.Getenv("TMPDIR"); dir != "" {
		return map[string]string{"TMPDIR": dir}
	}
	return nil
}

// capped keeps what fits and takes the rest without keeping it.
type capped struct {
	kept  bytes.Buffer // not embedded: its ReadFrom would go round the limit
	limit int64
	over  bool
}

func (c *capped) Write(p []byte) (int, error) {
	if int64(c.kept.Len()+len(p)) > c.limit {
		c.over = true
		return len(p), nil
	}
	return c.kept.Write(p)
}
