package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/resource"
)

type replaceRequest struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Mode  string `json:"mode"`
	Owner string `json:"owner"`
	Group string `json:"group"`
}

// owned gives the resource that a request names and refuses a path that is not the resource's.
func (w *Writer) owned(q replaceRequest, typ string) (*resource.Resource, error) {
	res, err := w.r.find(q.ID, typ)
	if err != nil {
		return nil, misuse(err)
	}
	if pathOf(res) != path.Clean(q.Path) {
		return nil, misusef("%s does not own %s", q.ID, q.Path)
	}
	return res, nil
}

func (w *Writer) fileReplace(ctx context.Context, q replaceRequest) (done, error) {
	res, err := w.owned(q, "file")
	if err != nil {
		return done{}, err
	}
	content, err := w.content(ctx, res)
	if err != nil {
		return done{}, err
	}
	return done{}, w.replace(ctx, "file_replace", q, res, content)
}

// content gives the bytes that a file resource is to hold.
func (w *Writer) content(ctx context.Context, res *resource.Resource) ([]byte, error) {
	if ref, ok := res.Secrets["content"]; ok {
		value, err := w.r.cfg.Secrets.Resolve(ctx, ref)
		return value.Bytes(), err
	}
	if res.Content == nil {
		return nil, misusef("%s declares no content", res.ID)
	}
	raw, err := res.Content.Open()
	if err != nil {
		return nil, fault.Of(err)
	}
	sum := sha256.Sum256(raw)
	if got := hex.EncodeToString(sum[:]); got != res.Content.SHA256 {
		return nil, fault.New(fault.Invalid, "%s: its content is no longer the one that was planned: plan again", res.ID)
	}
	return raw, nil
}

func (w *Writer) envReplace(ctx context.Context, q replaceRequest) (done, error) {
	res, err := w.owned(q, "env")
	if err != nil {
		return done{}, err
	}
	content, err := w.r.render(ctx, res)
	if err != nil {
		return done{}, err
	}
	return done{}, w.replace(ctx, "env_replace", q, res, content)
}

// replace writes a file and marks the reload that it makes due.
func (w *Writer) replace(ctx context.Context, name string, q replaceRequest, res *resource.Resource, content []byte) error {
	owner, err := w.ownerOf(q.Mode, q.Owner, q.Group)
	if err != nil {
		return err
	}
	after, err := w.digest(q.Path, content)
	if err != nil {
		return err
	}
	e := Effect{Resource: res.ID, Name: name, Target: q.Path, After: after}
	return w.changeFile(ctx, e, func() error { return w.tree.Replace(q.Path, content, owner) })
}

// changeFile performs an effect on the content of a path with its digest before.
func (w *Writer) changeFile(ctx context.Context, e Effect, perform func() error) error {
	var err error
	if e.Before, err = w.digestAt(e.Target); err != nil {
		return err
	}
	return w.effect(e, func() error { return w.marking(ctx, e, perform) })
}

// ensureKey makes the key of secret digests when there is none.
func (w *Writer) ensureKey() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := secret.EnsureKey(w.tree, w.r.cfg.StateDir)
	return err
}

// digest gives the digest of content that is to stand at a path.
func (w *Writer) digest(p string, content []byte) (string, error) {
	if w.r.holdsSecret(p) {
		if err := w.ensureKey(); err != nil {
			return "", err
		}
	}
	h, sum, err := w.r.hash(p)
	if err != nil {
		return "", err
	}
	h.Write(content)
	return sum(h), nil
}

// digestAt gives the digest of the regular file or of the symlink's text at a path, empty when there is none.
func (w *Writer) digestAt(p string) (string, error) {
	if w.r.holdsSecret(p) {
		if err := w.ensureKey(); err != nil {
			return "", err
		}
	}
	return w.digestNow(p)
}

// digestNow is digestAt once the key is there.
func (w *Writer) digestNow(p string) (string, error) {
	s, err := w.r.tree.Stat(p)
	if err == nil && s.Kind == fsys.KindSymlink {
		return linkDigest(s.Target), nil
	}
	if err != nil || !s.Exists || s.Kind != fsys.KindFile {
		return "", err
	}
	h, sum, err := w.r.hash(p)
	if err != nil {
		return "", err
	}
	if err := w.r.tree.CopyAnywhere(p, h); err != nil {
		return "", err
	}
	return sum(h), nil
}

// target finds whose path it is.
func (w *Writer) target(p string) string {
	if res := w.r.at[path.Clean(p)]; res != nil {
		return res.ID
	}
	return ""
}

type modeRequest struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Kind string `json:"kind"`
}

func (w *Writer) fileMode(_ context.Context, q modeRequest) (done, error) {
	bits, err := parseMode(q.Mode)
	if err == nil {
		err = checkKind(q.Kind)
	}
	if err != nil {
		return done{}, err
	}
	e := Effect{Resource: w.target(q.Path), Name: "file_mode", Target: q.Path}
	return done{}, w.effect(e, func() error { return w.tree.Chmod(q.Path, bits, q.Kind) })
}

func checkKind(kind string) error {
	if kind != fsys.KindFile && kind != fsys.KindDirectory {
		return misusef("kind %q is neither file nor directory", kind)
	}
	return nil
}

type ownerRequest struct {
	Path  string `json:"path"`
	Owner string `json:"owner"`
	Group string `json:"group"`
	Mode  string `json:"mode"`
	Kind  string `json:"kind"`
}

func (w *Writer) fileOwner(_ context.Context, q ownerRequest) (done, error) {
	if err := checkKind(q.Kind); err != nil {
		return done{}, err
	}
	owner, err := w.ownerOf(q.Mode, q.Owner, q.Group)
	if err != nil {
		return done{}, err
	}
	e := Effect{Resource: w.target(q.Path), Name: "file_owner", Target: q.Path}
	return done{}, w.effect(e, func() error { return w.tree.Chown(q.Path, owner, q.Kind) })
}

func (w *Writer) fileRemove(ctx context.Context, q pathRequest) (done, error) {
	e := Effect{Resource: w.target(q.Path), Name: "file_remove", Target: q.Path}
	return done{}, w.changeFile(ctx, e, func() error { return w.tree.Remove(q.Path) })
}

type makeRequest struct {
	Path  string `json:"path"`
	Mode  string `json:"mode"`
	Owner string `json:"owner"`
	Group string `json:"group"`
}

func (w *Writer) directoryMake(_ context.Context, q makeRequest) (done, error) {
	owner, err := w.ownerOf(q.Mode, q.Owner, q.Group)
	if err != nil {
		return done{}, err
	}
	e := Effect{Resource: w.target(q.Path), Name: "directory_make", Target: q.Path}
	return done{}, w.effect(e, func() error { return w.tree.MakeDirectory(q.Path, owner) })
}

func (w *Writer) directoryRemove(_ context.Context, q pathRequest) (done, error) {
	e := Effect{Resource: w.target(q.Path), Name: "directory_remove", Target: q.Path}
	return done{}, w.effect(e, func() error { return w.tree.RemoveDirectory(q.Path) })
}
