package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"

	"gyrum.ai/engine/resource"
)

// testimony is what a batch's observations rest on: the questions that were put to the host for it, and its replies.
type testimony struct {
	calls []tracedCall
	ids   map[string]bool

	index sync.Once
	// about finds calls by capability and the value of a key; free are those of capabilities without a key.
	about map[subject][]int
	free  []int
}

// subject is what a question is about.
type subject struct{ capability, value string }

// testify remembers what the observations of a batch rest on, for Unchanged.
func (r *Reading) testify(typ string, batch []resource.Resource, calls []tracedCall) {
	t := &testimony{calls: calls, ids: map[string]bool{}}
	for _, res := range batch {
		t.ids[res.ID] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard[typ] = append(r.heard[typ], t)
}

// Unchanged puts those questions that this reading's observation of a resource rests on to the host again and says
// whether every reply is what it was. A guest is deterministic, so the observation is then what it would be now, and no
// module is needed to say so. It is false where there is any doubt: for a resource that was not observed, or about
// which nothing was asked.
func (r *Reading) Unchanged(ctx context.Context, res resource.Resource) bool {
	p, err := r.store.pair(res.Type)
	if err != nil {
		return false
	}
	r.mu.Lock()
	heard := slices.Clone(r.heard[res.Type])
	r.mu.Unlock()
	at := slices.IndexFunc(heard, func(t *testimony) bool { return t.ids[res.ID] })
	if at < 0 {
		return false
	}
	t := heard[at]
	t.index.Do(t.build)
	talk := &dialogue{asker: askerFor(r.asker, res.Type), scope: newScope(p.manifest.Observe, []json.RawMessage{res.View})}
	about := t.of(p.manifest.Observe, res.View)
	own := 0
	for _, i := range about {
		c := t.calls[i]
		if talk.scope.check(c.capability, c.request) != nil {
			continue // about another resource that shares a value with this one
		}
		reply, err := talk.put(ctx, c.capability, c.request)
		if err != nil || ctx.Err() != nil || sha256.Sum256(reply) != c.reply {
			return false
		}
		own++
	}
	return own > 0
}

// build makes the index. A question that cannot be read is about everything. One that was put for each of a thousand
// resources, such as who an owner is, and had the same reply each time, is put again once.
func (t *testimony) build() {
	t.about = map[subject][]int{}
	type exchanged struct {
		capability, request string
		reply               [sha256.Size]byte
	}
	known := map[exchanged]bool{}
	for i, c := range t.calls {
		e := exchanged{c.capability, string(c.request), c.reply}
		if known[e] {
			continue
		}
		known[e] = true
		keys := capabilities[c.capability].Keys
		var f fields
		if json.Unmarshal(c.request, &f) != nil || len(keys) == 0 {
			t.free = append(t.free, i)
			continue
		}
		for _, key := range keys {
			for _, value := range f.words(key) {
				t.about[subject{c.capability, value}] = append(t.about[subject{c.capability, value}], i)
			}
		}
	}
}

// of lists the calls that may be about the resource with this view, in the order in which they were made.
func (t *testimony) of(grants map[string]Grant, view json.RawMessage) []int {
	var declared fields
	if json.Unmarshal(view, &declared) != nil {
		return nil
	}
	found := slices.Clone(t.free)
	for capability, g := range grants {
		for _, field := range g.Scope {
			for _, value := range declared.words(field) {
				found = append(found, t.about[subject{capability, value}]...)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
