package hosttest

import (
	"context"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/account"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/process"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/host/systemd"
	"gyrum.ai/engine/resource"
)

// StateDir is gyrum's state folder on a model host.
const StateDir = "/var/lib/gyrum"

// Host is a whole host in memory. What is above the kernel, the bus, dpkg and processes is the code of a real host.
type Host struct {
	Power    *Power
	FS       *FS
	Packages *Packages
	Units    *Units
	Commands *Commands
	Accounts *Accounts
	// Secrets holds values by reference, as a manifest writes it.
	Secrets map[string]string
}

// NewHost makes a bare host: a few directories, root, and no packages or units.
func NewHost() *Host {
	power := NewPower()
	fs := NewFS(power)
	for _, d := range []string{"/etc/systemd/system", "/run", "/usr/lib/systemd/system", "/var/lib/dpkg/info", "/var/tmp"} {
		fs.AddDir(d, 0o755, 0, 0)
	}
	fs.AddDir(StateDir, 0o700, 0, 0)
	fs.AddFile("/etc/passwd", "root:x:0:0::/root:/bin/sh\n", 0o644)
	fs.AddFile("/etc/group", "root:x:0:\n", 0o644)
	units := NewUnits(power, fs)
	return &Host{
		Power: power, FS: fs, Units: units, Packages: NewPackages(power, fs, units),
		Commands: &Commands{Power: power}, Secrets: map[string]string{}, Accounts: &Accounts{Power: power, FS: fs, Running: map[uint32]bool{}},
	}
}

// Configs give a fresh program on this host: whatever an earlier one remembered is gone.
func (h *Host) Configs() (host.ReadConfig, host.WriteConfig) {
	tree := files.Tree{FS: h.FS}
	units := systemd.NewUnits(h.Units, systemd.Config{
		Packages:  h.Packages,
		Records:   systemd.StateRecords{Tree: tree, StateDir: StateDir},
		Installed: func(name, _ string) []string { return []string{"/var/lib/dpkg/info/" + name + ".list"} },
		Glob:      func(pattern string) ([]string, error) { return glob(tree, pattern) },
	})
	store := systemd.StateStore{StateRecords: systemd.StateRecords{Tree: tree, StateDir: StateDir}, Write: files.NewWriteTree(h.FS, 0)}
	accounts := account.New(tree, nil)
	accounts.Processes = func(uid uint32) (bool, error) { return h.Accounts.Running[uid], nil }
	read := host.ReadConfig{
		FS: h.FS, StateDir: StateDir, Accounts: accounts, Packages: h.Packages, Units: units, Secrets: secrets{h},
	}
	return read, host.WriteConfig{
		FS: h.FS, Packages: h.Packages, Units: systemd.NewWriter(units, h.Units, store, h.Units),
		Commands: h.Commands, Accounts: h.Accounts, CommandEnv: process.Plain,
	}
}

// secrets resolves from the map.
type secrets struct{ h *Host }

// Resolve gives the value of a reference.
func (s secrets) Resolve(_ context.Context, ref resource.SecretRef) (secret.Value, error) {
	v, ok := s.h.Secrets[ref.String()]
	if !ok {
		return secret.Value{}, fault.New(fault.SecretUnresolved, "%s cannot be resolved", ref)
	}
	return secret.NewValue([]byte(v)), nil
}

// Forget has nothing to drop.
func (s secrets) Forget() {}
