package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"gyrum.ai/engine/manifest/gitfiles"
	"gyrum.ai/engine/resource"
)

// Catalog is an opened catalog. Its files are read when they are first asked for, each once, through the root, so that
// no link leads out of it. It is safe for concurrent use.
type Catalog struct {
	path     string
	root     *os.Root
	hosts    []string // names, sorted
	roles    []string
	stray    []Finding // files with a wrong extension
	reserved []string
	// own are the definitions of the catalog's own types, declined why others of them cannot be used.
	own      map[string]*alt
	declined map[string]string

	catalog  func() (*catalogRecord, []Finding)
	checkout func() *gitfiles.Checkout

	mu        sync.Mutex
	roleFiles map[string]func() (*role, []Finding)
	hostFiles map[string]func() (*host, []Finding)
	blobs     map[string]gitfiles.ID // what git calls the bytes that were read, by file
}

// ErrNoCatalog says that a folder cannot be opened or is no catalog; who asked for it knows how another one is named.
var ErrNoCatalog = errors.New("no catalog")

// noCatalog is ErrNoCatalog in other words.
type noCatalog struct{ error }

func (noCatalog) Is(target error) bool { return target == ErrNoCatalog }
func (e noCatalog) Unwrap() error      { return e.error }

// Open opens the catalog in a folder and lists its hosts and roles; it reads no manifest yet. The error is
// ErrNoCatalog when the folder is none.
func Open(root string) (*Catalog, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, noCatalog{fmt.Errorf("open catalog %s: %w", root, bare(err))}
	}
	c := &Catalog{
		path: root, root: r,
		reserved:  []string{"/var/lib/gyrum", "/var/cache/gyrum"},
		roleFiles: map[string]func() (*role, []Finding){},
		hostFiles: map[string]func() (*host, []Finding){},
		blobs:     map[string]gitfiles.ID{},
	}
	var missing int
	for dir, into := range map[string]*[]string{hostsDir: &c.hosts, rolesDir: &c.roles} {
		names, stray, err := c.list(dir)
		if errors.Is(err, fs.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("open catalog %s: %s: %w", root, dir, bare(err))
		}
		*into = names
		c.stray = append(c.stray, stray...)
	}
	if missing == 2 {
		r.Close()
		return nil, noCatalog{fmt.Errorf("%s is no catalog: it has neither %s/ nor %s/", root, hostsDir, rolesDir)}
	}
	Sort(c.stray)
	c.catalog = sync.OnceValues(c.readCatalog)
	c.checkout = sync.OnceValue(c.openCheckout)
	return c, nil
}

// Close lets go of the folder. Contents that were not opened yet cannot be read afterwards.
func (c *Catalog) Close() error {
	if co := c.checkout(); co != nil {
		co.Close()
	}
	return c.root.Close()
}

// Root is the folder as it was given to Open.
func (c *Catalog) Root() string { return c.path }

// HostNames lists the hosts that have a record, sorted.
func (c *Catalog) HostNames() []string { return slices.Clone(c.hosts) }

// RoleNames lists the roles that have a manifest, sorted.
func (c *Catalog) RoleNames() []string { return slices.Clone(c.roles) }

// Reserve names further folders that no manifest may own a path in, beside /var/lib/gyrum and /var/cache/gyrum: the
// state and cache folders of this run. Relative ones are taken from the working directory.
func (c *Catalog) Reserve(folders ...string) {
	for _, f := range folders {
		if f == "" {
			continue
		}
		if abs, err := filepath.Abs(f); err == nil {
			c.reserved = append(c.reserved, abs)
		}
	}
}

// list gives the stems of a folder's .yaml files, and what looks like a manifest with another extension.
func (c *Catalog) list(dir string) (stems []string, stray []Finding, err error) {
	d, err := c.root.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		name := e.Name()
		stem, ok := strings.CutSuffix(name, extension)
		switch {
		case strings.HasPrefix(name, "."):
		case ok:
			stems = append(stems, stem)
		case e.IsDir():
		case strings.EqualFold(filepath.Ext(name), ".yml"), strings.EqualFold(filepath.Ext(name), extension):
			stray = append(stray, Finding{Pos: resource.Position{File: path.Join(dir, name)}, Rule: "R3", Severity: SeverityError,
				Message: "a manifest's file ends in .yaml", Hint: "rename it to " + strings.TrimSuffix(name, filepath.Ext(name)) + extension})
		}
	}
	slices.Sort(stems)
	return stems, stray, nil
}

