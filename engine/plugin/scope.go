package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host"
)

// scope is what the resources of one call let its capabilities reach. A request is granted when the value of its key
// is one of the values that a declared resource has in a field that the manifest names for that capability, when what
// else it says is as that resource declares it, and when that resource wishes for the effect.
type scope struct {
	grants map[string]Grant
	views  []json.RawMessage
	// reach holds the resources by capability and value; byID by their id. Both are made at the first check, since a
	// batch that a trace answers needs neither.
	reach map[string]map[string][]fields
	byID  map[string]fields
}

// fields are the top members of a declared record.
type fields map[string]json.RawMessage

func newScope(grants map[string]Grant, views []json.RawMessage) *scope {
	return &scope{grants: grants, views: views}
}

func (s *scope) build() error {
	s.reach = map[string]map[string][]fields{}
	s.byID = map[string]fields{}
	for name := range s.grants {
		s.reach[name] = map[string][]fields{}
	}
	for _, v := range s.views {
		var f fields
		if err := json.Unmarshal(v, &f); err != nil {
			return fmt.Errorf("a declared record is no JSON object: %w", err)
		}
		for name, g := range s.grants {
			for _, field := range g.Scope {
				for _, value := range f.words(field) {
					s.reach[name][value] = append(s.reach[name][value], f)
				}
			}
		}
		for _, id := range f.words("id") {
			s.byID[id] = f
		}
	}
	return nil
}

// words gives the values of a field that is a string or a list of strings; nothing for any other.
func (f fields) words(name string) []string {
	raw := bytes.TrimSpace(f[name])
	switch {
	case len(raw) > 0 && raw[0] == '"':
		var one string
		if json.Unmarshal(raw, &one) == nil {
			return []string{one}
		}
	case len(raw) > 0 && raw[0] == '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		var out []string
		for _, e := range list {
			var one string
			if json.Unmarshal(e, &one) == nil {
				out = append(out, one)
			}
		}
		return out
	}
	return nil
}

// check refuses a request that is not canonical JSON or reaches beyond the declared resources. An id that stands in a
// request besides its key binds the key to that very resource.
func (s *scope) check(capability string, request []byte) error {
	g, ok := s.grants[capability]
	if !ok {
		return fmt.Errorf("it called %s, which its manifest does not grant", capability)
	}
	if s.reach == nil {
		if err := s.build(); err != nil {
			return err
		}
	}
	strict, err := canonical.Transform(request)
	if err != nil {
		return fmt.Errorf("its request to %s: %w", capability, err)
	}
	if !bytes.Equal(strict, request) {
		return fmt.Errorf("its request to %s is not canonical JSON: %.200q", capability, request)
	}
	var f fields
	if err := json.Unmarshal(request, &f); err != nil || f == nil {
		return fmt.Errorf("its request to %s is no JSON object: %.200q", capability, request)
	}
	for name := range f {
		// Readers that ignore case, such as encoding/json's, could take another name for the key.
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return fmt.Errorf("its request to %s has a member that no capability knows", capability)
		}
	}
	var own fields
	if raw, ok := f["id"]; ok {
		var id string
		if json.Unmarshal(raw, &id) != nil || s.byID[id] == nil {
			return fmt.Errorf("its request to %s names the id %.200s, which is none of the declared resources'", capability, raw)
		}
		own = s.byID[id]
	}
	return s.reaches(capability, g, f, own)
}

func (s *scope) reaches(capability string, g Grant, request, own fields) error {
	keys := capabilities[capability].Keys
	if len(keys) == 0 {
		return nil
	}
	var owners []fields
	for _, key := range keys {
		raw, ok := request[key]
		if !ok {
			continue
		}
		var value string
		if json.Unmarshal(raw, &value) != nil || raw[0] != '"' {
			return fmt.Errorf("its request to %s has a %s that is no string", capability, key)
		}
		owners = s.reach[capability][value]
		if own != nil {
			if !slices.ContainsFunc(g.Scope, func(field string) bool { return slices.Contains(own.words(field), value) }) {
				owners = nil
			} else {
				owners = []fields{own}
			}
		}
		if len(owners) == 0 {
			return fmt.Errorf("its request to %s reaches for %s %.200q, which is outside the declared resources (scope: %v)", capability, key, value, g.Scope)
		}
	}
	if len(owners) == 0 {
		return fmt.Errorf("its request to %s names no %v", capability, keys)
	}
	var err error
	for _, o := range owners {
		if err = o.asks(capability, keys, request); err == nil {
			return nil
		}
	}
	return err
}

// asks holds the rest of a request against the resource that it is about: a member that is named as a declared field
// says what is declared, and an effect is one that the resource wishes for.
func (f fields) asks(capability string, keys []string, request fields) error {
	for name, raw := range request {
		declared, ok := f[name]
		if !ok || slices.Contains(keys, name) || bytes.Equal(bytes.TrimSpace(declared), raw) {
			continue
		}
		return fmt.Errorf("its request to %s has the %s %.200s, and the resource declares another", capability, name, raw)
	}
	w, ok := host.WishOf(capability)
	if !ok {
		return nil
	}
	declared, ok := f[w.Field]
	if ok && string(bytes.TrimSpace(declared)) == w.Value || !ok && !w.Always {
		return nil
	}
	return fmt.Errorf("it called %s on a resource that does not declare %s: %s", capability, w.Field, w.Value)
}
