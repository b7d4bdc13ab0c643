package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"gyrum.ai/engine"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/system"
	"gyrum.ai/engine/plugin"
)

// looking is the real host and the plugins that look at it.
type looking struct {
	host   *system.Host
	reader *host.Reader
	// asker is the reader, or stands between it and the plugins; asked of a tape, it is all there is.
	asker host.Asker
	// used counts what the plugins ask.
	used used

	mu    sync.Mutex
	looks []*plugin.Reading // to be closed
}

func (s *session) look() *looking {
	h := system.Open(system.Options{StateDir: s.stateDir, Catalog: s.catalogFile})
	reader := host.NewReader(h.Reading(), s.target.Resources)
	return &looking{host: h, reader: reader, asker: reader}
}

// begin begins a look at the host.
func (l *looking) begin(ctx context.Context, store *plugin.Store, options ...plugin.Option) *plugin.Reading {
	r := store.Reading(ctx, counting{Asker: l.asker, used: &l.used}, options...)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looks = append(l.looks, r)
	return r
}

func (l *looking) close() {
	for _, r := range l.looks {
		r.Close()
	}
	if l.host != nil {
		l.host.Close()
	}
}

// catalogFile reads a file of the catalog; no link leads out of it.
func (s *session) catalogFile(name string) ([]byte, error) {
	root, err := os.OpenRoot(s.catalog.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not keep us waiting
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s in the catalog is no regular file", name))
	}
	return io.ReadAll(f)
}

// checkOptions holds nothing from which a writer can be reached.
func (s *session) checkOptions(ctx context.Context, sel *selectionFlags) engine.CheckOptions {
	return engine.CheckOptions{
		Target:    s.target,
		Selection: sel.selection(),
		Modules:   s.modules(),
		Plugins:   s.looking.begin(ctx, s.store),
		State:     fsys.ReadOnly(fsys.System("/")),
		StateDir:  s.stateDir,
		Resolve:   s.looking.reader.Resolve,
	}
}

// hand closes gaps: the apply modules decide, the host side does.
type hand struct {
	*plugin.Writing
	*host.Writer
}

func (s *session) applyOptions(ctx context.Context, sel *selectionFlags) engine.ApplyOptions {
	reader := s.looking.reader
	return engine.ApplyOptions{
		CheckOptions: s.checkOptions(ctx, sel),
		Look: func(ctx context.Context) engine.Observer {
			reader.Forget()
			return s.looking.begin(ctx, s.store, plugin.AlwaysRun())
		},
		StateFS: fsys.System("/"),
		NewHand: func(ctx context.Context, on host.EffectFunc) (engine.Hand, error) {
			w := host.NewWriter(reader, s.looking.host.Writing(), on)
			return hand{s.store.Writing(ctx, reader, w), w}, nil
		},
	}
}
