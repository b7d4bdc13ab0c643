package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
)

// Reading is one look at a host: the observe modules of a store and somebody to ask. It may be used by several
// goroutines at once, each with another type.
type Reading struct {
	store *Store
	asker host.Asker
	ctx   context.Context
	// always makes the modules run whatever the traces say.
	always bool
	// untraced keeps the traces out of it altogether.
	untraced bool

	mu    sync.Mutex
	times map[string]time.Duration // what is left of each type's time
	ran   map[string]bool          // the types whose module ran
	heard map[string][]*testimony  // what each type's observations rest on
	warm  chan struct{}
}

// Option changes a reading.
type Option func(*Reading)

// AlwaysRun makes a reading run the modules whatever the traces say, as the check after an apply does. What they
// answer is remembered for later readings all the same.
func AlwaysRun() Option { return func(r *Reading) { r.always = true } }

// Untraced makes a reading neither use nor keep traces, as one of a tape does: what it came to stands for no host here.
func Untraced() Option { return func(r *Reading) { r.untraced = true } }

// Reading begins a look at the host that the asker stands for. Close ends it.
func (s *Store) Reading(ctx context.Context, asker host.Asker, options ...Option) *Reading {
	r := &Reading{
		store: s, asker: asker, ctx: ctx,
		times: map[string]time.Duration{},
		ran:   map[string]bool{},
		heard: map[string][]*testimony{},
		warm:  make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	for _, o := range options {
		o(r)
	}
	return r
}

// Warm begins to load the modules of these types in the background, as many at once as there are processors. A module
// that has traces is left alone: it is likely not to be needed.
func (r *Reading) Warm(types ...string) {
	for _, typ := range types {
		p, err := r.store.pair(typ)
		if err != nil {
			continue // whoever uses the type is told
		}
		r.store.loading.Go(func() {
			r.warm <- struct{}{}
			defer func() { <-r.warm }()
			if r.ctx.Err() != nil || !r.always && !r.untraced && r.store.traces != nil && r.store.traces.any(p.observe) {
				return
			}
			_ = p.observe.ready() // the first use reports it
		})
	}
}

// Close ends the reading, once what it remembers is on disk.
func (r *Reading) Close() {
	if r.store.traces != nil {
		r.store.traces.writing.Wait()
	}
}

// Ran lists the types whose module ran so far, sorted; the others were answered by traces alone.
func (r *Reading) Ran() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.ran))
}

// Observe looks at resources of one type. The observations are in the order of the resources. A plugin that breaks is
// told apart by its resources' Unobservable; the error is for an unknown type or a context that is done.
func (r *Reading) Observe(ctx context.Context, typ string, rs []resource.Resource) ([]drift.Observation, error) {
	p, err := r.store.pair(typ)
	if err != nil {
		return nil, err
	}
	return inBatches(r.store.limits.Batch, rs, func(batch []resource.Resource) ([]drift.Observation, error) {
		return oneByOne(r, p, batch, func(batch []resource.Resource, limit time.Duration, first bool) ([]drift.Observation, time.Duration, error) {
			return r.observe(ctx, p, batch, limit, first)
		}, func(b *Broken) drift.Observation {
			return drift.Observation{Unobservable: &drift.Reason{Code: CodeFailed, Text: b.Error()}}
		})
	})
}

func (r *Reading) observe(ctx context.Context, p *pair, batch []resource.Resource, limit time.Duration, first bool) ([]drift.Observation, time.Duration, error) {
	q := question{box: p.observe, export: "observe", request: observeRequest(batch), n: len(batch), limit: limit, trace: first}
	q.talk = &dialogue{asker: askerFor(r.asker, p.manifest.Type), scope: newScope(p.manifest.Observe, views(batch))}
	q.rests = func(calls []tracedCall) { r.testify(p.manifest.Type, batch, calls) }
	return put(ctx, r, q, readObservation)
}

// askerFor gives the asker of one type. One that keeps its types apart, as a tape does, has the method For.
func askerFor(a host.Asker, typ string) host.Asker {
	if t, ok := a.(interface{ For(typ string) host.Asker }); ok {
		return t.For(typ)
	}
	return a
}

// Diff judges resources of one type: what to do about each, nil where it is in sync. It asks the host nothing.
func (r *Reading) Diff(ctx context.Context, typ string, in []drift.DiffInput) ([]*drift.Decision, error) {
	p, err := r.store.pair(typ)
	if err != nil {
		return nil, err
	}
	return inBatches(r.store.limits.Batch, in, func(batch []drift.DiffInput) ([]*drift.Decision, error) {
		return oneByOne(r, p, batch, func(batch []drift.DiffInput, limit time.Duration, first bool) ([]*drift.Decision, time.Duration, error) {
			return r.diff(ctx, p, batch, limit, first)
		}, func(b *Broken) *drift.Decision {
			return &drift.Decision{Verb: drift.Noop, Severity: drift.SeverityError, Reason: drift.Reason{Code: CodeFailed, Text: b.Error()}}
		})
	})
}

