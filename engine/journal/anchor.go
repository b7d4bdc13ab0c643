package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/fsys"
)

// Anchor is what a retention leaves of the runs it removes, so that the chain of the rest still has a beginning.
type Anchor struct {
	// Hash is the digest of the last record removed.
	Hash string `json:"hash"`
	// LastRun is the newest run removed; Runs counts all that were ever removed.
	LastRun string `json:"last_run"`
	Runs    int    `json:"runs"`
	// Number is how many applies executed an action up to LastRun.
	Number int `json:"number"`
}

// loadAnchor reads the anchor of a runs folder; without one it is zero.
func loadAnchor(runs fsys.ReadDir) (Anchor, error) {
	raw, err := readAll(runs, anchorName)
	if errors.Is(err, fs.ErrNotExist) {
		return Anchor{}, nil
	}
	var anchor Anchor
	if err == nil {
		err = json.Unmarshal(raw, &anchor)
	}
	if err != nil {
		return Anchor{}, fmt.Errorf("%s: %w", anchorName, err)
	}
	return anchor, nil
}

// storeAnchor replaces the anchor, durably.
func storeAnchor(runs fsys.Dir, anchor Anchor) error {
	raw, err := canonical.Marshal(anchor)
	if err != nil {
		return err
	}
	return replace(runs, anchorName, append(raw, '\n'))
}

// replace puts a file in place of whatever has the name: wholly or not at all.
func replace(at fsys.Dir, name string, raw []byte) error {
	temp := "." + name + ".new"
	if err := at.Unlink(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := at.Create(temp, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = at.Rename(temp, name)
	}
	if err == nil {
		return at.Sync()
	}
	return errors.Join(err, at.Unlink(temp))
}
