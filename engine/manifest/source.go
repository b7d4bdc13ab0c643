package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"gyrum.ai/engine/resource"
)

// sources is a role's files folder.
type sources struct {
	catalog *Catalog
	dir     string
	root    *os.Root
	problem string
}

// openSources opens host-roles/<role>/files. None of the three folders may be a link.
func (c *Catalog) openSources(role string) *sources {
	s := &sources{catalog: c, dir: path.Join(rolesDir, role, filesDir)}
	for _, p := range []string{rolesDir, path.Join(rolesDir, role), s.dir} {
		info, err := c.root.Lstat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			s.problem = "there is no folder " + p
			return s
		case err != nil:
			s.problem = p + " cannot be read: " + bare(err).Error()
			return s
		case !info.IsDir():
			s.problem = p + " is no folder (a link is not followed)"
			return s
		}
	}
	root, err := c.root.OpenRoot(s.dir)
	if err != nil {
		s.problem = s.dir + " cannot be read: " + bare(err).Error()
	}
	s.root = root
	return s
}

// content digests a source now and opens it again when it is written; problem says why it cannot be used (R10).
func (s *sources) content(name string) (c *resource.Content, problem string) {
	if s.problem != "" {
		return nil, s.problem
	}
	raw, err := s.read(name)
	if err != nil {
		return nil, err.Error()
	}
	sum := sha256.Sum256(raw)
	digest := hex.EncodeToString(sum[:])
	full := path.Join(s.dir, name)
	s.catalog.seen(full, raw)
	return &resource.Content{SHA256: digest, Size: int64(len(raw)), Source: full, Open: func() ([]byte, error) {
		raw, err := s.read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", full, err)
		}
		if again := sha256.Sum256(raw); again != sum {
			return nil, fmt.Errorf("%s has changed since it was planned (sha256 %x, planned %s); check again", full, again, digest)
		}
		return raw, nil
	}}, ""
}

// read reads a source that is a regular file inside the folder.
func (s *sources) read(name string) ([]byte, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s does not exist", path.Join(s.dir, name))
	case err != nil && strings.Contains(err.Error(), "escapes"):
		return nil, fmt.Errorf("%s is a link that leads out of the folder", path.Join(s.dir, name))
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path.Join(s.dir, name), bare(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path.Join(s.dir, name))
	}
	if info.Size() > MaxSource {
		return nil, fmt.Errorf("%s has %d bytes, more than %d; larger payloads travel in packages", path.Join(s.dir, name), info.Size(), MaxSource)
	}
	raw, err := appendAll(make([]byte, 0, info.Size()+1), io.LimitReader(f, MaxSource+1))
	if err != nil {
		return nil, bare(err)
	}
	if len(raw) > MaxSource {
		return nil, fmt.Errorf("%s has more than %d bytes; larger payloads travel in packages", path.Join(s.dir, name), MaxSource)
	}
	return raw, nil
}
