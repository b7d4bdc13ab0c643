package main

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"

	"gyrum.ai/engine/drift"
)

// output is standard output. A reader that has gone (EPIPE) is no error: what was asked for is still done, unseen. Any
// other failure is kept, so that the exit code can tell that the data did not arrive.
type output struct {
	f   *os.File
	err error
}

// Write never fails towards its caller.
func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		if _, err := o.f.Write(b); err != nil {
			o.err = err
		}
	}
	return len(b), nil
}

// failed is the reason why data was lost, nil when none was or nobody was there to read it.
func (o *output) failed() error {
	if o.err == nil || errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}

// json prints a value as one line.
func (p *program) json(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// reports prints reports as one line each.
func (p *program) reports(rs ...*drift.Report) error {
	for _, r := range rs {
		if err := p.json(r); err != nil {
			return err
		}
	}
	return nil
}
