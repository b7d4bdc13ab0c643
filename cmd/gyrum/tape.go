package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/outcome"
	"gyrum.ai/engine/plugin/tape"
)

// tapeFile is a tape that a check writes. The file is opened before the check confines itself, and keeps what it held until
// the check has come out.
type tapeFile struct {
	file     *os.File
	fresh    bool // it was not there before
	written  bool
	recorder *tape.Recorder
}

func createTape(path string) (*tapeFile, error) {
	t := &tapeFile{}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.fresh = true
	case err == nil && !info.Mode().IsRegular():
		return nil, usage("--record %s: a tape is a regular file", path)
	}
	if t.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	return t, nil
}

// record puts the recorder between the host and the plugins.
func (t *tapeFile) record(s *session) {
	t.recorder = tape.NewRecorder(s.looking.asker, s.target.Resources)
	s.looking.asker = t.recorder
}

// listen records also what the engine takes from elsewhere.
func (t *tapeFile) listen(o *engine.CheckOptions) {
	o.Resolve = t.recorder.Resolve(o.Resolve)
	o.Standing = sync.OnceValue(o.Remembered)
}

// write ends the tape.
func (t *tapeFile) write(o *engine.CheckOptions, report *drift.Report) error {
	stood := o.Standing()
	h := tape.Header{
		Host: report.Host, Engine: buildInfo().engine(), RecordedAt: report.StartedAt.Truncate(time.Second), Catalog: report.Catalog,
		Only: o.Selection.Only, Skip: o.Selection.Skip, Applies: stood.Number, Interrupted: stood.Interrupted, Found: outcome.Of(report),
	}
	for _, m := range o.Modules {
		h.Plugins = append(h.Plugins, tape.Module(m))
	}
	if stood.Unknown != nil {
		h.NoPlanHash = stood.Unknown.Error()
	}
	err := t.file.Truncate(0)
	if err == nil {
		err = t.recorder.Tape(h).Write(t.file)
	}
	if err == nil {
		err = t.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("the tape %s could not be written: %w", t.file.Name(), err)
	}
	t.written = true
	return nil
}

// close leaves no empty file behind, where the confinement lets it.
func (t *tapeFile) close() {
	t.file.Close()
	if t.fresh && !t.written {
		_ = os.Remove(t.file.Name())
	}
}

// engine is the program's version as a tape names it.
func (v versionInfo) engine() string {
	if v.Revision == "" {
		return v.Version
	}
	return v.Version + " " + v.Revision
}

// readTape reads a tape that somebody named.
func readTape(path string) (*tape.Tape, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a fifo must not keep us waiting
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readTapeFrom(f, path)
}

// readTapeWithin reads a tape that a catalog names, which leads nowhere else.
func readTapeWithin(catalog, path string) (*tape.Tape, error) {
	root, err := os.OpenRoot(catalog)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readTapeFrom(f, path)
}

func readTapeFrom(f *os.File, path string) (*tape.Tape, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s: a tape is a regular file", path))
	}
	t, err := tape.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func newTapeCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:   "tape",
		Short: "Look into the tapes that check --record writes",
	}, newTapeCatCmd(p))
}

func newTapeCatCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "cat FILE",
		Short: "Print a tape as JSON lines, which can be read, compared, edited and replayed",
		Long: `cat prints the header of a tape and then one question with its reply a line. What it
prints is itself a tape: edited by hand, it makes a test case of a host that nobody
has.`,
		Example: "  gyrum tape cat web-1.tape > tests/web-1.jsonl",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s needs one tape", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := readTape(args[0])
			if err != nil {
				return err
			}
			return t.WriteText(p.out)
		},
	}
}
