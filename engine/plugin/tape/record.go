package tape

import (
	"context"
	"path"
	"sync"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
)

// Recorder passes questions on and keeps them with their replies. It is an asker for each type: see For.
type Recorder struct {
	asker   host.Asker
	records records

	mu        sync.Mutex
	exchanges []Exchange
}

// NewRecorder records what asker is asked about the resources.
func NewRecorder(asker host.Asker, rs []resource.Resource) *Recorder {
	return &Recorder{asker: asker, records: recordsOf(rs)}
}

// For gives the asker of one resource type.
func (r *Recorder) For(typ string) host.Asker {
	return askerFunc(func(ctx context.Context, capability string, request []byte) ([]byte, error) {
		reply, err := r.asker.Ask(ctx, capability, request)
		if err == nil {
			r.keep(Exchange{typ, capability, request, r.records.about(capability, request), reply})
		}
		return reply, err
	})
}

// Ask records a question that no type asks.
func (r *Recorder) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return r.For("").Ask(ctx, capability, request)
}

func (r *Recorder) keep(e Exchange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, e)
}

// resolving is what the engine asks besides the plugins: where a folder's symlinks lead.
const resolving = "resolve"

type folder struct {
	Folder string `json:"folder"`
}

type resolved struct {
	Folder string `json:"folder,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Resolve records what a function says that resolves the symlinks among a path's parents.
func (r *Recorder) Resolve(resolve func(string) (string, error)) func(string) (string, error) {
	return func(p string) (string, error) {
		real, err := resolve(p)
		reply := resolved{Folder: path.Dir(real)}
		if err != nil {
			reply = resolved{Error: err.Error()}
		}
		q, qerr := canonical.Marshal(folder{path.Dir(p)})
		a, aerr := canonical.Marshal(reply)
		if qerr == nil && aerr == nil {
			r.keep(Exchange{Capability: resolving, Request: q, Reply: a})
		}
		return real, err
	}
}

// Tape gives what was recorded so far.
func (r *Recorder) Tape(h Header) *Tape {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.Format = Format
	return &Tape{Header: h, Exchanges: arrange(r.exchanges)}
}