// read gives a file's bytes; a finding says why it could not be read.
func (c *Catalog) read(name string) ([]byte, *report) {
	r := &report{file: name}
	// A named pipe must not keep us waiting for somebody to write into it.
	f, err := c.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		c.unreadable(r, err)
		return nil, r
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	var raw []byte
	if err == nil {
		raw = make([]byte, 0, min(info.Size(), MaxFile)+512)
		raw, err = appendAll(raw, io.LimitReader(f, MaxFile+1))
	}
	if err != nil {
		c.unreadable(r, err)
		return nil, r
	}
	c.seen(name, raw)
	return raw, r
}

var errNotRegular = errors.New("it is no regular file")

// unreadable says why a file could not be read, and what to do about it.
func (c *Catalog) unreadable(r *report, err error) {
	var mode fs.FileMode
	if info, err := c.root.Lstat(filepath.FromSlash(r.file)); err == nil {
		mode = info.Mode()
	}
	say := func(message, hint string) { r.add(0, 0, RuleRead, "", message, hint) }
	link := mode&fs.ModeSymlink != 0
	switch {
	case errors.Is(err, fs.ErrPermission):
		say("this user may not read the file (permission denied)", "let the user read it and search the folders above it, or run gyrum as one who may")
	case link && errors.Is(err, fs.ErrNotExist):
		say("the link leads to nothing", "put the file there, or delete the link")
	case link && errors.Is(err, syscall.ELOOP):
		say("the link leads to itself", "put the file there, or delete the link")
	case link && strings.Contains(err.Error(), "escapes"): // os.Root has no error value for it
		say("the link leads out of the catalog", "put the file itself here, or link to one inside the catalog")
	case link && (errors.Is(err, errNotRegular) || errors.Is(err, syscall.ENXIO)):
		say("the link leads to something that is no regular file", "put the file there, or delete the link")
	case mode.IsDir():
		say("this is a folder, not a file", "a manifest is one file; rename the folder, or delete it")
	case mode&fs.ModeNamedPipe != 0:
		say("this is a named pipe, not a regular file", "put the file there, or delete it")
	case mode&(fs.ModeSocket|fs.ModeDevice) != 0:
		say("this is a socket or a device, not a regular file", "put the file there, or delete it")
	default:
		say("the file cannot be read: "+bare(err).Error(), "")
	}
}

// appendAll is io.ReadAll into a buffer that has room already.
func appendAll(b []byte, r io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// bare takes the operation and the path off an error: findings name the file themselves.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// catalogRecord is catalog.yaml.
type catalogRecord struct {
	exists   bool
	closed   bool // it has roles: the list of names is closed
	listed   map[string]bool
	roles    []*node
	defaults []*node
}

// readCatalog reads catalog.yaml, which may be missing.
func (c *Catalog) readCatalog() (*catalogRecord, []Finding) {
	if _, err := c.root.Lstat(catalogFile); errors.Is(err, fs.ErrNotExist) {
		return &catalogRecord{}, nil
	}
	raw, r := c.read(catalogFile)
	rec := &catalogRecord{exists: true}
	if len(r.findings) > 0 {
		return rec, r.findings
	}
	if n := parse(r, raw); n != nil {
		(&checker{report: r}).structure(n, definitions.Catalog, "")
		list := n.get("roles")
		rec.closed = list != nil && list.kind == kindList
		rec.roles, rec.defaults = n.strings("roles"), n.strings("defaults")
		rec.listed = make(map[string]bool, len(rec.roles))
		for _, n := range rec.roles {
			rec.listed[n.text] = true
		}
		unique(r, "roles", rec.roles)
		unique(r, "defaults", rec.defaults)
	}
	return rec, r.findings
}

// unique reports a name that a list holds twice.
func unique(r *report, field string, names []*node) {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n.text] {
			r.findings = append(r.findings, Finding{Pos: resource.Position{File: r.file, Line: n.line, Column: n.column}, Rule: RuleValue,
				Severity: SeverityWarn, Message: fmt.Sprintf("%s names %s twice", field, clip(n.text)), Hint: "the first place counts; delete the other", Path: field})
		}
		seen[n.text] = true
	}
}

// role reads a role's manifest once; the manifest is nil when it cannot be used.
func (c *Catalog) role(name string) (*role, []Finding) {
	c.mu.Lock()
	f := c.roleFiles[name]
	if f == nil {
		f = sync.OnceValues(func() (*role, []Finding) { return c.readRole(name) })
		c.roleFiles[name] = f
	}
	c.mu.Unlock()
	return f()
}

// host reads a host's record once.
func (c *Catalog) host(name string) (*host, []Finding) {
	c.mu.Lock()
	f := c.hostFiles[name]
	if f == nil {
		f = sync.OnceValues(func() (*host, []Finding) { return c.readHost(name) })
		c.hostFiles[name] = f
	}
	c.mu.Unlock()
	return f()
}

// has says whether a sorted list holds a name.
func has(sorted []string, name string) bool {
	_, ok := slices.BinarySearch(sorted, name)
	return ok
}
