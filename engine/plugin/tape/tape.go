// Package tape records what a check asked a host and what the host replied, and plays it back: the same check, or one
// with another catalog or other plugins, then runs anywhere without the host. A tape holds exactly what plugins saw:
// contents are digests and secrets only match, differ or are absent, so it may be passed on.
//
// It must not know what a capability means.
package tape

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"gyrum.ai/engine/host"
)

// Format names the layout of a tape; see Write.
const Format = "gyrum-tape/1"

// Header says where a tape comes from.
type Header struct {
	Format string `json:"format"`
	// Host is the name in the catalog of the host that was asked.
	Host string `json:"host"`
	// Engine is the version of the program that recorded.
	Engine string `json:"engine,omitempty"`
	// Notes are whatever else whoever records needs to replay, such as the number of applies.
	Notes map[string]string `json:"notes,omitempty"`
}

// Exchange is one question with its reply.
type Exchange struct {
	// Type is the resource type whose plugin asked.
	Type       string          `json:"type"`
	Capability string          `json:"capability"`
	Request    json.RawMessage `json:"request"`
	Reply      json.RawMessage `json:"reply"`
}

// Tape is the exchanges of one check. Those of one type are in the order in which they were made.
type Tape struct {
	Header    Header
	Exchanges []Exchange
}

// Recorder passes questions on and keeps them with their replies. It is an asker for each type: see For.
type Recorder struct {
	asker host.Asker
	mu    sync.Mutex
	tape  Tape
}

// NewRecorder records what asker is asked.
func NewRecorder(asker host.Asker) *Recorder { return &Recorder{asker: asker} }

// For gives the asker of one resource type.
func (r *Recorder) For(typ string) host.Asker {
	return askerFunc(func(ctx context.Context, capability string, request []byte) ([]byte, error) {
		reply, err := r.asker.Ask(ctx, capability, request)
		if err == nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.tape.Exchanges = append(r.tape.Exchanges, Exchange{typ, capability, request, reply})
		}
		return reply, err
	})
}

// Ask records a question that no type asks.
func (r *Recorder) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return r.For("").Ask(ctx, capability, request)
}

// Tape gives what was recorded so far.
func (r *Recorder) Tape(h Header) *Tape {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.Format = Format
	return &Tape{Header: h, Exchanges: append([]Exchange(nil), r.tape.Exchanges...)}
}

// NotOnTape is the code of the error reply to a question that was not recorded: nothing is known of it, which is never
// the same as absent.
const NotOnTape = "not-on-tape"

// Player answers from a tape. A question that a type asked several times gets its replies in order, the last one from
// then on; a question that only another type asked gets that one's. Anything else is an error reply, NotOnTape.
type Player struct {
	mu     sync.Mutex
	byType map[question][]json.RawMessage
	any    map[question]json.RawMessage
	missed int
}

type question struct{ typ, capability, request string }

// Player begins to play the tape.
func (t *Tape) Player() *Player {
	p := &Player{byType: map[question][]json.RawMessage{}, any: map[question]json.RawMessage{}}
	for _, e := range t.Exchanges {
		q := question{e.Type, e.Capability, string(e.Request)}
		p.byType[q] = append(p.byType[q], e.Reply)
		q.typ = ""
		if _, ok := p.any[q]; !ok {
			p.any[q] = e.Reply
		}
	}
	return p
}

// For gives the asker of one resource type.
func (p *Player) For(typ string) host.Asker {
	return askerFunc(func(_ context.Context, capability string, request []byte) ([]byte, error) {
		return p.reply(question{typ, capability, string(request)}), nil
	})
}

// Ask answers a question that no type asks.
func (p *Player) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return p.For("").Ask(ctx, capability, request)
}

func (p *Player) reply(q question) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if replies := p.byType[q]; len(replies) > 0 {
		if len(replies) > 1 {
			p.byType[q] = replies[1:]
		}
		return replies[0]
	}
	q.typ = ""
	if reply, ok := p.any[q]; ok {
		return reply
	}
	p.missed++
	text, _ := json.Marshal(fmt.Sprintf("the tape does not hold %s of %.200s; record one with this catalog and these plugins", q.capability, q.request))
	return []byte(`{"error":{"code":"` + NotOnTape + `","text":` + string(text) + `}}`)
}

// Missed counts the questions that the tape could not answer.
func (p *Player) Missed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.missed
}

type askerFunc func(ctx context.Context, capability string, request []byte) ([]byte, error)

func (f askerFunc) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return f(ctx, capability, request)
}
