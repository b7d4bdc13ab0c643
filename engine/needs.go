package engine

import (
	"fmt"
	"path"
	"strings"

	"gyrum.ai/engine/drift"
)

// settle decides for every need whether an item that acts earlier brings it; where none does, the item is blocked.
func (p *plan) settle() {
	for _, f := range p.findings {
		f.blocked, f.note, f.follows = "", "", nil
		if !f.acts() {
			continue
		}
		for _, need := range f.decision.Needs {
			provider, note := p.provider(f, need)
			if provider == nil {
				f.blocked = needText(need)
				break
			}
			f.follows = append(f.follows, provider)
			if note != "" && !strings.Contains(f.note, note) {
				f.note = joinNotes(f.note, note)
			}
		}
	}
}

// provider finds the item that acts before f and can bring what is missing; note says so where it is not certain.
func (p *plan) provider(f *finding, need drift.Need) (found *finding, note string) {
	switch need.Kind {
	case "path":
		// Every folder down to the resource must come from somewhere.
		for _, dir := range missingPaths(need.Name, f.touches.path) {
			found, note = p.earlier(f, drift.Need{Kind: need.Kind, Name: dir}, func(o *finding) bool {
				return o.resource.Type == typeDirectory && o.touches.path == absolute(dir)
			})
			if found == nil {
				return nil, ""
			}
		}
		return found, note
	case "unit":
		return p.earlier(f, need, func(o *finding) bool {
			return o.touches.path != "" && o.resource.Type != typeDirectory && isFragment(o.touches.path, need.Name)
		})
	}
	return p.earlier(f, need, func(o *finding) bool {
		account := need.Kind + ":" + need.Name
		return o.touches.account == account || o.touches.ownGroup == account
	})
}

// earlier finds an item that acts before f and brings what is missing for certain, or else the nearest one that may bring
// anything; the note then names all that may.
func (p *plan) earlier(f *finding, need drift.Need, certain func(*finding) bool) (found *finding, note string) {
	var may []string
	for _, o := range p.findings[:f.at] {
		switch {
		case !o.acts() || !o.touches.brings:
		case certain(o):
			return o, ""
		case o.touches.wide:
			found, may = o, append(may, o.resource.ID)
		}
	}
	if found == nil {
		return nil, ""
	}
	return found, fmt.Sprintf("%s is not there yet; %s must bring it", needName(need), oneOf(may))
}

// oneOf names what comes into question, the first few of it.
func oneOf(ids []string) string {
	const few = 3
	last := len(ids) - 1
	switch {
	case last == 0:
		return ids[0]
	case last < few:
		return strings.Join(ids[:last], ", ") + " or " + ids[last]
	}
	return fmt.Sprintf("%s or one of %d more before it", strings.Join(ids[:few], ", "), len(ids)-few)
}

// missingPaths lists the folders from the first one that is missing down to the parent of what is to be made.
func missingPaths(first, of string) []string {
	first = path.Clean(first)
	dirs := []string{}
	for dir := path.Dir(of); of != "" && strings.HasPrefix(dir, first+"/"); dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return append([]string{first}, dirs...)
}

// isFragment says whether a file of this path is the unit's own file or its template's.
func isFragment(file, unit string) bool {
	return definesUnit(file, unit) && !strings.HasSuffix(path.Dir(file), ".d")
}

func needName(need drift.Need) string {
	switch need.Kind {
	case "user", "group", "unit", "package":
		return need.Kind + " " + need.Name
	}
	return need.Name
}

func needText(need drift.Need) string {
	if need.Text != "" {
		return need.Text
	}
	return fmt.Sprintf("%s does not exist and nothing before this item brings it", needName(need))
}
