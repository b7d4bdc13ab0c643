package plugin

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

	mu    sync.Mutex
	times map[string]time.Duration // what is left of each type's time
	warm  chan struct{}
}

// Reading begins a look at the host that the asker stands for. Close ends it.
func (s *Store) Reading(ctx context.Context, asker host.Asker) *Reading {
	return &Reading{
		store: s, asker: asker, ctx: ctx,
		times: map[string]time.Duration{},
		warm:  make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
}

// Warm begins to load the modules of these types in the background, as many at once as there are processors.
func (r *Reading) Warm(types ...string) {
	for _, typ := range types {
		p, err := r.store.pair(typ)
		if err != nil {
			continue // whoever uses the type is told
		}
		r.store.loading.Add(1)
		go func() {
			defer r.store.loading.Done()
			r.warm <- struct{}{}
			defer func() { <-r.warm }()
			if r.ctx.Err() == nil {
				_ = p.observe.ready() // the first use reports it
			}
		}()
	}
}

// Close ends the reading.
func (r *Reading) Close() {}

// Observe looks at resources of one type. The observations are in the order of the resources. A plugin that breaks is
// told apart by its resources' Unobservable; the error is for an unknown type or a context that is done.
func (r *Reading) Observe(ctx context.Context, typ string, rs []resource.Resource) ([]drift.Observation, error) {
	p, err := r.store.pair(typ)
	if err != nil {
		return nil, err
	}
	return inBatches(r.store.limits.Batch, rs, func(batch []resource.Resource) ([]drift.Observation, error) {
		return oneByOne(r, p, batch, func(batch []resource.Resource, limit time.Duration) ([]drift.Observation, time.Duration, error) {
			return r.observe(ctx, p, batch, limit)
		}, func(b *Broken) drift.Observation {
			return drift.Observation{Unobservable: &drift.Reason{Code: CodeFailed, Text: b.Error()}}
		})
	})
}

func (r *Reading) observe(ctx context.Context, p *pair, batch []resource.Resource, limit time.Duration) ([]drift.Observation, time.Duration, error) {
	talk := &dialogue{asker: r.asker, scope: newScope(p.manifest.Observe, views(batch))}
	return ask(ctx, p.observe, "observe", observeRequest(batch), len(batch), talk, r.store.limits, limit, readObservations)
}

// Diff judges resources of one type: what to do about each, nil where it is in sync. It asks the host nothing.
func (r *Reading) Diff(ctx context.Context, typ string, in []DiffInput) ([]*drift.Decision, error) {
	p, err := r.store.pair(typ)
	if err != nil {
		return nil, err
	}
	return inBatches(r.store.limits.Batch, in, func(batch []DiffInput) ([]*drift.Decision, error) {
		return oneByOne(r, p, batch, func(batch []DiffInput, limit time.Duration) ([]*drift.Decision, time.Duration, error) {
			return r.diff(ctx, p, batch, limit)
		}, func(b *Broken) *drift.Decision {
			return &drift.Decision{Verb: drift.Noop, Severity: drift.SeverityError, Reason: drift.Reason{Code: CodeFailed, Text: b.Error()}}
		})
	})
}

func (r *Reading) diff(ctx context.Context, p *pair, batch []DiffInput, limit time.Duration) ([]*drift.Decision, time.Duration, error) {
	request, err := diffRequest(batch)
	if err != nil {
		return nil, 0, err
	}
	return ask(ctx, p.observe, "diff", request, len(batch), nil, r.store.limits, limit, func(raw []byte, n int) ([]*drift.Decision, error) {
		return readDecisions(raw, n, p.manifest.Verbs)
	})
}

// ask gives a guest one request and reads its answer.
func ask[T any](ctx context.Context, box *sandbox, export string, request []byte, n int, talk *dialogue, l Limits, limit time.Duration, read func([]byte, int) ([]T, error)) ([]T, time.Duration, error) {
	status, answer, used, err := box.run(ctx, export, request, talk, l.budget(n), limit)
	if err != nil {
		return nil, used, err
	}
	if status == 1 {
		failure, err := readError(answer)
		if err != nil {
			return nil, used, box.broken(err.Error(), nil)
		}
		return nil, used, box.broken(fmt.Sprintf("%s: %s", failure.Code, failure.Text), nil)
	}
	out, err := read(answer, n)
	if err != nil {
		return nil, used, box.broken(err.Error(), nil)
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
func oneByOne[In, Out any](r *Reading, p *pair, batch []In, try func([]In, time.Duration) ([]Out, time.Duration, error), broken func(*Broken) Out) ([]Out, error) {
	once := func(batch []In, limit time.Duration) ([]Out, *Broken, error) {
		limit = min(limit, r.left(p, 0))
		if limit <= 0 {
			return nil, p.observe.broken(fmt.Sprintf("its time of %v for this run is used up", r.store.limits.Time), nil), nil
		}
		out, used, err := try(batch, limit)
		r.left(p, used)
		var b *Broken
		if errors.As(err, &b) {
			return nil, b, nil
		}
		return out, nil, err
	}
	out, b, err := once(batch, r.store.limits.batchTime())
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
			if one, b, err = once(batch[i:i+1], r.store.limits.singleTime()); err != nil {
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
