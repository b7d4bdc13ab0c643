package tape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
)

// NotOnTape is the code of the error reply to a question that was not recorded: nothing is known of it, which is never
// the same as absent. The text of that error begins with it too.
const NotOnTape = "not-on-tape"

// Unknown says whether an item is one because the tape does not hold what it would take to judge the resource.
func Unknown(it drift.Item) bool {
	return strings.Contains(it.Reason.Text, NotOnTape+": ") || strings.Contains(it.Blocked, NotOnTape+": ")
}

// Player answers from a tape. A question that a type asked several times gets its replies in order, the last one from
// then on; a question that only another type asked gets that one's. Anything else is an error reply, NotOnTape.
type Player struct {
	records records

	mu     sync.Mutex
	byType map[question][]json.RawMessage
	any    map[question]json.RawMessage
	// others holds the questions without what they are about.
	others map[question]bool
	missed int
}

type question struct{ typ, capability, request, about string }

// Player begins to play the tape to a check of the resources.
func (t *Tape) Player(rs []resource.Resource) *Player {
	p := &Player{records: recordsOf(rs), byType: map[question][]json.RawMessage{}, any: map[question]json.RawMessage{}, others: map[question]bool{}}
	for _, e := range t.Exchanges {
		q := question{e.Type, e.Capability, string(e.Request), e.About}
		p.byType[q] = append(p.byType[q], e.Reply)
		q.typ = ""
		if _, ok := p.any[q]; !ok {
			p.any[q] = e.Reply
		}
		q.about = ""
		p.others[q] = true
	}
	return p
}

// For gives the asker of one resource type.
func (p *Player) For(typ string) host.Asker {
	return askerFunc(func(_ context.Context, capability string, request []byte) ([]byte, error) {
		return p.reply(question{typ, capability, string(request), p.records.about(capability, request)}), nil
	})
}

// Ask answers a question that no type asks.
func (p *Player) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	return p.For("").Ask(ctx, capability, request)
}

func (p *Player) reply(q question) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reply := p.find(q); reply != nil {
		return reply
	}
	p.missed++
	text := fmt.Sprintf("%s: %s of %.200s was not recorded; record a tape with this catalog and these plugins", NotOnTape, q.capability, q.request)
	if p.others[question{"", q.capability, q.request, ""}] {
		text = fmt.Sprintf("%s: %s of %.200s was recorded when something else was declared of it; record a tape with this catalog", NotOnTape, q.capability, q.request)
	}
	said, _ := json.Marshal(text)
	return []byte(`{"error":{"code":"` + NotOnTape + `","text":` + string(said) + `}}`)
}

// find gives the reply to exactly this question, or one that answers for every record; nil for none.
func (p *Player) find(q question) json.RawMessage {
	for _, about := range []string{q.about, ""} {
		q.about = about
		if replies := p.byType[q]; len(replies) > 0 {
			if len(replies) > 1 {
				p.byType[q] = replies[1:]
			}
			return replies[0]
		}
		if reply := p.any[question{"", q.capability, q.request, about}]; reply != nil {
			return reply
		}
	}
	return nil
}

// Resolve gives a path with the symlinks among its parents resolved, as far as the tape knows.
func (p *Player) Resolve(name string) (string, error) {
	request, err := canonical.Marshal(folder{path.Dir(name)})
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	raw := p.find(question{"", resolving, string(request), ""})
	if raw == nil {
		return "", fmt.Errorf("%s: where %s leads was not recorded", NotOnTape, path.Dir(name))
	}
	var reply resolved
	switch err := json.Unmarshal(raw, &reply); {
	case err != nil:
		return "", err
	case reply.Error != "":
		return "", errors.New(reply.Error)
	}
	return path.Join(reply.Folder, path.Base(name)), nil
}

// Missed counts the questions that the tape could not answer.
func (p *Player) Missed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.missed
}
