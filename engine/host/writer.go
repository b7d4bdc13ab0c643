package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

// WriteConfig is what a Writer changes.
type WriteConfig struct {
	FS       fsys.FS
	Packages PackageWriter
	Units    UnitWriter
	Commands Commands
	Accounts AccountWriter
	// CommandEnv gives the whole environment of a command, sorted, from what the resource declares.
	CommandEnv func(declared map[string]string) []string
}

// Writer performs the effects of the write side. It tells of each effect before and after it, and sees to the reloads of
// the service manager that the effects make due. Effects on different resources may run at once.
type Writer struct {
	r    *Reader
	cfg  WriteConfig
	tree files.WriteTree
	on   EffectFunc

	mu sync.Mutex // guards the pending reload
	// edits lets one line at a time into a file: two items may want the same one at once.
	edits sync.Mutex

	begun    sync.Once // the first effect
	beginErr error
}

// NewWriter makes a writer beside a reader of the same host. Without a function to tell, nobody is told.
func NewWriter(r *Reader, cfg WriteConfig, on EffectFunc) *Writer {
	if on == nil {
		on = func(string, Effect, error) error { return nil }
	}
	return &Writer{r: r, cfg: cfg, tree: files.NewWriteTree(cfg.FS, r.cfg.Self), on: on}
}

type doer func(ctx context.Context, w *Writer, request []byte) ([]byte, error)

// doers is the write half of the table; a test holds both to the same names.
var doers = map[string]doer{
	"command_run":      do((*Writer).commandRun),
	"directory_make":   do((*Writer).directoryMake),
	"directory_remove": do((*Writer).directoryRemove),
	"env_replace":      do((*Writer).envReplace),
	"file_mode":        do((*Writer).fileMode),
	"file_owner":       do((*Writer).fileOwner),
	"file_remove":      do((*Writer).fileRemove),
	"file_replace":     do((*Writer).fileReplace),
	"group_add":        do((*Writer).groupAdd),
	"group_change":     do((*Writer).groupChange),
	"group_remove":     do((*Writer).groupRemove),
	"line_remove":      do((*Writer).lineRemove),
	"line_write":       do((*Writer).lineWrite),
	"package_install":  do((*Writer).packageInstall),
	"package_remove":   do((*Writer).packageRemove),
	"symlink_make":     do((*Writer).symlinkMake),
	"symlink_owner":    do((*Writer).symlinkOwner),
	"symlink_remove":   do((*Writer).symlinkRemove),
	"unit_disable":     unitDoer("unit_disable", UnitWriter.Disable),
	"unit_enable":      unitDoer("unit_enable", UnitWriter.Enable),
	"unit_reload":      do((*Writer).unitReload),
	"unit_restart":     unitDoer("unit_restart", UnitWriter.Restart),
	"unit_start":       unitDoer("unit_start", UnitWriter.Start),
	"unit_stop":        unitDoer("unit_stop", UnitWriter.Stop),
	"user_add":         do((*Writer).userAdd),
	"user_change":      do((*Writer).userChange),
	"user_remove":      do((*Writer).userRemove),
}

// Do performs a capability of the write side.
func (w *Writer) Do(ctx context.Context, capability string, request []byte) ([]byte, error) {
	f := doers[capability]
	if f == nil {
		return nil, fmt.Errorf("no capability %q on the write side", capability)
	}
	// Before the first effect, what units run from is written down as it is now. An effect may set an input back to what
	// an older record holds, and without a newer one the process would then pass for one that was started from it.
	w.begun.Do(func() { w.beginErr = errors.Join(slices.DeleteFunc(w.rememberUnits(ctx), unseen)...) })
	if w.beginErr != nil {
		return encode(done{}, w.beginErr)
	}
	// What is about to change, or has, is walked to anew.
	w.r.tree.Walks.Forget()
	defer w.r.tree.Walks.Forget()
	return f(ctx, w, request)
}