func (r *Reading) diff(ctx context.Context, p *pair, batch []drift.DiffInput, limit time.Duration, first bool) ([]*drift.Decision, time.Duration, error) {
	request, err := diffRequest(batch)
	if err != nil {
		return nil, 0, err
	}
	q := question{box: p.observe, export: "diff", request: request, n: len(batch), limit: limit, trace: first}
	return put(ctx, r, q, func(raw json.RawMessage) (*drift.Decision, error) { return readDecision(raw, p.manifest.Verbs) })
}

// question is one request to a guest for n results.
type question struct {
	box     *sandbox
	export  string
	request []byte
	n       int
	// talk is nil where the guest may ask nothing.
	talk  *dialogue
	limit time.Duration
	// rests is told of the calls that the answer rests on; nil where nobody may ask.
	rests func(calls []tracedCall)
	// trace is false for the tries after a failure, which are not worth remembering.
	trace bool
}

// put answers a question from a trace that the host agrees with, or else by the guest.
func put[T any](ctx context.Context, r *Reading, q question, read func(json.RawMessage) (T, error)) ([]T, time.Duration, error) {
	key, err := q.box.traceKey(q.export, q.request)
	tracing := q.trace && !r.untraced && r.store.traces != nil && err == nil
	var known []*trace
	if tracing {
		known = r.store.traces.load(q.box, key)
	}
	if tracing && !r.always {
		hit, made, err := walk(ctx, known, q.talk)
		if err != nil {
			return nil, 0, err
		}
		if hit != nil {
			if out, err := readEach(hit.results, q.n, read); err == nil {
				if q.rests != nil {
					q.rests(hit.calls)
				}
				return out, 0, nil
			}
			known = nil
		}
		if q.talk != nil {
			q.talk.ahead = made
		}
	}
	recorder := &traceRecorder{}
	if q.talk != nil {
		q.talk.heard = recorder
	}
	r.mu.Lock()
	r.ran[q.box.manifest.Type] = true
	r.mu.Unlock()
	status, answer, used, err := q.box.run(ctx, q.export, q.request, q.talk, r.store.limits.budget(q.n), q.limit)
	if err != nil {
		return nil, used, err
	}
	if status == 1 {
		failure, err := readError(answer)
		if err != nil {
			return nil, used, q.box.broken(err.Error(), nil)
		}
		return nil, used, q.box.broken(fmt.Sprintf("%s: %s", failure.Code, failure.Text), nil)
	}
	results, err := readResults(answer)
	if err != nil {
		return nil, used, q.box.broken(err.Error(), nil)
	}
	out, err := readEach(results, q.n, read)
	if err != nil {
		return nil, used, q.box.broken(err.Error(), nil)
	}
	if q.rests != nil {
		q.rests(recorder.trace.calls)
	}
	if tracing {
		recorder.trace.results = results
		r.store.traces.keep(q.box, key, &recorder.trace, known)
	}
	return out, used, nil
}

// inBatches cuts a list into pieces of at most size.
func inBatches[In, Out any](size int, in []In, each func([]In) ([]Out, error)) ([]Out, error) {
	out := make([]Out, 0, len(in))
	for len(in) > 0 {
		n := min(size, len(in))
		part, err := each(in[:n])
		if err != nil {
			return nil, err
		}
		out, in = append(out, part...), in[n:]
	}
	return out, nil
}

// oneByOne tries a batch and, when the plugin breaks on it, each of its resources by itself, so that one poisoned
// record does not hide the rest. All of it is paid from the type's time.
func oneByOne[In, Out any](r *Reading, p *pair, batch []In, try func(batch []In, limit time.Duration, first bool) ([]Out, time.Duration, error), broken func(*Broken) Out) ([]Out, error) {
	once := func(batch []In, limit time.Duration, first bool) ([]Out, *Broken, error) {
		limit = min(limit, r.left(p, 0))
		if limit <= 0 {
			return nil, p.observe.broken(fmt.Sprintf("its time of %v for this run is used up", r.store.limits.Time), nil), nil
		}
		out, used, err := try(batch, limit, first)
		r.left(p, used)
		var b *Broken
		if errors.As(err, &b) {
			return nil, b, nil
		}
		return out, nil, err
	}
	out, b, err := once(batch, r.store.limits.batchTime(), true)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return out, nil
	}
	out = make([]Out, len(batch))
	for i := range batch {
		if len(batch) > 1 && p.observe.failed == nil {
			var one []Out
			if one, b, err = once(batch[i:i+1], r.store.limits.singleTime(), false); err != nil {
				return nil, err
			}
			if b == nil {
				out[i] = one[0]
				continue
			}
		}
		out[i] = broken(b)
	}
	return out, nil
}

// left takes what was used from a type's time and gives what is left of it.
func (r *Reading) left(p *pair, used time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, ok := r.times[p.manifest.Type]
	if !ok {
		left = r.store.limits.Time
	}
	left -= used
	r.times[p.manifest.Type] = left
	return left
}
