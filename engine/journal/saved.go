package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oklog/ulid/v2"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/fsys"
)

// SaveCheck keeps the report of a check among the runs. It is a file of its own and no link of the chain, since a check waits for
// no lock.
func SaveCheck(system fsys.FS, dir string, report *drift.Report) error {
	if err := Prepare(system, dir); err != nil {
		return err
	}
	runs, err := openWrite(system, dir+"/"+runsName)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	raw, err := canonical.Marshal(report)
	if err == nil {
		err = replace(runs, report.RunID+savedSuffix, append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("the report %s could not be saved in %s: %w", report.RunID, dir, err)
	}
	return nil
}

// ReadCheck gives the report of a saved check.
func ReadCheck(system fsys.ReadFS, dir, id string) (*drift.Report, error) {
	runs, err := openRead(system, dir+"/"+runsName)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	defer runs.Close()
	return readSaved(runs, id)
}

func readSaved(runs fsys.ReadDir, id string) (*drift.Report, error) {
	if !fsys.ValidName(id) {
		return nil, fmt.Errorf("%w: %q", ErrNoRun, id)
	}
	raw, err := readAll(runs, id+savedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoRun, id)
	}
	report := new(drift.Report)
	if err == nil {
		err = json.Unmarshal(raw, report)
	}
	if err != nil {
		return nil, fmt.Errorf("saved check %s: %w", id, err)
	}
	return report, nil
}

// savedID gives the id of a saved check by its file's name.
func savedID(name string) (id string, ok bool) { return idBefore(savedSuffix, name) }

// runID gives the id of a run by its file's name.
func runID(name string) (id string, ok bool) { return idBefore(runSuffix, name) }

// idBefore takes a name apart. A copy that somebody made beside a run is none: as the newest it would lead the chain astray.
func idBefore(suffix, name string) (id string, ok bool) {
	if id, ok = strings.CutSuffix(name, suffix); !ok {
		return "", false
	}
	parsed, err := ulid.ParseStrict(id)
	return id, err == nil && parsed.String() == id
}