// do makes a doer of a method, as ask does for the read side.
func do[Request, Reply any](f func(w *Writer, ctx context.Context, q Request) (Reply, error)) doer {
	return func(ctx context.Context, w *Writer, request []byte) ([]byte, error) {
		var q Request
		if err := decode(request, &q); err != nil {
			return nil, err
		}
		reply, err := f(w, ctx, q)
		return encode(reply, err)
	}
}

// done is the reply of an effect that has nothing to say.
type done struct{}

// effect tells of an effect, performs it, and tells what became of it.
func (w *Writer) effect(e Effect, perform func() error) error {
	if err := w.on("before", e, nil); err != nil {
		return fault.New(fault.Interrupted, "%s of %s was not begun: %w", e.Name, e.Target, err)
	}
	err := perform()
	if terr := w.on("after", e, err); terr != nil {
		return errors.Join(err, fault.New(fault.IO, "%s of %s: its outcome could not be recorded: %w", e.Name, e.Target, terr))
	}
	return err
}

// ownerOf reads mode and owner of a request.
func (w *Writer) ownerOf(mode, owner, group string) (files.Owner, error) {
	bits, err := parseMode(mode)
	if err != nil {
		return files.Owner{}, err
	}
	o, err := w.idsOf(owner, group)
	o.Mode = bits
	return o, err
}

// idsOf gives the ids of a user and a group that exist.
func (w *Writer) idsOf(owner, group string) (files.Owner, error) {
	uid, ok, err := w.r.cfg.Accounts.User(owner)
	if err == nil && !ok {
		err = fault.New(fault.Invalid, "there is no user %q: declare what creates it before this resource", owner)
	}
	if err != nil {
		return files.Owner{}, err
	}
	gid, ok, err := w.r.cfg.Accounts.Group(group)
	if err == nil && !ok {
		err = fault.New(fault.Invalid, "there is no group %q: declare what creates it before this resource", group)
	}
	return files.Owner{UID: uid, GID: gid}, err
}

func parseMode(mode string) (uint32, error) {
	bits, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || len(mode) != 4 || bits > 0o7777 {
		return 0, misusef("mode %q is not four octal digits", mode)
	}
	return uint32(bits), nil
}

// forget drops what an effect may have made wrong: packages and commands make accounts, units and packages.
func (w *Writer) forget() { w.r.Forget() }

// Finish does what is due at the end of an apply: a reload that no unit action has brought on, and the record of the
// inputs of units that are known to run from them.
func (w *Writer) Finish(ctx context.Context) error {
	settled := w.Settle(ctx)
	return errors.Join(append(w.rememberUnits(ctx), settled)...)
}

// unseen says that the service manager could not be asked. What is declared of its units says so itself, and it holds
// back nothing else.
func unseen(err error) bool {
	code := fault.Of(err).Code
	return code == fault.Unavailable || code == fault.Timeout
}

// rememberUnits records the inputs of the units that are known to run from them.
func (w *Writer) rememberUnits(ctx context.Context) []error {
	var errs []error
	for _, res := range w.r.ordered {
		if res.Type != "systemd_unit" {
			continue
		}
		query, err := w.r.unitQuery(res)
		if err == nil {
			err = w.remember(ctx, query)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: what it runs from could not be recorded: %w", res.ID, err))
		}
	}
	return errs
}

// remember makes sure of the key before the record is written, so that a secret input has a digest.
func (w *Writer) remember(ctx context.Context, query UnitQuery) error {
	if len(w.r.secretPaths) > 0 {
		if err := w.ensureKey(); err != nil {
			return err
		}
	}
	return w.cfg.Units.Remember(ctx, query)
}

// declaredOf reads the declared record of a resource.
func declaredOf(id string, declared json.RawMessage, into any) error {
	if err := json.Unmarshal(declared, into); err != nil {
		return misusef("declared record of %s: %w", id, err)
	}
	return nil
}
