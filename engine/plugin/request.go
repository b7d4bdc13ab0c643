package plugin

import (
	"encoding/json"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/resource"
)

// The requests, as canonical JSON put together from parts that are canonical already.

func observeRequest(rs []resource.Resource) []byte {
	size := 32
	for _, r := range rs {
		size += len(r.View) + 1
	}
	b := append(make([]byte, 0, size), `{"resources":[`...)
	for i, r := range rs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r.View...)
	}
	return append(b, `]}`...)
}

func diffRequest(in []drift.DiffInput) ([]byte, error) {
	size := 32
	for _, d := range in {
		size += len(d.Resource.View) + len(d.Observation.Observed) + len(d.Observation.Facts) + 64
	}
	b := append(make([]byte, 0, size), `{"resources":[`...)
	for i, d := range in {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"changing":`...)
		if len(d.Changing.Inputs) == 0 && len(d.Changing.Package) == 0 {
			b = append(b, `{}`...)
		} else {
			changing, err := canonical.Marshal(d.Changing)
			if err != nil {
				return nil, err
			}
			b = append(b, changing...)
		}
		b = append(b, `,"declared":`...)
		b = append(b, d.Resource.View...)
		b = appendState(b, d.Observation)
		b = append(b, '}')
	}
	return append(b, `]}`...), nil
}

func applyRequest(r resource.Resource, o drift.Observation, a drift.Action) ([]byte, error) {
	action, err := canonical.Marshal(a)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"action":`), action...)
	b = append(b, `,"declared":`...)
	b = append(b, r.View...)
	b = appendState(b, o)
	return append(b, '}'), nil
}

func appendState(b []byte, o drift.Observation) []byte {
	b = append(b, `,"facts":`...)
	b = append(b, orNull(o.Facts)...)
	b = append(b, `,"observed":`...)
	return append(b, orNull(o.Observed)...)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func views(rs []resource.Resource) []json.RawMessage {
	out := make([]json.RawMessage, len(rs))
	for i, r := range rs {
		out[i] = r.View
	}
	return out
}
