package lint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// ErrRevision says that the revision to compare with is none.
var ErrRevision = errors.New("no commit to compare with")

// errNoGit says that there is nothing to compare with, which is nobody's mistake.
var errNoGit = errors.New("no git, no checkout, or no commit")

// repository asks git about the checkout that a catalog lies in. git itself is asked, not its files, because a revision
// may be named in any of git's ways and old files pass through git's filters.
type repository struct{ dir string }

// git runs git in the catalog's folder. Paths that it gives and takes are relative to that folder.
func (r repository) git(in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}, args...)...)
	cmd.Dir, cmd.Stdin = r.dir, in
	cmd.Env = append(slices.DeleteFunc(os.Environ(), ofHook), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return nil, fmt.Errorf("git %s: %s", args[0], text)
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// ofHook says whether a variable is one that git gives to hooks: the folders in it are relative to the worktree's root.
func ofHook(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
}

func (r repository) line(args ...string) (string, error) {
	out, err := r.git(nil, args...)
	return strings.TrimSpace(string(out)), err
}

// base gives the commit to compare with.
func (r repository) base(since string) (string, error) {
	if since != "" {
		rev, err := r.line("rev-parse", "--verify", "--quiet", "--end-of-options", since+"^{commit}")
		if err != nil {
			return "", fmt.Errorf("%w: %q is none in the checkout of the catalog", ErrRevision, since)
		}
		base, err := r.line("merge-base", rev, "HEAD")
		if err != nil {
			return "", fmt.Errorf("%w: %q and HEAD have none in common; is the clone shallow?", ErrRevision, since)
		}
		return base, nil
	}
	head, err := r.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", errNoGit
	}
	changed, err := r.changed(head)
	if err != nil || len(changed) > 0 {
		return head, err
	}
	if head, err = r.line("rev-parse", "--verify", "--quiet", "HEAD^1^{commit}"); err != nil {
		return "", errNoGit
	}
	return head, nil
}

// changed lists the roles of which a file differs from a commit.
func (r repository) changed(base string) ([]string, error) {
	out, err := r.git(nil, "diff", "--name-only", "--relative", "--no-renames", "-z", base, "--", "host-roles")
	if err != nil {
		return nil, err
	}
	var roles []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		role, _, _ := strings.Cut(strings.TrimPrefix(name, "host-roles/"), "/")
		if role = strings.TrimSuffix(role, ".yaml"); role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles), nil
}

// extract writes a commit's manifests and sources of some roles into a folder.
func (r repository) extract(base string, roles []string, into string) error {
	args := []string{"ls-tree", "-r", "-z", base, "--"}
	for _, role := range roles {
		args = append(args, "host-roles/"+role+".yaml", "host-roles/"+role+"/")
	}
	listed, err := r.git(nil, args...)
	if err != nil {
		return err
	}
	type file struct {
		name string
		link bool
	}
	var files []file
	var asked bytes.Buffer
	for entry := range strings.SplitSeq(string(listed), "\x00") {
		meta, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 3 || fields[1] != "blob" || strings.Contains(name, "\n") {
			continue
		}
		files = append(files, file{name, fields[0] == "120000"})
		fmt.Fprintf(&asked, "%s %s\n", fields[2], name)
	}
	out, err := r.git(&asked, "cat-file", "--batch", "--filters")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	b := bufio.NewReader(bytes.NewReader(out))
	for _, f := range files {
		head, err := b.ReadString('\n')
		if err != nil {
			return err
		}
		fields := strings.Fields(head)
		size, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil || len(fields) != 3 {
			return fmt.Errorf("git cat-file: %s: %s", f.name, strings.TrimSpace(head))
		}
		raw := make([]byte, size+1) // with the line feed that follows
		if _, err := io.ReadFull(b, raw); err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.name)), 0o700); err != nil {
			return err
		}
		if f.link {
			err = root.Symlink(string(raw[:size]), filepath.FromSlash(f.name))
		} else {
			err = root.WriteFile(filepath.FromSlash(f.name), raw[:size], 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// versions compares roles with what they were. Without Since, a catalog that is in no checkout has nothing to compare.
func (l *linter) versions(since string) error {
	repo := repository{l.catalog.Root()}
	base, err := repo.base(since)
	if errors.Is(err, errNoGit) {
		return nil
	}
	if err != nil {
		return err
	}
	changed, err := repo.changed(base)
	if err != nil {
		return err
	}
	changed = slices.DeleteFunc(changed, func(role string) bool { return l.catalog.Role(role) == nil })
	if len(changed) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "gyrum-lint-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "host-roles"), 0o700); err != nil {
		return err
	}
	if err := repo.extract(base, changed, dir); err != nil {
		return err
	}
	was, err := manifest.Open(dir)
	if err != nil {
		return err
	}
	defer was.Close()
	short := base[:min(len(base), 12)]
	for _, name := range changed {
		now, before := l.catalog.Role(name), was.Role(name)
		switch {
		case before == nil || !now.Complete || !before.Complete:
		case now.Version < before.Version:
			l.warn(now.VersionAt, RuleVersion, fmt.Sprintf("the version went back from %d (in %s) to %d", before.Version, short, now.Version), fmt.Sprintf("write version: %d, or higher when the resources changed", before.Version))
		case now.Version == before.Version && !sameResources(now, before):
			l.warn(now.VersionAt, RuleVersion, fmt.Sprintf("the resources changed since %s and the version is still %d", short, now.Version), fmt.Sprintf("write version: %d", now.Version+1))
		}
	}
	return nil
}

// sameResources says whether two manifests declare the same in the same order, contents and sources included.
func sameResources(a, b *manifest.RoleRecord) bool {
	return slices.EqualFunc(a.Resources, b.Resources, func(x, y resource.Resource) bool { return bytes.Equal(x.View, y.View) })
}
