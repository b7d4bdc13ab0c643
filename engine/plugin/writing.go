package plugin

import (
	"context"
	"encoding/json"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
)

// Writing closes gaps on a host: the apply modules of a store, somebody to ask and somebody who acts.
type Writing struct {
	store *Store
	asker host.Asker
	doer  host.Doer
}

// Writing begins to act on the host that asker and doer stand for.
func (s *Store) Writing(_ context.Context, asker host.Asker, doer host.Doer) *Writing {
	return &Writing{store: s, asker: asker, doer: doer}
}

// Warm begins to load the apply modules of these types in the background, one after another: an apply begins with the first of
// them while the rest load.
func (w *Writing) Warm(types ...string) {
	w.store.loading.Go(func() {
		for _, typ := range types {
			if p, err := w.store.pair(typ); err == nil {
				_ = p.apply.ready() // the first use reports it
			}
		}
	})
}

// Apply executes one action on one resource, in an instance of its own whose effects reach only that resource. The
// output is what the action left to show, such as a command's record, nil without. An action that did not work is an
// *ActionError, a plugin that broke a *Broken; in both cases effects may have happened.
func (w *Writing) Apply(ctx context.Context, r resource.Resource, o drift.Observation, a drift.Action) (json.RawMessage, error) {
	p, err := w.store.pair(r.Type)
	if err != nil {
		return nil, err
	}
	request, err := applyRequest(r, o, a)
	if err != nil {
		return nil, err
	}
	talk := &dialogue{asker: w.asker, doer: w.doer, scope: newScope(p.manifest.Apply, []json.RawMessage{r.View})}
	l := w.store.limits
	status, answer, _, err := p.apply.run(ctx, "apply", request, talk, l.budget(1), l.Time)
	if err != nil {
		return nil, err
	}
	if status == 1 {
		failure, err := readError(answer)
		if err != nil {
			return nil, p.apply.broken(err.Error(), nil)
		}
		return failure.Output, failure
	}
	output, err := readOutput(answer)
	if err != nil {
		return nil, p.apply.broken(err.Error(), nil)
	}
	return output, nil
}
