package dpkg

import (
	"context"
	"sync"
	"time"

	"gyrum.ai/engine/host"
)

// Manager answers for the packages of this machine and changes them. It reads the database once and answers from
// memory until Forget. It is safe for concurrent use; the zero value is ready.
type Manager struct {
	// LockTimeout bounds the wait for apt's and dpkg's locks; 30 s when zero. Locks are waited for, never removed.
	LockTimeout time.Duration

	mu        sync.Mutex
	db        *database
	dbErr     error
	arch      string
	simulated map[host.PackageChange]host.PackageSimulation
	refreshed bool // the package lists were fetched in this run
}

// Package tells of one package. A name that is no package name is a fault, code invalid.
func (m *Manager) Package(ctx context.Context, name string) (host.PackageState, error) {
	base, _, err := splitName(name)
	if err != nil {
		return host.PackageState{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e, db, err := m.find(ctx, name)
	if err != nil {
		return host.PackageState{}, err
	}
	s := host.PackageState{Providers: append([]string{}, db.providers[base]...)}
	if e == nil {
		s.Virtual = len(s.Providers) > 0
		return s, nil
	}
	s.Known, s.Installed, s.Version, s.Status = true, e.installed(), e.version, e.words()
	s.Held, s.Architecture, s.Half = e.held(), e.arch, e.half()
	return s, nil
}

// Compare orders two versions; see the function of the same name.
func (m *Manager) Compare(a, b string) (int, error) { return Compare(a, b) }

// Forget drops the database and the simulations.
func (m *Manager) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget()
}

func (m *Manager) forget() { m.db, m.dbErr, m.simulated = nil, nil, nil }

// database reads the database on first use. A failure is remembered too: the next resource gets the same answer.
func (m *Manager) database(ctx context.Context) (*database, error) {
	if m.db == nil && m.dbErr == nil {
		db, err := query(ctx)
		if ctx.Err() != nil && err != nil {
			return nil, err
		}
		m.db, m.dbErr = db, err
	}
	return m.db, m.dbErr
}

// find gives the entry that a name means, nil when dpkg does not know it.
func (m *Manager) find(ctx context.Context, name string) (*entry, *database, error) {
	base, arch, err := splitName(name)
	if err != nil {
		return nil, nil, err
	}
	db, err := m.database(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := db.find(base, arch, func() (string, error) { return m.native(ctx) })
	return e, db, err
}

func (m *Manager) native(ctx context.Context) (string, error) {
	if m.arch == "" {
		arch, err := native(ctx)
		if err != nil {
			return "", err
		}
		m.arch = arch
	}
	return m.arch, nil
}

func (m *Manager) lockTimeout() time.Duration {
	if m.LockTimeout > 0 {
		return m.LockTimeout
	}
	return 30 * time.Second
}
