package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
)

// Manifest is a plugin.cue in its exported form: what the type is and what each phase is granted.
type Manifest struct {
	// Type is the resource type, in the letters of a Go identifier.
	Type    string `json:"type"`
	Version int    `json:"version"`
	ABI     int    `json:"abi"`
	// Verbs are those that diff may name.
	Verbs []drift.Verb `json:"verbs"`
	// Decision is the decision record that brought the type in, as the stem of its file.
	Decision string `json:"decision"`
	// Observe and Apply grant capabilities by name.
	Observe map[string]Grant `json:"observe"`
	Apply   map[string]Grant `json:"apply"`
	// Digests are "sha256:" and the digest of the module of each phase, as the build wrote them. A module that has
	// another digest is refused when it is loaded. Without them the modules are read and hashed.
	Digests map[Phase]string `json:"digests,omitempty"`
}

// Grant is one capability that a phase may import.
type Grant struct {
	// Scope names the declared fields whose values a request may reach; empty only for a capability that reaches nothing.
	Scope []string `json:"scope"`
}

// grants gives what a phase may import.
func (m *Manifest) grants(p Phase) map[string]Grant {
	if p == ApplyPhase {
		return m.Apply
	}
	return m.Observe
}

var (
	typePattern   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// ParseManifest reads the exported form, {"plugin": {...}}, and checks that it grants only what exists.
func ParseManifest(raw []byte) (*Manifest, error) {
	var file struct {
		Plugin *Manifest `json:"plugin"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("plugin manifest: %w", err)
	}
	if file.Plugin == nil {
		return nil, fmt.Errorf("plugin manifest: the record \"plugin\" is missing")
	}
	if dec.More() {
		return nil, fmt.Errorf("plugin manifest: something follows the record")
	}
	return file.Plugin, file.Plugin.check()
}

func (m *Manifest) check() error {
	switch {
	case !typePattern.MatchString(m.Type):
		return fmt.Errorf("plugin manifest: type %q is no name of a type", m.Type)
	case m.ABI != ABI:
		return fmt.Errorf("plugin manifest of %s: abi %d is not %d, the one this gyrum speaks", m.Type, m.ABI, ABI)
	case m.Version < 1:
		return fmt.Errorf("plugin manifest of %s: version %d is less than 1", m.Type, m.Version)
	case m.Decision == "":
		return fmt.Errorf("plugin manifest of %s: it names no decision record", m.Type)
	}
	for _, v := range m.Verbs {
		if !slices.Contains(drift.Verbs(), v) {
			return fmt.Errorf("plugin manifest of %s: there is no verb %q", m.Type, v)
		}
	}
	for p, d := range m.Digests {
		if (p != ObservePhase && p != ApplyPhase) || !digestPattern.MatchString(d) {
			return fmt.Errorf("plugin manifest of %s: digests: %s: %q is no digest of a phase", m.Type, p, d)
		}
	}
	for _, p := range []Phase{ObservePhase, ApplyPhase} {
		for name, g := range m.grants(p) {
			c, ok := capability(name)
			switch {
			case !ok:
				return fmt.Errorf("plugin manifest of %s: %s: there is no capability %q", m.Type, p, name)
			case c.Side == host.Write && p == ObservePhase:
				return fmt.Errorf("plugin manifest of %s: observe: %s writes; only apply may have it", m.Type, name)
			case len(c.Keys) > 0 && len(g.Scope) == 0:
				return fmt.Errorf("plugin manifest of %s: %s: %s needs a scope: the declared fields that it may reach", m.Type, p, name)
			case len(c.Keys) == 0 && len(g.Scope) > 0:
				return fmt.Errorf("plugin manifest of %s: %s: %s reaches nothing and takes no scope", m.Type, p, name)
			}
		}
	}
	return nil
}

// capability finds a capability by name.
func capability(name string) (host.Capability, bool) {
	c, ok := capabilities[name]
	return c, ok
}

// capabilities is the host's closed table by name.
var capabilities = func() map[string]host.Capability {
	m := map[string]host.Capability{}
	for _, c := range host.Capabilities() {
		m[c.Name] = c
	}
	return m
}()
