// Package lock reads and writes gyrum.lock: which modules of each plugin a catalog accepts, and what they may ask and do.
// A check or an apply refuses a plugin that is not as the lock says.
//
// It knows no resources and loads no module.
package lock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/plugin"
)

// Name is the file's name in the root of a catalog.
const Name = "gyrum.lock"

// MaxSize is how many bytes the file may have.
const MaxSize = 1 << 20

// version is that of the format.
const version = 1

// Lock is a gyrum.lock.
type Lock struct {
	// Version is that of the format.
	Version int `json:"lock"`
	// Keys are minisign public keys, as in the second line of minisign.pub. With one or more of them, the modules of the
	// catalog's own types must be signed by one.
	Keys []string `json:"keys,omitempty"`
	// Plugins are the pins by resource type.
	Plugins map[string]*Pin `json:"plugins"`
}

// Pin says what is accepted of one plugin.
type Pin struct {
	// Accept lists the modules, both of a build together.
	Accept []Modules `json:"accept"`
	// Observe and Apply are the capabilities of the phases, each with the declared fields that bound it, sorted.
	Observe map[string][]string `json:"observe"`
	Apply   map[string][]string `json:"apply"`
}

// Modules are the digests of both modules of one build, as "sha256:" and hexadecimal digits.
type Modules struct {
	Observe string `json:"observe"`
	Apply   string `json:"apply"`
}

var (
	typePattern   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)
	digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Parse reads a gyrum.lock. It takes what Format writes, in whatever layout, and nothing else.
func Parse(raw []byte) (*Lock, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxSize)
	}
	strict, err := canonical.Transform(raw)
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	l := new(Lock)
	dec := json.NewDecoder(bytes.NewReader(strict))
	dec.DisallowUnknownFields()
	if err := dec.Decode(l); err != nil {
		return nil, err
	}
	if l.Version != version {
		return nil, fmt.Errorf("its format is %d; this gyrum reads %d", l.Version, version)
	}
	for _, k := range l.Keys {
		if _, err := ParseKey(k); err != nil {
			return nil, fmt.Errorf("keys: %w", err)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(l.Plugins)) {
		if err := l.Plugins[typ].check(typ); err != nil {
			return nil, err
		}
	}
	// This also finds what encoding/json takes for a field and is spelled otherwise.
	if again, err := canonical.Marshal(l); err != nil || !bytes.Equal(again, strict) {
		return nil, fmt.Errorf("it is not as gyrum lock writes it: a field is missing, misspelt, or a list is not sorted")
	}
	return l, nil
}

func (p *Pin) check(typ string) error {
	if !typePattern.MatchString(typ) {
		return fmt.Errorf("plugins: %q is no name of a type", typ)
	}
	if p == nil || len(p.Accept) == 0 || p.Observe == nil || p.Apply == nil {
		return fmt.Errorf("plugins.%s: it needs accept, observe and apply", typ)
	}
	for _, m := range p.Accept {
		if !digestPattern.MatchString(m.Observe) || !digestPattern.MatchString(m.Apply) {
			return fmt.Errorf("plugins.%s.accept: observe and apply are sha256: and 64 hexadecimal digits", typ)
		}
	}
	for phase, caps := range map[string]map[string][]string{"observe": p.Observe, "apply": p.Apply} {
		for name, scope := range caps {
			if scope == nil || !slices.IsSorted(scope) {
				return fmt.Errorf("plugins.%s.%s.%s: it is a sorted list of fields", typ, phase, name)
			}
		}
	}
	return nil
}

// Format writes a lock, the same bytes for the same content.
func (l *Lock) Format() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(l); err != nil {
		panic(err) // it holds nothing that JSON cannot
	}
	return b.Bytes()
}

// Make makes the lock of these plugins. With an old lock its keys stay, and with add what it accepts stays accepted
// beside the new, for as long as hosts run different versions.
func Make(plugins []plugin.Info, old *Lock, add bool) *Lock {
	l := &Lock{Version: version, Plugins: map[string]*Pin{}}
	if old != nil {
		l.Keys = old.Keys
	}
	for _, info := range plugins {
		p := &Pin{
			Accept:  []Modules{{Observe: info.Observe, Apply: info.Apply}},
			Observe: scopes(info.Manifest.Observe), Apply: scopes(info.Manifest.Apply),
		}
		if add && old != nil && old.Plugins[info.Type] != nil {
			p.keep(old.Plugins[info.Type])
		}
		l.Plugins[info.Type] = p
	}
	if add && old != nil {
		for typ, p := range old.Plugins {
			if l.Plugins[typ] == nil {
				l.Plugins[typ] = p
			}
		}
	}
	return l
}

// keep adds what an older pin accepted.
func (p *Pin) keep(old *Pin) {
	for _, m := range old.Accept {
		if !slices.Contains(p.Accept, m) {
			p.Accept = append(p.Accept, m)
		}
	}
	slices.SortFunc(p.Accept, func(a, b Modules) int { return strings.Compare(a.Observe+a.Apply, b.Observe+b.Apply) })
	for _, pair := range [][2]map[string][]string{{p.Observe, old.Observe}, {p.Apply, old.Apply}} {
		for name, scope := range pair[1] {
			all := append(slices.Clone(pair[0][name]), scope...)
			slices.Sort(all)
			pair[0][name] = append([]string{}, slices.Compact(all)...)
		}
	}
}

func scopes(grants map[string]plugin.Grant) map[string][]string {
	out := map[string][]string{}
	for name, g := range grants {
		scope := append([]string{}, g.Scope...)
		slices.Sort(scope)
		out[name] = slices.Compact(scope)
	}
	return out
}
