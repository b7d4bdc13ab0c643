// Package kit tries a plugin out as its author needs it: the golden cases played with the built modules in the engine's own
// sandbox, and the suite that every plugin passes, on a host made of the cases.
//
// It knows no type and needs neither a compiler nor a host.
package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gyrum.ai/engine/conformance"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/plugin"
	"gyrum.ai/engine/resource"
	"gyrum.ai/plugins/corpus"
	"gyrum.ai/plugins/guest"
)

// Result is what became of one type.
type Result struct {
	Type string `json:"type"`
	// Cases counts the golden cases, Wrong is what they say, each with its place.
	Cases int      `json:"cases"`
	Wrong []string `json:"wrong,omitempty"`
	// Rules are those of the conformance suite.
	Rules []conformance.Outcome `json:"rules"`
}

// Passed says that every case and every rule holds.
func (r Result) Passed() bool {
	for _, rule := range r.Rules {
		if !rule.Passed {
			return false
		}
	}
	return len(r.Wrong) == 0
}

// Longest is how long one type may take altogether; an honest one takes seconds.
const Longest = 5 * time.Minute

// Try tries one type. Modules holds <type>.json and both modules, cases its *.txt files; cache may be empty. A module that
// cannot be loaded, or that does not come to an end, is tried no further: the result says so once.
func Try(ctx context.Context, typ string, modules, cases fs.FS, cache string) (Result, error) {
	return try(ctx, typ, modules, cases, cache, plugin.DefaultLimits(), Longest)
}

func try(outer context.Context, typ string, modules, cases fs.FS, cache string, limits plugin.Limits, longest time.Duration) (Result, error) {
	ctx, cancel := context.WithTimeout(outer, longest)
	defer cancel()
	result := Result{Type: typ, Rules: []conformance.Outcome{}}
	all, err := corpus.Load(cases)
	if err == nil && len(all) < 2 {
		err = fmt.Errorf("there are %d cases; the suite needs two, one in sync and one not", len(all))
	}
	if err != nil {
		return result, fmt.Errorf("cases of %s: %w", typ, err)
	}
	result.Cases = len(all)
	late := fmt.Sprintf("it was not through after %v, and was stopped", longest)
	ended := func() bool { return ctx.Err() != nil && outer.Err() == nil }
	var stopped bool
	result.Wrong, stopped, err = play(ctx, typ, modules, cache, limits, all)
	switch {
	case ended():
		result.Wrong = append(result.Wrong, late)
		return result, nil
	case err != nil || stopped:
		return result, err
	}
	stage, records := corpus.NewStage(typ, all, 40)
	var rs []resource.Resource
	for _, record := range records {
		rs = append(rs, declared(guest.Encode(record)))
	}
	result.Rules, err = conformance.Try(ctx, conformance.Subject{
		Modules: modules, Type: typ, Resources: rs, Host: func() host.Asker { return stage }, Cache: cache,
	})
	if ended() {
		result.Rules = append(result.Rules, conformance.Outcome{Rule: "the suite comes to an end", Said: []string{late}})
	}
	return result, err
}

// play plays the cases with the modules, and says whether it stopped because no case can go better.
func play(ctx context.Context, typ string, modules fs.FS, cache string, limits plugin.Limits, cases []corpus.Case) (wrong []string, stopped bool, err error) {
	store, err := plugin.NewStoreWithin(modules, plugin.CacheConfig{Dir: cache}, limits, func(string) {})
	if err != nil {
		return nil, false, err
	}
	defer store.Close()
	if _, err := store.Info(typ); err != nil {
		return nil, false, err
	}
	p := &player{ctx: ctx, typ: typ}
	p.reading = store.Reading(ctx, p, plugin.AlwaysRun())
	defer p.reading.Close()
	p.writing = store.Writing(ctx, p, p)
	with := corpus.Plugin{
		Observe: func(ask corpus.Ask, request []byte) ([]byte, int32) { p.ask = ask; return p.observe(request) },
		Diff:    p.diff,
		Apply:   func(ask corpus.Ask, request []byte) ([]byte, int32) { p.ask = ask; return p.apply(request) },
	}
	for i, c := range cases {
		said := corpus.Play(with, c)
		if p.hopeless != "" {
			text := fmt.Sprintf("%s:%d: %s: %s", c.File, c.Line, c.Name, p.hopeless)
			if rest := len(cases) - i - 1; rest > 0 {
				text += fmt.Sprintf("; the %d cases that follow and the suite were not tried", rest)
			} else {
				text += "; the suite was not tried"
			}
			return append(wrong, text), true, nil
		}
		for _, w := range said {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s: %s", c.File, c.Line, c.Name, w))
		}
		if ctx.Err() != nil {
			return wrong, false, ctx.Err()
		}
	}
	return wrong, false, nil
}

