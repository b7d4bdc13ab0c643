package lock

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gyrum.ai/engine/plugin"
)

// Judge says what of a plugin the lock does not accept: nothing when it may be used. Every text names the type, what is
// not accepted, and what to do.
func (l *Lock) Judge(info plugin.Info) []string {
	pin := l.Plugins[info.Type]
	if pin == nil {
		return []string{fmt.Sprintf("type %s is not in %s: see gyrum plugin inspect %s for what it can reach, then run gyrum lock", info.Type, Name, info.Type)}
	}
	var out []string
	if got := (Modules{Observe: info.Observe, Apply: info.Apply}); !slices.Contains(pin.Accept, got) {
		what := fmt.Sprintf("the modules observe %s and apply %s are not of one build", got.Observe, got.Apply)
		if !slices.ContainsFunc(pin.Accept, func(m Modules) bool { return m.Observe == got.Observe }) {
			what = "the observe module " + got.Observe + " is none"
		} else if !slices.ContainsFunc(pin.Accept, func(m Modules) bool { return m.Apply == got.Apply }) {
			what = "the apply module " + got.Apply + " is none"
		}
		out = append(out, fmt.Sprintf("type %s: %s that %s accepts (observe %s): use the gyrum that the catalog was locked with, or see gyrum plugin inspect %s and run gyrum lock --add",
			info.Type, what, Name, strings.Join(observed(pin.Accept), ", "), info.Type))
	}
	for _, w := range wider(pin, scopes(info.Manifest.Observe), scopes(info.Manifest.Apply)) {
		out = append(out, fmt.Sprintf("type %s: %s, which %s does not grant: see gyrum plugin inspect %s and run gyrum lock when that is wanted", info.Type, w, Name, info.Type))
	}
	return out
}

func observed(accept []Modules) []string {
	var out []string
	for _, m := range accept {
		out = append(out, m.Observe)
	}
	return out
}

// wider names the capabilities, and the fields in their scopes, that a pin does not have.
func wider(pin *Pin, observe, apply map[string][]string) []string {
	var out []string
	for _, phase := range []struct {
		name      string
		have, now map[string][]string
	}{{"observe", pin.Observe, observe}, {"apply", pin.Apply, apply}} {
		for _, name := range slices.Sorted(maps.Keys(phase.now)) {
			scope, ok := phase.have[name]
			if !ok {
				out = append(out, fmt.Sprintf("%s wants the capability %s", phase.name, capability(name, phase.now[name])))
				continue
			}
			for _, field := range phase.now[name] {
				if !slices.Contains(scope, field) {
					out = append(out, fmt.Sprintf("%s wants the capability %s bound to the field %s as well", phase.name, name, field))
				}
			}
		}
	}
	return out
}

func capability(name string, scope []string) string {
	if len(scope) == 0 {
		return name
	}
	return name + ", bound to " + strings.Join(scope, ", ")
}

// Changes says for people what a new lock would change: each line names the type.
func Changes(old, now *Lock) []string {
	var out []string
	if old == nil {
		old = &Lock{}
	}
	for _, typ := range slices.Sorted(maps.Keys(now.Plugins)) {
		pin, before := now.Plugins[typ], old.Plugins[typ]
		if before == nil {
			out = append(out, fmt.Sprintf("%s: new, observe %s, apply %s", typ, list(pin.Observe), list(pin.Apply)))
			continue
		}
		for _, m := range pin.Accept {
			if !slices.Contains(before.Accept, m) {
				out = append(out, fmt.Sprintf("%s: accepts observe %s, apply %s", typ, m.Observe, m.Apply))
			}
		}
		for _, m := range before.Accept {
			if !slices.Contains(pin.Accept, m) {
				out = append(out, fmt.Sprintf("%s: no longer accepts observe %s, apply %s", typ, m.Observe, m.Apply))
			}
		}
		for _, w := range wider(before, pin.Observe, pin.Apply) {
			out = append(out, typ+": "+w)
		}
		for _, w := range wider(pin, before.Observe, before.Apply) {
			out = append(out, typ+": no longer: "+w)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(old.Plugins)) {
		if now.Plugins[typ] == nil {
			out = append(out, typ+": gone")
		}
	}
	return out
}

func list(caps map[string][]string) string {
	if len(caps) == 0 {
		return "nothing"
	}
	return strings.Join(slices.Sorted(maps.Keys(caps)), " ")
}
