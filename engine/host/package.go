package host

import (
	"context"

	"gyrum.ai/engine/host/fault"
)

// Packages is what can be asked of the package manager. Errors are faults (package fault): a database that cannot be
// read is an error, never a package that is not installed. An implementation may read everything once and answer from
// memory until Forget.
type Packages interface {
	// Package tells of one package; a name that dpkg does not know has Known false and no error.
	Package(ctx context.Context, name string) (PackageState, error)
	// Compare orders two versions by the package manager's rules: -1, 0 or 1.
	Compare(a, b string) (int, error)
	// Simulate plays a change through without writing anything, not even a cache.
	Simulate(ctx context.Context, change PackageChange) (PackageSimulation, error)
	// Forget drops what was remembered, after an action that may have changed packages.
	Forget()
}

// PackageWriter changes packages. A failed change is a fault; changed lists what did change, also then.
type PackageWriter interface {
	// Install installs name, in exactly this version when one is given; only then may it go down. Of other packages only those
	// in leaving may go with it.
	Install(ctx context.Context, name, version string, downgrade bool, leaving ...string) (changed []string, err error)
	// Remove removes name and keeps its configuration files. Of other packages only those in leaving may go with it.
	Remove(ctx context.Context, name string, leaving ...string) (changed []string, err error)
}

// PackageState is what dpkg knows of a package.
type PackageState struct {
	Known        bool   `json:"known"`
	Installed    bool   `json:"installed"`
	Version      string `json:"version"`
	Status       string `json:"status"` // dpkg's three words
	Held         bool   `json:"held"`
	Architecture string `json:"architecture"`
	// Half says that dpkg left it between two states: half-installed, unpacked, half-configured, reinst-required.
	Half    bool `json:"half"`
	Virtual bool `json:"virtual"`
	// Providers are the installed or available packages that provide the name.
	Providers []string `json:"providers"`
}

// PackageChange is a change to try.
type PackageChange struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state"` // present or absent
}

// PackageSimulation is what a change would do. Reason is set when it would not go through.
type PackageSimulation struct {
	OK         bool         `json:"ok"`
	Installs   []string     `json:"installs"` // name=version
	Upgrades   []string     `json:"upgrades"`
	Downgrades []string     `json:"downgrades"`
	Removes    []string     `json:"removes"` // names
	Reason     *fault.Error `json:"reason,omitempty"`
}
