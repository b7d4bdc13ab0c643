package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
)

// lasting are the fields of an observed record that say what a resource is like; the rest (sizes, words of a unit's present
// moment) may change by itself and binds no plan. A type that is not listed binds by all of its fields.
var lasting = map[string][]string{
	"package":      {"installed", "version"},
	"file":         {"exists", "group", "kind", "mode", "owner", "sha256", "target"},
	"directory":    {"exists", "group", "kind", "mode", "owner", "target"},
	"systemd_unit": {"active", "enabled", "unit_file_present"},
	"env":          {"exists", "group", "kind", "mode", "owner", "target", "vars"},
	"command":      {"has_run"},
	"symlink":      {"exists", "group", "kind", "owner", "target"},
	"group":        {"exists", "gid"},
	"user":         {"exists", "group", "groups", "home", "shell", "uid"},
	"line":         {"exists", "lines", "same"},
}

// hash gives the plan hash: the digest over the canonical JSON of everything that an approval is about.
func (p *plan) hash(types []string, items []drift.Item) (string, error) {
	type module struct {
		Type    string `json:"type"`
		Observe string `json:"observe"`
		Apply   string `json:"apply"`
	}
	type hashed struct {
		Role       string            `json:"role"`
		Resource   drift.ResourceRef `json:"resource"`
		Declared   json.RawMessage   `json:"declared"`
		Observed   json.RawMessage   `json:"observed"`
		Action     drift.Action      `json:"action_to_apply"`
		Severity   drift.Severity    `json:"severity"`
		Idempotent bool              `json:"idempotent"`
		Reason     string            `json:"reason"`
		Blocked    bool              `json:"blocked"`
	}
	in := struct {
		Host      string         `json:"host"`
		Catalog   string         `json:"catalog"`
		Modules   []module       `json:"modules"`
		Selection map[string]any `json:"selection"`
		Number    int            `json:"number"`
		Items     []hashed       `json:"items"`
	}{
		Host: p.options.Target.Host, Catalog: p.options.Target.Catalog.Digest, Modules: []module{},
		Selection: p.options.Selection.canonical(), Number: p.standing.Number, Items: []hashed{},
	}
	for _, typ := range types {
		m := p.options.module(typ)
		in.Modules = append(in.Modules, module(m))
	}
	for _, it := range items {
		observed, err := project(it.Resource.Type, it.Observed)
		if err != nil {
			return "", fmt.Errorf("%s: observed: %w", it.Resource.ID, err)
		}
		// The words of a reason or of what blocks an item are for people; that they are there binds.
		in.Items = append(in.Items, hashed{Role: it.Role, Resource: it.Resource, Declared: it.Declared, Observed: observed, Action: it.Action,
			Severity: it.Severity, Idempotent: it.Idempotent, Reason: it.Reason.Code, Blocked: it.Blocked != ""})
	}
	raw, err := canonical.Marshal(in)
	if err != nil {
		return "", err
	}
	return canonical.Digest(raw), nil
}

// project reduces an observed record to its lasting fields.
func project(typ string, observed json.RawMessage) (json.RawMessage, error) {
	fields, known := lasting[typ]
	var record map[string]json.RawMessage
	if err := json.Unmarshal(orNull(observed), &record); err != nil {
		return nil, err
	}
	if record == nil {
		return orNull(nil), nil
	}
	if known {
		for name := range record {
			if !slices.Contains(fields, name) {
				delete(record, name)
			}
		}
	}
	return canonical.Marshal(record)
}

// module gives the digests of a type's modules.
func (o *CheckOptions) module(typ string) Module {
	for _, m := range o.Modules {
		if m.Type == typ {
			return m
		}
	}
	return Module{Type: typ}
}
