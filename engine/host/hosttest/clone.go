package hosttest

import "maps"

// Clone gives a second host that is just like this one, down to what is not durable and to the moment of a cut. What happens to one
// does not show on the other. Nothing may go on upon the host meanwhile. Scripts of commands are the same functions, so they
// still change the host that they were written for: a test that has such sets them anew.
func (h *Host) Clone() *Host {
	power := h.Power.clone()
	fs := h.FS.clone(power)
	units := h.Units.clone(power, fs)
	h.Commands.mu.Lock()
	defer h.Commands.mu.Unlock()
	return &Host{
		Power: power, FS: fs, Units: units, Packages: h.Packages.clone(power, fs, units),
		Commands: &Commands{Power: power, Scripts: maps.Clone(h.Commands.Scripts), runs: append([]string(nil), h.Commands.runs...)},
		Accounts: &Accounts{Power: power, FS: fs, Running: maps.Clone(h.Accounts.Running)}, Secrets: maps.Clone(h.Secrets),
	}
}

func (p *Power) clone() *Power {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &Power{done: p.done, limit: p.limit, off: p.off}
}

func (f *FS) clone(power *Power) *FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &FS{Power: power, Inject: f.Inject, durable: f.durable.clone(), live: f.live.clone(), state: f.state, next: f.next, clock: f.clock}
	for _, p := range f.pending {
		again := *p // what it does is told by ids, which are the same here
		c.pending = append(c.pending, &again)
	}
	return c
}

// clone shares definitions and daemons, which nobody changes once they are there.
func (u *Units) clone(power *Power, fs *FS) *Units {
	u.mu.Lock()
	defer u.mu.Unlock()
	return &Units{
		Power: power, FS: fs, loaded: maps.Clone(u.loaded), last: u.last, boot: u.boot, running: maps.Clone(u.running),
		failed: maps.Clone(u.failed), read: maps.Clone(u.read), enabled: maps.Clone(u.enabled), starts: maps.Clone(u.starts), count: u.count,
	}
}

func (p *Packages) clone(power *Power, fs *FS, units *Units) *Packages {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := NewPackages(power, fs, units)
	c.offers = append(c.offers, p.offers...)
	for name, i := range p.has {
		again := *i
		c.has[name] = &again
	}
	return c
}
