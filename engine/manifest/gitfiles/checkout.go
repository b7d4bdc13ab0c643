// Package gitfiles answers three questions about a git checkout by reading its files: which commit is checked out,
// whether some files are as committed, and how far the upstream branch is ahead. It starts no process, so that neither
// a repository's configuration nor its owner has a say in what runs, and writes nothing.
//
// Formats: gitrepository-layout(5), gitformat-pack(5).
package gitfiles

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrNone says that a folder is in no checkout, or in one of a form that is not read.
var ErrNone = errors.New("no git checkout")

// ID is an object's name, in hexadecimal.
type ID string

// Checkout is an opened checkout at its present commit.
type Checkout struct {
	// Head is the commit that is checked out.
	Head ID
	// prefix is the opened folder within the worktree, "" for its root.
	prefix string
	branch string // the full name of the checked-out branch, "" when detached
	gitDir string // of this worktree
	common string // of the repository
	store  *store
	trees  map[string]map[string]entry
	root   ID // the commit's tree
}

// entry is one name in a tree.
type entry struct {
	id  ID
	dir bool
}

// Open finds the checkout that a folder lies in and reads its present commit.
func Open(folder string) (*Checkout, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		gitDir, err := gitDirOf(dir)
		if err == nil {
			prefix, err := filepath.Rel(dir, abs)
			if err != nil {
				return nil, err
			}
			if prefix == "." {
				prefix = ""
			}
			return open(gitDir, filepath.ToSlash(prefix))
		}
		if dir == filepath.Dir(dir) {
			return nil, ErrNone
		}
	}
}

// gitDirOf gives the .git of a folder, following the file that linked worktrees and submodules have.
func gitDirOf(dir string) (string, error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return dot, nil
	}
	line, err := readLine(dot)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(line, "gitdir: ")
	if !ok {
		return "", ErrNone
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return to, nil
}

func open(gitDir, prefix string) (*Checkout, error) {
	c := &Checkout{prefix: prefix, gitDir: gitDir, common: gitDir, trees: map[string]map[string]entry{}}
	if to, err := readLine(filepath.Join(gitDir, "commondir")); err == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(gitDir, to)
		}
		c.common = to
	}
	head, err := readLine(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return nil, err
	}
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		c.branch = ref
		if head, err = c.ref(ref, 0); err != nil {
			return nil, err
		}
	}
	if !isID(head) {
		return nil, ErrNone
	}
	c.Head = ID(head)
	c.store = &store{folders: objectFolders(c.common), size: len(head) / 2}
	return c, nil
}

// Close lets go of the files that reading opened.
func (c *Checkout) Close() { c.store.close() }

// ref resolves a full name such as refs/heads/main.
func (c *Checkout) ref(name string, depth int) (string, error) {
	if depth > 5 || !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") {
		return "", ErrNone
	}
	for _, dir := range []string{c.gitDir, c.common} {
		line, err := readLine(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		if to, ok := strings.CutPrefix(line, "ref: "); ok {
			return c.ref(to, depth+1)
		}
		return line, nil
	}
	f, err := os.Open(filepath.Join(c.common, "packed-refs"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if id, ref, ok := strings.Cut(s.Text(), " "); ok && ref == name {
			return id, nil
		}
	}
	return "", fmt.Errorf("%w: %s has no commit", ErrNone, name)
}

// Blob gives the name that git has for a file's bytes as they are: line endings and filters are not applied.
func (c *Checkout) Blob(raw []byte) ID {
	var h hash.Hash = sha1.New()
	if len(c.Head) == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(raw))
	h.Write(raw)
	return ID(hex.EncodeToString(h.Sum(nil)))
}

// Committed gives the blob that the present commit has at a path in the opened folder, "" where it has none.
func (c *Checkout) Committed(name string) (ID, error) {
	if c.root == "" {
		commit, err := c.store.commit(c.Head)
		if err != nil {
			return "", err
		}
		c.root = commit.tree
	}
	full := path.Join(c.prefix, name)
	tree, err := c.tree(path.Dir(full))
	if err != nil || tree == nil {
		return "", err
	}
	if e, ok := tree[path.Base(full)]; ok && !e.dir {
		return e.id, nil
	}
	return "", nil
}

// tree gives the names in a folder of the present commit, nil where it has no such folder.
func (c *Checkout) tree(dir string) (map[string]entry, error) {
	if t, known := c.trees[dir]; known {
		return t, nil
	}
	id := c.root
	if dir != "." {
		above, err := c.tree(path.Dir(dir))
		if err != nil {
			return nil, err
		}
		e, ok := above[path.Base(dir)]
		if !ok || !e.dir {
			c.trees[dir] = nil
			return nil, nil
		}
		id = e.id
	}
	kind, raw, err := c.store.object(id)
	if err != nil {
		return nil, err
	}
	if kind != kindTree {
		return nil, fmt.Errorf("%s is no tree", id)
	}
	t, err := c.store.parseTree(raw)
	c.trees[dir] = t
	return t, err
}

// isID says whether s is an object's name, by SHA-1 or SHA-256.
func isID(s string) bool {
	if len(s) != 2*sha1.Size && len(s) != 2*sha256.Size {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// readLine reads a small file's only line.
func readLine(name string) (string, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if len(raw) > 4096 {
		return "", ErrNone
	}
	return string(bytes.TrimSpace(raw)), nil
}
