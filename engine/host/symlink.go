package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
)

// linkDigest is the digest of a symlink's text. The prefix keeps it apart from that of a file which holds the same.
func linkDigest(target string) string {
	sum := sha256.Sum256([]byte("symlink " + target))
	return "sha256:" + hex.EncodeToString(sum[:])
}

type linkRequest struct {
	ID    string `json:"id"`
	Path  string `json:"path"`
	Owner string `json:"owner"`
	Group string `json:"group"`
}

// symlinkMake makes a link with the text that the resource declares.
func (w *Writer) symlinkMake(ctx context.Context, q linkRequest) (done, error) {
	res, err := w.owned(replaceRequest{ID: q.ID, Path: q.Path}, "symlink")
	if err != nil {
		return done{}, err
	}
	var d struct {
		Target string `json:"target"`
	}
	if err := declaredOf(res.ID, res.Declared, &d); err != nil {
		return done{}, err
	}
	if d.Target == "" {
		return done{}, misusef("%s declares no target", res.ID)
	}
	owner, err := w.idsOf(q.Owner, q.Group)
	if err != nil {
		return done{}, err
	}
	e := Effect{Resource: res.ID, Name: "symlink_make", Target: q.Path, After: linkDigest(d.Target)}
	return done{}, w.changeFile(ctx, e, func() error { return w.tree.Link(q.Path, d.Target, owner.UID, owner.GID) })
}

type linkOwnerRequest struct {
	Path  string `json:"path"`
	Owner string `json:"owner"`
	Group string `json:"group"`
}

func (w *Writer) symlinkOwner(_ context.Context, q linkOwnerRequest) (done, error) {
	owner, err := w.idsOf(q.Owner, q.Group)
	if err != nil {
		return done{}, err
	}
	e := Effect{Resource: w.target(q.Path), Name: "symlink_owner", Target: q.Path}
	return done{}, w.effect(e, func() error { return w.tree.ChownLink(q.Path, owner.UID, owner.GID) })
}

func (w *Writer) symlinkRemove(ctx context.Context, q pathRequest) (done, error) {
	e := Effect{Resource: w.target(q.Path), Name: "symlink_remove", Target: path.Clean(q.Path)}
	return done{}, w.changeFile(ctx, e, func() error { return w.tree.RemoveLink(q.Path) })
}
