package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/resource"
)

// Secrets resolves references; package secret has the implementation.
type Secrets interface {
	Resolve(ctx context.Context, ref resource.SecretRef) (secret.Value, error)
	// Forget drops the failures that were remembered.
	Forget()
}

// ReadConfig is what a Reader asks. No writer can be reached from it.
type ReadConfig struct {
	FS fsys.ReadFS
	// Self is the user that the program runs as.
	Self uint32
	// StateDir is where the key of secret digests lies.
	StateDir string
	Accounts Accounts
	Packages Packages
	Units    Units
	Secrets  Secrets
}

// Reader answers the questions of the read side about the resources of one run. It is safe for concurrent use as far
// as its parts are.
type Reader struct {
	cfg       ReadConfig
	tree      files.Tree
	resources map[string]*resource.Resource // by id
	ordered   []*resource.Resource
	// at finds the resource that owns a cleaned path.
	at map[string]*resource.Resource
	// secretPaths are the resolved paths of resources that hold secrets.
	secretPaths map[string]bool
}

// NewReader makes a reader for the resources: all of the host's, also those that a run leaves out, since it must know
// which paths hold secrets.
func NewReader(cfg ReadConfig, resources []resource.Resource) *Reader {
	r := &Reader{
		cfg: cfg, tree: files.Tree{FS: cfg.FS, Self: cfg.Self, Walks: &files.Walks{}},
		resources: map[string]*resource.Resource{}, at: map[string]*resource.Resource{}, secretPaths: map[string]bool{},
	}
	for i := range resources {
		res := &resources[i]
		r.resources[res.ID] = res
		r.ordered = append(r.ordered, res)
		p := pathOf(res)
		if p == "" {
			continue
		}
		r.at[p] = res
		if len(res.Secrets) > 0 && (res.Type == "file" || res.Type == "env" || ownType(res.Type)) {
			r.secretPaths[p] = true
			if real, err := r.tree.Resolve(p); err == nil {
				r.secretPaths[real] = true
			}
		}
	}
	return r
}

// Forget drops everything that was remembered, so that the next question is put to the host anew.
func (r *Reader) Forget() {
	r.cfg.Accounts.Forget()
	r.cfg.Packages.Forget()
	r.cfg.Units.Forget()
	r.cfg.Secrets.Forget()
	r.tree.Walks.Forget()
}

// pathOf gives the cleaned path that a resource owns, empty for a type without one.
func pathOf(res *resource.Resource) string {
	var d struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(res.Declared, &d) != nil || d.Path == "" {
		return ""
	}
	return path.Clean(d.Path)
}

// ownType says whether a type is a catalog's own. Where such a type declares a path and a content, the content is written
// and compared as a file's is.
func ownType(typ string) bool { return strings.HasPrefix(typ, "x_") }

// find gives a resource of one of the types by its id.
func (r *Reader) find(id string, types ...string) (*resource.Resource, error) {
	res := r.resources[id]
	if res == nil {
		return nil, fmt.Errorf("no resource %q in this run", id)
	}
	for _, t := range types {
		if res.Type == t || t == "file" && ownType(res.Type) {
			return res, nil
		}
	}
	return nil, fmt.Errorf("resource %q is a %s", id, res.Type)
}

// asker answers one capability.
type asker func(ctx context.Context, r *Reader, request []byte) ([]byte, error)

// askers is the read half of the table; a test holds both to the same names.
var askers = map[string]asker{
	"account":           ask((*Reader).account),
	"content_matches":   ask((*Reader).contentMatches),
	"directory_entries": ask((*Reader).directoryEntries),
	"env_file":          ask((*Reader).envFile),
	"file_digest":       ask((*Reader).fileDigest),
	"file_stat":         ask((*Reader).fileStat),
	"group_entry":       ask((*Reader).groupEntry),
	"line_state":        ask((*Reader).lineState),
	"package":           ask((*Reader).packageState),
	"package_compare":   ask((*Reader).packageCompare),
	"package_simulate":  ask((*Reader).packageSimulate),
	"path_exists":       ask((*Reader).pathExists),
	"unit":              ask((*Reader).unit),
	"user_entry":        ask((*Reader).userEntry),
}

// Ask answers a capability of the read side.
func (r *Reader) Ask(ctx context.Context, capability string, request []byte) ([]byte, error) {
	f := askers[capability]
	if f == nil {
		return nil, fmt.Errorf("no capability %q on the read side", capability)
	}
	return f(ctx, r, request)
}

// ask makes an asker of a method: it decodes the request, and turns a fault into an error reply. Any other error is the
// caller's.
func ask[Request, Reply any](f func(r *Reader, ctx context.Context, q Request) (Reply, error)) asker {
	return func(ctx context.Context, r *Reader, request []byte) ([]byte, error) {
		var q Request
		if err := decode(request, &q); err != nil {
			return nil, err
		}
		reply, err := f(r, ctx, q)
		return encode(reply, err)
	}
}

// decode reads a request, strictly.
func decode(request []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(request))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("malformed request: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("malformed request: something follows it")
	}
	return nil
}

// errorReply is the reply of a question or an effect that failed.
type errorReply struct {
	Error *fault.Error `json:"error"`
}

// encode makes the reply. A mistake of the caller's stays a Go error.
func encode(reply any, err error) ([]byte, error) {
	if err == nil {
		return canonical.Marshal(reply)
	}
	var misuse *misuseError
	if errors.As(err, &misuse) {
		return nil, misuse
	}
	return canonical.Marshal(errorReply{fault.Of(err)})
}

// misuseError is a request that no working plugin makes.
type misuseError struct{ error }

func misuse(err error) error {
	if err == nil {
		return nil
	}
	return &misuseError{err}
}

func misusef(format string, args ...any) error { return &misuseError{fmt.Errorf(format, args...)} }
