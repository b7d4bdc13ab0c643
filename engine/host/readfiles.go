package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/secret"
)

type pathRequest struct {
	Path string `json:"path"`
}

type idRequest struct {
	ID string `json:"id"`
}

// StatReply is the reply to file_stat. Size and Nlink are those of a file; a directory's change with what lies in it.
type StatReply struct {
	Exists        bool             `json:"exists"`
	Kind          string           `json:"kind,omitempty"`
	Mode          string           `json:"mode,omitempty"`
	Owner         string           `json:"owner,omitempty"`
	Group         string           `json:"group,omitempty"`
	UID           *uint32          `json:"uid,omitempty"`
	GID           *uint32          `json:"gid,omitempty"`
	Size          *int64           `json:"size,omitempty"`
	Nlink         *uint64          `json:"nlink,omitempty"`
	Target        string           `json:"target,omitempty"`
	Empty         *bool            `json:"empty,omitempty"`
	MissingParent string           `json:"missing_parent,omitempty"`
	BadParent     *files.BadParent `json:"bad_parent,omitempty"`
}

// Mode writes permission bits as every report has them: four octal digits.
func Mode(bits uint32) string { return fmt.Sprintf("%04o", bits&0o7777) }

func (r *Reader) fileStat(_ context.Context, q pathRequest) (StatReply, error) {
	s, err := r.tree.Stat(q.Path)
	if err != nil {
		return StatReply{}, err
	}
	reply, err := r.describe(s)
	if reply.Size != nil && len(r.secretPaths) > 0 && r.holdsSecret(path.Clean(q.Path)) {
		reply.Size = nil // it would narrow the secret down
	}
	return reply, err
}

// describe adds the names of the owners.
func (r *Reader) describe(s files.Stat) (StatReply, error) {
	if !s.Exists {
		return StatReply{MissingParent: s.MissingParent, BadParent: s.BadParent}, nil
	}
	owner, err := r.cfg.Accounts.UserName(s.UID)
	if err != nil {
		return StatReply{}, err
	}
	group, err := r.cfg.Accounts.GroupName(s.GID)
	if err != nil {
		return StatReply{}, err
	}
	reply := StatReply{
		Exists: true, Kind: s.Kind, Mode: Mode(s.Mode), Owner: owner, Group: group, UID: &s.UID, GID: &s.GID,
		Target: s.Target, Empty: s.Empty,
	}
	if s.Kind == fsys.KindFile {
		reply.Size, reply.Nlink = &s.Size, &s.Nlink
	}
	return reply, nil
}

type digestReply struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}

func (r *Reader) fileDigest(_ context.Context, q pathRequest) (digestReply, error) {
	// The plain digest of a short secret gives the secret away.
	if r.holdsSecret(q.Path) {
		if at := r.at[q.Path]; at != nil && len(at.Secrets) == 0 {
			// Whoever declared this resource could not know that it is the same file.
			return digestReply{}, fault.New(fault.PermissionDenied, "%s is another name of a file that holds a secret; declare that file once", q.Path)
		}
		return digestReply{}, misusef("%s holds a secret, whose digest does not leave the host side", q.Path)
	}
	sha, size, err := r.tree.Digest(q.Path)
	return digestReply{sha, size}, err
}

type existsReply struct {
	Exists bool   `json:"exists"`
	Kind   string `json:"kind,omitempty"`
}

func (r *Reader) pathExists(_ context.Context, q pathRequest) (existsReply, error) {
	exists, kind, err := r.tree.Exists(q.Path)
	return existsReply{exists, kind}, err
}

// maxEntries is how many names of a directory a reply carries.
const maxEntries = 1000

type entriesReply struct {
	Names []string `json:"names"`
	More  bool     `json:"more"`
}

func (r *Reader) directoryEntries(_ context.Context, q pathRequest) (entriesReply, error) {
	names, more, err := r.tree.Names(q.Path, maxEntries)
	return entriesReply{append([]string{}, names...), more}, err
}

