package sweep

import (
	"context"
	"encoding/json"
	"fmt"

	"gyrum.ai/engine"
	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/resource"
	"gyrum.ai/plugins/command"
	"gyrum.ai/plugins/corpus"
	"gyrum.ai/plugins/directory"
	"gyrum.ai/plugins/env"
	"gyrum.ai/plugins/file"
	"gyrum.ai/plugins/group"
	"gyrum.ai/plugins/line"
	pkg "gyrum.ai/plugins/package"
	"gyrum.ai/plugins/symlink"
	systemdunit "gyrum.ai/plugins/systemd_unit"
	"gyrum.ai/plugins/user"
)

// natives are all types, run in this process: the same logic as the modules, without a sandbox to load thousands of times.
var natives = map[string]corpus.Plugin{
	"command":      corpus.Native(corpus.Logic{Observe: command.Observe, Diff: command.Diff, Apply: command.Apply}),
	"directory":    corpus.Native(corpus.Logic{Observe: directory.Observe, Diff: directory.Diff, Apply: corpus.Writes(directory.Apply)}),
	"env":          corpus.Native(corpus.Logic{Observe: env.Observe, Diff: env.Diff, Apply: corpus.Writes(env.Apply)}),
	"file":         corpus.Native(corpus.Logic{Observe: file.Observe, Diff: file.Diff, Apply: corpus.Writes(file.Apply)}),
	"group":        corpus.Native(corpus.Logic{Observe: group.Observe, Diff: group.Diff, Apply: corpus.Writes(group.Apply)}),
	"line":         corpus.Native(corpus.Logic{Observe: line.Observe, Diff: line.Diff, Apply: corpus.Writes(line.Apply)}),
	"symlink":      corpus.Native(corpus.Logic{Observe: symlink.Observe, Diff: symlink.Diff, Apply: corpus.Writes(symlink.Apply)}),
	"user":         corpus.Native(corpus.Logic{Observe: user.Observe, Diff: user.Diff, Apply: corpus.Writes(user.Apply)}),
	"package":      corpus.Native(corpus.Logic{Observe: pkg.Observe, Diff: pkg.Diff, Apply: corpus.Writes(pkg.Apply)}),
	"systemd_unit": corpus.Native(corpus.Logic{Observe: systemdunit.Observe, Diff: systemdunit.Diff, Apply: corpus.Writes(systemdunit.Apply)}),
}

// observer is the reading side.
type observer struct{ asker host.Asker }

func (observer) Warm(...string) {}

func (o observer) ask(ctx context.Context) corpus.Ask {
	return func(capability string, request []byte) []byte {
		reply, err := o.asker.Ask(ctx, capability, request)
		if err != nil {
			panic(fmt.Sprintf("%s %s: %v", capability, request, err))
		}
		return reply
	}
}

func (o observer) Observe(ctx context.Context, typ string, rs []resource.Resource) ([]drift.Observation, error) {
	views := make([]json.RawMessage, len(rs))
	for i, r := range rs {
		views[i] = r.View
	}
	var answer struct{ Results []drift.Observation }
	err := call(map[string]any{"resources": views}, &answer, func(request []byte) ([]byte, int32) {
		return natives[typ].Observe(o.ask(ctx), request)
	})
	return answer.Results, err
}

func (o observer) Diff(_ context.Context, typ string, in []drift.DiffInput) ([]*drift.Decision, error) {
	var asked []any
	for _, d := range in {
		asked = append(asked, map[string]any{"declared": d.Resource.View, "observed": d.Observation.Observed, "facts": d.Observation.Facts,
			"changing": d.Changing})
	}
	var answer struct{ Results []*drift.Decision }
	err := call(map[string]any{"resources": asked}, &answer, natives[typ].Diff)
	return answer.Results, err
}

// hand is the writing side.
type hand struct {
	observer
	*host.Writer
}

func (h hand) Apply(ctx context.Context, r resource.Resource, o drift.Observation, a drift.Action) (json.RawMessage, error) {
	ask := func(capability string, request []byte) []byte {
		reply, err := h.Do(ctx, capability, request)
		if err != nil {
			return h.ask(ctx)(capability, request)
		}
		return reply
	}
	var answer struct{ Output json.RawMessage }
	err := call(map[string]any{"declared": r.View, "observed": o.Observed, "facts": o.Facts, "action": a}, &answer,
		func(request []byte) ([]byte, int32) { return natives[r.Type].Apply(ask, request) })
	return answer.Output, err
}

// call puts one request to a plugin and reads its answer.
func call(request, answer any, phase func([]byte) ([]byte, int32)) error {
	raw, err := canonical.Marshal(request)
	if err != nil {
		return err
	}
	output, status := phase(raw)
	if status != 0 {
		var failure struct{ Error struct{ Code, Text string } }
		if err := json.Unmarshal(output, &failure); err != nil {
			return err
		}
		return fmt.Errorf("%s: %s", failure.Error.Code, failure.Error.Text)
	}
	if len(output) == 0 {
		return nil
	}
	return json.Unmarshal(output, answer)
}

func modules() []engine.Module {
	var all []engine.Module
	for typ := range natives {
		all = append(all, engine.Module{Type: typ, Observe: "sha256:" + typ, Apply: "sha256:" + typ})
	}
	return all
}