// player answers with what the case at hand says, and hands requests of the corpus to the modules.
type player struct {
	ctx     context.Context
	typ     string
	ask     corpus.Ask
	reading *plugin.Reading
	writing *plugin.Writing
	// hopeless is what broke a module in a way that every further case would meet.
	hopeless string
}

// broke takes note of what is hopeless among the texts of broken plugins.
func (p *player) broke(text string) {
	if p.hopeless == "" && (strings.Contains(text, plugin.CauseUnloadable) || strings.Contains(text, plugin.CauseTime)) {
		p.hopeless = text
	}
}

// Ask answers a capability of the read side.
func (p *player) Ask(_ context.Context, capability string, request []byte) ([]byte, error) {
	return p.ask(capability, request), nil
}

// Do answers a capability of the write side.
func (p *player) Do(_ context.Context, capability string, request []byte) ([]byte, error) {
	return p.ask(capability, request), nil
}

func declared(view json.RawMessage) resource.Resource {
	var key struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	_ = json.Unmarshal(view, &key) // a record that is no object is refused by the sandbox
	return resource.Resource{Role: "r", Type: key.Type, ID: key.ID, Declared: view, View: view}
}

// request is one of the corpus: it has one resource.
type request struct {
	Resources []json.RawMessage `json:"resources"`
}

type asked struct {
	Declared json.RawMessage `json:"declared"`
	Observed json.RawMessage `json:"observed"`
	Facts    json.RawMessage `json:"facts"`
	Changing drift.Changing  `json:"changing"`
	Action   drift.Action    `json:"action"`
}

func (a asked) observation() drift.Observation {
	return drift.Observation{Observed: a.Observed, Facts: a.Facts}
}

// failed is an answer that no case wants.
func failed(err error) ([]byte, int32) {
	raw, _ := json.Marshal(map[string]any{"error": map[string]string{"code": "broken", "text": err.Error()}})
	return raw, -1
}

func only(result any) ([]byte, int32) {
	raw, err := json.Marshal(map[string]any{"results": []any{result}})
	if err != nil {
		return failed(err)
	}
	return raw, guest.StatusAnswer
}

func (p *player) observe(raw []byte) ([]byte, int32) {
	var in request
	if err := json.Unmarshal(raw, &in); err != nil {
		return failed(err)
	}
	got, err := p.reading.Observe(p.ctx, p.typ, []resource.Resource{declared(in.Resources[0])})
	if err != nil {
		return failed(err)
	}
	if u := got[0].Unobservable; u != nil && u.Code == plugin.CodeFailed {
		p.broke(u.Text)
	}
	return only(got[0])
}

func (p *player) diff(raw []byte) ([]byte, int32) {
	var in request
	var a asked
	if err := json.Unmarshal(raw, &in); err != nil {
		return failed(err)
	}
	if err := json.Unmarshal(in.Resources[0], &a); err != nil {
		return failed(err)
	}
	got, err := p.reading.Diff(p.ctx, p.typ, []drift.DiffInput{{Resource: declared(a.Declared), Changing: a.Changing, Observation: a.observation()}})
	if err != nil {
		return failed(err)
	}
	if d := got[0]; d != nil && d.Reason.Code == plugin.CodeFailed {
		p.broke(d.Reason.Text)
	}
	return only(got[0])
}

func (p *player) apply(raw []byte) ([]byte, int32) {
	var a asked
	if err := json.Unmarshal(raw, &a); err != nil {
		return failed(err)
	}
	output, err := p.writing.Apply(p.ctx, declared(a.Declared), a.observation(), a.Action)
	if err == nil {
		raw, err := json.Marshal(map[string]any{"output": output})
		if err != nil {
			return failed(err)
		}
		return raw, guest.StatusAnswer
	}
	var action *plugin.ActionError
	if !errors.As(err, &action) {
		p.broke(err.Error())
		return failed(err)
	}
	raw, _ = json.Marshal(map[string]any{"error": map[string]string{"code": action.Code, "text": action.Text}})
	return raw, guest.StatusError
}