// The words for a secret in a report.
const (
	match   = "match"
	differs = "differs"
	absent  = "absent"
	present = "present"
)

type matchReply struct {
	Match string `json:"match"`
}

func (r *Reader) contentMatches(ctx context.Context, q idRequest) (matchReply, error) {
	res, err := r.find(q.ID, "file")
	if err != nil {
		return matchReply{}, misuse(err)
	}
	ref, ok := res.Secrets["content"]
	if !ok {
		return matchReply{}, misusef("the content of %s is no secret", q.ID)
	}
	want, err := r.cfg.Secrets.Resolve(ctx, ref)
	if err != nil {
		return matchReply{}, err
	}
	p := pathOf(res)
	s, err := r.tree.Stat(p)
	switch {
	case err != nil:
		return matchReply{}, err
	case !s.Exists:
		return matchReply{absent}, nil
	case s.Kind != fsys.KindFile || s.Size != int64(len(want.Bytes())):
		return matchReply{differs}, nil
	}
	have, err := r.tree.Read(p, s.Size)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return matchReply{absent}, nil
	case err != nil:
		return matchReply{}, err
	case want.Equal(have):
		return matchReply{match}, nil
	}
	return matchReply{differs}, nil
}

// holdsSecret says whether a resource of this run declares a secret in the file at a path.
func (r *Reader) holdsSecret(p string) bool {
	if r.secretPaths[p] {
		return true
	}
	real, err := r.tree.Resolve(p)
	return err == nil && r.secretPaths[real]
}

// hash begins the digest of what stands at a path, keyed when it holds a secret; nil when there is no key to do it.
func (r *Reader) hash(p string) (hash.Hash, func(hash.Hash) string, error) {
	if !r.holdsSecret(p) {
		return sha256.New(), func(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }, nil
	}
	key, ok, err := secret.LoadKey(r.tree, r.cfg.StateDir)
	if err != nil || !ok {
		return nil, nil, err
	}
	return key.NewHash(), secret.Sum, nil
}

// Look examines an input of a unit, following symlinks as systemd does.
func (r *Reader) Look(p string) (InputFact, error) {
	s, real, err := r.tree.Follow(p)
	if err != nil || !s.Exists {
		return InputFact{}, err
	}
	own, err := r.linkItself(p)
	if err != nil {
		return InputFact{}, err
	}
	fact := InputFact{Exists: true, Kind: s.Kind, CTime: max(s.CTime, own.CTime), MTime: max(s.MTime, own.MTime)}
	switch s.Kind {
	case fsys.KindDirectory:
		fact.MTime = 0
		h := sha256.Sum256(fmt.Appendf(nil, "%s %d:%d", Mode(s.Mode), s.UID, s.GID))
		fact.Digest = "sha256:" + hex.EncodeToString(h[:])
	case fsys.KindFile:
		h, sum, err := r.hash(real)
		if err != nil || h == nil {
			return fact, err
		}
		if err := r.tree.CopyAnywhere(real, h); err != nil {
			return InputFact{}, err
		}
		fact.Digest = sum(h)
	case fsys.KindChar:
		fact.Digest = "device" // /dev/null masks a unit or a drop-in
	default:
		return InputFact{}, fault.New(fault.Invalid, "%s is a %s, which no unit is started from", p, s.Kind)
	}
	if declared := r.at[path.Clean(p)]; declared != nil && declared.Type == "symlink" && own.Target != "" && fact.Digest != "" {
		// The same content behind another link is another input: a name may matter to what reads it.
		h := sha256.Sum256([]byte("symlink " + own.Target + "\n" + fact.Digest))
		fact.Digest = "sha256:" + hex.EncodeToString(h[:])
	}
	return fact, nil
}

// linkItself tells of the name itself where it is a symlink: pointing it elsewhere is a change too.
func (r *Reader) linkItself(p string) (files.Stat, error) {
	exists, kind, err := r.tree.Exists(p)
	if err != nil || !exists || kind != fsys.KindSymlink {
		return files.Stat{}, err
	}
	return r.tree.StatAnywhere(p)
}
