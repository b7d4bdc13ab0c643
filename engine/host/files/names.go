package files

import (
	"fmt"

	"gyrum.ai/engine/host/fault"
)

// Names lists a directory, sorted; more says that it holds others than the first limit.
func (t Tree) Names(p string, limit int) (names []string, more bool, err error) {
	p, err = check(p)
	if err != nil {
		return nil, false, err
	}
	at, err := t.find(p, false)
	if err != nil {
		return nil, false, err
	}
	defer at.close()
	if err := at.why(p); err != nil {
		return nil, false, err
	}
	dir, err := at.dir.OpenDir(at.base)
	if err != nil {
		return nil, false, fault.Of(fmt.Errorf("%s: %w", show(p), err))
	}
	defer dir.Close()
	names, err = dir.Names()
	if err != nil {
		return nil, false, fault.Of(fmt.Errorf("%s: %w", show(p), err))
	}
	return names[:min(len(names), limit)], len(names) > limit, nil
}
