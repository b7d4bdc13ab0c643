package engine

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"gyrum.ai/engine/drift"
)

// speculate plays the plan's actions, in their order, on a model of what was observed, and notes where the end would not be what
// is declared: resources that undo each other never converge, whatever is applied. It works on records alone; no module is
// loaded and nobody is asked. What packages and commands do besides what is declared it cannot know.
func (p *plan) speculate() {
	m := &model{paths: map[string]belief{}, owners: map[string]*finding{}, units: map[string]belief{}}
	for _, f := range p.findings {
		m.learn(f)
	}
	for _, f := range p.order {
		if f.acts() {
			m.play(f)
		}
	}
	for _, f := range p.findings {
		if f.obs.Unobservable == nil && (f.decision == nil || f.acts()) {
			m.judge(f)
		}
	}
}

// model is what the engine believes of the host.
type model struct {
	paths  map[string]belief
	owners map[string]*finding // path to the resource that declares it
	units  map[string]belief   // unit to whether it runs
}

// belief says whether something is there, and which action of the plan made it so; nil when it was observed.
type belief struct {
	there bool
	by    *finding
}

// learn enters what was observed of a resource.
func (m *model) learn(f *finding) {
	var seen struct {
		Exists bool `json:"exists"`
		HasRun bool `json:"has_run"`
		Active bool `json:"active"`
	}
	_ = json.Unmarshal(orNull(f.obs.Observed), &seen) // another shape is another type, of which the model knows nothing
	switch {
	case f.touches.path != "":
		m.owners[f.touches.path] = f
		m.paths[f.touches.path] = belief{there: seen.Exists}
	case f.touches.unit != "":
		m.units[f.touches.unit] = belief{there: seen.Active}
	}
	if made := f.touches.creates; made != "" {
		if _, owned := m.paths[made]; !owned {
			m.paths[made] = belief{there: seen.HasRun}
		}
	}
}

// play enters what an action will do.
func (m *model) play(f *finding) {
	switch f.decision.Verb {
	case drift.Write:
		m.paths[f.touches.path] = belief{true, f}
	case drift.Remove:
		if f.touches.path == "" {
			return
		}
		if child := m.beneath(f); child != nil {
			doubt(f, fmt.Sprintf("a folder that is not empty stays, and %s is declared in it", child.resource.ID))
			return
		}
		m.paths[f.touches.path] = belief{false, f}
	case drift.Run:
		made := f.touches.creates
		if made == "" {
			return
		}
		if b := m.paths[made]; b.there && b.by != nil {
			remark(f, fmt.Sprintf("%s makes %s first, so the command will not run", b.by.resource.ID, made))
			return
		}
		m.paths[made] = belief{true, f}
	case drift.Start:
		m.units[f.touches.unit] = belief{true, f}
	case drift.Stop:
		m.units[f.touches.unit] = belief{false, f}
	}
}

// beneath gives a resource that is declared to be there below the folder of f.
func (m *model) beneath(f *finding) *finding {
	if f.resource.Type != typeDirectory {
		return nil
	}
	var found *finding
	for p, owner := range m.owners {
		if strings.HasPrefix(p, f.touches.path+"/") && owner.touches.brings && (found == nil || owner.at < found.at) {
			found = owner
		}
	}
	return found
}

// judge compares what a resource declares with what the model came to.
func (m *model) judge(f *finding) {
	at, want := f.touches.path, f.touches.brings
	if at == "" {
		at = f.touches.creates
	}
	if b, known := m.paths[at]; at != "" && known && b.there != want && b.by != nil && b.by != f {
		undoes(b.by, f)
	}
	if f.touches.unit == "" {
		return
	}
	state := f.touches.state
	if b := m.units[f.touches.unit]; state == "stopped" && !b.there {
		for _, kind := range []string{".socket", ".timer", ".path"} {
			trigger := m.units[strings.TrimSuffix(f.touches.unit, path.Ext(f.touches.unit))+kind]
			if trigger.there && path.Ext(f.touches.unit) == ".service" {
				doubt(f, fmt.Sprintf("%s runs and may start it again at any time", strings.TrimSuffix(f.touches.unit, ".service")+kind))
				if trigger.by != nil {
					doubt(trigger.by, "it may start "+f.touches.unit+" again, which is declared stopped")
				}
			}
		}
	}
	if state == "started" {
		for p, owner := range m.owners {
			if !owner.touches.brings && owner.resource.Type != typeDirectory && slices.Contains([]string{"", p}, f.touches.unitFile) && isFragment(p, f.touches.unit) {
				doubt(owner, fmt.Sprintf("it takes the definition of %s away, which is declared started", f.touches.unit))
				doubt(f, owner.resource.ID+" takes its definition away")
			}
		}
	}
}

// undoes notes that an action undoes what another resource declares.
func undoes(by, of *finding) {
	doubt(by, "it undoes "+of.resource.ID)
	doubt(of, by.resource.ID+" undoes it")
}

// doubt notes on an action that it will not last. What is no item has no place for a note.
func doubt(f *finding, why string) {
	remark(f, "this will not converge: "+why)
}

// remark notes something on an action, once.
func remark(f *finding, note string) {
	if f.acts() && !strings.Contains(f.note, note) {
		f.note = joinNotes(f.note, note)
	}
}
