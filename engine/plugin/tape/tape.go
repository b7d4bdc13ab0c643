// Package tape records what a check asked a host and what the host replied, and plays it back: the same check, or one
// with another catalog or other plugins, then runs anywhere without the host. A tape holds exactly what plugins saw:
// contents are digests and secrets only match, differ or are absent, so it may be passed on.
//
// It must not know what a capability means.
package tape

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/outcome"
	"gyrum.ai/engine/resource"
)

// Format names the layout of a tape; see Write.
const Format = "gyrum-tape/1"

// Header says where a tape comes from, and holds what a check takes from elsewhere than from the host's replies.
type Header struct {
	Format string `json:"format"`
	// Host is the name in the catalog of the host that was asked.
	Host string `json:"host"`
	// Engine is the version of the program that recorded.
	Engine     string    `json:"engine,omitempty"`
	RecordedAt time.Time `json:"recorded_at,omitzero"`
	// Catalog is the one that was checked.
	Catalog drift.Catalog `json:"catalog"`
	// Plugins are the modules that asked.
	Plugins []Module `json:"plugins,omitempty"`
	// Only and Skip are the selection.
	Only []string `json:"only,omitempty"`
	Skip []string `json:"skip,omitempty"`
	// Applies, Interrupted and NoPlanHash are what the state folder said: how many applies of the host executed an action,
	// which actions have no outcome, or why it could not be read.
	Applies     int                 `json:"applies,omitempty"`
	Interrupted []drift.Interrupted `json:"interrupted,omitempty"`
	NoPlanHash  string              `json:"no_plan_hash,omitempty"`
	// Found is what the check came to.
	Found outcome.Outcome `json:"found"`
}

// Module names the two modules of a type by digest.
type Module struct {
	Type    string `json:"type"`
	Observe string `json:"observe"`
	Apply   string `json:"apply"`
}

// Exchange is one question with its reply.
type Exchange struct {
	// Type is the resource type whose plugin asked; empty for what the engine itself asked.
	Type       string          `json:"type,omitempty"`
	Capability string          `json:"capability"`
	Request    json.RawMessage `json:"request"`
	// About is a digest of those declared fields that the reply depends on, where the request names a resource by its id.
	// An exchange without one answers for every record.
	About string          `json:"about,omitempty"`
	Reply json.RawMessage `json:"reply"`
}

// Tape is the exchanges of one check. Those of one type are in the order in which they were made.
type Tape struct {
	Header    Header
	Exchanges []Exchange
}

// arrange puts the exchanges in an order that does not depend on which type happened to ask first.
func arrange(all []Exchange) []Exchange {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Exchange) int { return cmp.Compare(a.Type, b.Type) })
	return all
}

// records finds what is declared of a resource by its id.
type records map[string]json.RawMessage

func recordsOf(rs []resource.Resource) records {
	out := records{}
	for _, r := range rs {
		out[r.ID] = r.View
	}
	return out
}

// about gives the digest of what a reply depends on besides the request.
func (r records) about(capability string, request []byte) string {
	fields := host.DependsOn(capability)
	if len(fields) == 0 {
		return ""
	}
	var q struct {
		ID string `json:"id"`
	}
	var declared map[string]json.RawMessage
	if json.Unmarshal(request, &q) != nil || json.Unmarshal(r[q.ID], &declared) != nil {
		return ""
	}
	part := map[string]json.RawMessage{}
	for _, name := range fields {
		if raw, ok := declared[name]; ok {
			part[name] = raw
		}
	}
	raw, err := canonical.Marshal(part)
	if err != nil {
		return ""
	}
	return canonical.Digest(raw)
}

type askerFunc func(ctx context.Context, capability string, request []byte) ([]byte, error)

func (f askerFunc) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return f(ctx, capability, request)
}
