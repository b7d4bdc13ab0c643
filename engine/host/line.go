package host

import (
	"bytes"
	"context"
	"path"
	"regexp"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/lines"
	"gyrum.ai/engine/resource"
)

// maxLined bounds the files in which lines are managed; what is larger is data.
const maxLined = 4 << 20

// lineReply says what a file holds of a managed line, and nothing of what else it holds.
type lineReply struct {
	lines.State
	// TooLarge says that the file was not read.
	TooLarge bool `json:"too_large,omitempty"`
}

func (r *Reader) lineState(_ context.Context, q idRequest) (lineReply, error) {
	res, err := r.find(q.ID, "line")
	if err != nil {
		return lineReply{}, misuse(err)
	}
	rule, err := lineRule(res)
	if err != nil {
		return lineReply{}, err
	}
	s, err := r.tree.Stat(pathOf(res))
	switch {
	case err != nil:
		return lineReply{}, err
	case !s.Exists || s.Kind != fsys.KindFile:
		return lineReply{}, misusef("%s: no regular file is there to look for a line in", res.ID)
	case s.Size > maxLined:
		return lineReply{TooLarge: true}, nil
	}
	text, err := r.tree.Read(pathOf(res), maxLined)
	if err != nil {
		return lineReply{}, err
	}
	return lineReply{State: rule.Look(text)}, nil
}

// lineRule reads the rule that a resource declares.
func lineRule(res *resource.Resource) (lines.Rule, error) {
	var d struct {
		Line   string `json:"line"`
		Match  string `json:"match"`
		After  string `json:"after"`
		Before string `json:"before"`
	}
	if err := declaredOf(res.ID, res.Declared, &d); err != nil {
		return lines.Rule{}, err
	}
	rule := lines.Rule{Line: d.Line}
	for _, e := range []struct {
		text string
		into **regexp.Regexp
	}{{d.Match, &rule.Match}, {d.After, &rule.After}, {d.Before, &rule.Before}} {
		if e.text == "" {
			continue
		}
		re, err := regexp.Compile(e.text)
		if err != nil {
			return rule, misusef("%s: %w", res.ID, err)
		}
		*e.into = re
	}
	return rule, nil
}

type lineRequest struct {
	ID   string `json:"id"`
	Path string `json:"path"`
}

func (w *Writer) lineWrite(ctx context.Context, q lineRequest) (done, error) {
	return w.editLine(ctx, q, "line_write", lines.Rule.Put)
}

func (w *Writer) lineRemove(ctx context.Context, q lineRequest) (done, error) {
	return w.editLine(ctx, q, "line_remove", lines.Rule.Take)
}

// editLine writes the file anew with everything but the line as it was: content, owner, mode and attributes.
func (w *Writer) editLine(ctx context.Context, q lineRequest, effect string, edit func(lines.Rule, []byte) ([]byte, error)) (done, error) {
	res, err := w.owned(replaceRequest{ID: q.ID, Path: q.Path}, "line")
	if err != nil {
		return done{}, err
	}
	rule, err := lineRule(res)
	if err != nil {
		return done{}, err
	}
	p := path.Clean(q.Path)
	w.edits.Lock()
	defer w.edits.Unlock()
	before, owner, err := w.lined(p)
	if err != nil {
		return done{}, err
	}
	after, err := edit(rule, before)
	if err != nil {
		return done{}, fault.New(fault.Invalid, "%s: %w", p, err)
	}
	e := Effect{Resource: res.ID, Name: effect, Target: p}
	if e.After, err = w.digest(p, after); err != nil {
		return done{}, err
	}
	return done{}, w.changeFile(ctx, e, func() error {
		// Others own the file and may have written meanwhile; what they wrote must not be lost.
		now, _, err := w.lined(p)
		if err == nil && !bytes.Equal(now, before) {
			err = fault.New(fault.Busy, "%s changes while gyrum edits it; apply again", p)
		}
		if err != nil {
			return err
		}
		return w.tree.Replace(p, after, owner)
	})
}

// lined reads a file in which a line is managed, with its owner and mode.
func (w *Writer) lined(p string) ([]byte, files.Owner, error) {
	s, err := w.r.tree.Stat(p)
	switch {
	case err != nil:
		return nil, files.Owner{}, err
	case !s.Exists:
		return nil, files.Owner{}, fault.New(fault.Invalid, "%s does not exist; a line is put only into a file that is there", p)
	case s.Kind != fsys.KindFile:
		return nil, files.Owner{}, fault.New(fault.Invalid, "%s is a %s, not a regular file", p, s.Kind)
	}
	text, err := w.r.tree.Read(p, maxLined)
	return text, files.Owner{Mode: s.Mode, UID: s.UID, GID: s.GID}, err
}
