package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/plugin"
)

// used counts the questions that the plugins of a run put to the host, by type and capability.
type used struct {
	mu    sync.Mutex
	calls map[string]map[string]int
}

// counting stands between the plugins and the host and counts.
type counting struct {
	host.Asker
	used *used
	typ  string
}

// For gives the asker of one type.
func (c counting) For(typ string) host.Asker {
	inner := c.Asker
	if apart, ok := inner.(interface{ For(typ string) host.Asker }); ok {
		inner = apart.For(typ)
	}
	return counting{inner, c.used, typ}
}

// Ask passes a question on.
func (c counting) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	c.used.mu.Lock()
	if c.used.calls == nil {
		c.used.calls = map[string]map[string]int{}
	}
	if c.used.calls[c.typ] == nil {
		c.used.calls[c.typ] = map[string]int{}
	}
	c.used.calls[c.typ][capability]++
	c.used.mu.Unlock()
	return c.Asker.Ask(ctx, capability, request)
}

// lines says for each type which of the capabilities that its manifest grants to observe were used, and which were not.
func (u *used) lines(store *plugin.Store) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []string
	for _, typ := range slices.Sorted(maps.Keys(u.calls)) {
		info, err := store.Info(typ)
		if err != nil {
			continue
		}
		var asked, idle []string
		for _, name := range slices.Sorted(maps.Keys(info.Manifest.Observe)) {
			if n := u.calls[typ][name]; n > 0 {
				asked = append(asked, fmt.Sprintf("%s %d", name, n))
			} else {
				idle = append(idle, name)
			}
		}
		line := fmt.Sprintf("%s (observe %s) asked %s", typ, shortDigest(info.Observe), strings.Join(asked, ", "))
		if len(idle) > 0 {
			line += "; granted and not asked: " + strings.Join(idle, ", ")
		}
		out = append(out, line)
	}
	return out
}
