package lint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/resource"
)

// errTooLarge is a finding of validation.
var errTooLarge = errors.New("the file is too large for a manifest")

// readManifest reads a regular file of a manifest's size.
func readManifest(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > manifest.MaxFile {
		return nil, errTooLarge
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, manifest.MaxFile+1))
	if err == nil && len(raw) > manifest.MaxFile {
		err = errTooLarge
	}
	return raw, err
}

// quiet says whether a name is let be: hidden files, and words for people.
func quiet(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".md")
}

// folders judges what lies in hosts/ and host-roles/ beside manifests, and the modes there.
func (l *linter) folders() {
	roles := map[string]bool{}
	for _, r := range l.catalog.RoleNames() {
		roles[r] = true
	}
	for _, dir := range []string{"hosts", "host-roles"} {
		entries, err := fs.ReadDir(l.files, dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			full := path.Join(dir, e.Name())
			at := resource.Position{File: full}
			ext := strings.ToLower(path.Ext(e.Name()))
			switch {
			case quiet(e.Name()):
			case !e.IsDir() && (ext == ".yaml" || ext == ".yml"): // .yml is a finding of validation
				l.manifestMode(full)
			case e.IsDir() && ext == ".yaml": // a finding of validation
			case !e.IsDir():
				l.warn(at, RuleStray, "nothing reads this file", "delete it, or name it as a manifest, "+full+".yaml")
			case dir == "hosts":
				l.warn(at, RuleStray, "nothing reads this folder", "a host is one file, hosts/<name>.yaml")
			case !roles[e.Name()]:
				l.warn(at, RuleStray, "there is no role "+e.Name()+" that this folder belongs to", "write "+full+".yaml, or delete the folder")
			default:
				l.roleFolder(full)
			}
		}
	}
	l.manifestMode("catalog.yaml")
}

// manifestMode judges the mode of a manifest; one that is missing has none.
func (l *linter) manifestMode(name string) {
	info, err := fs.Lstat(l.files, name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if mode := info.Mode().Perm(); mode&0o002 != 0 {
		l.warn(resource.Position{File: name}, RuleMode, fmt.Sprintf("everybody may write this file (mode %04o)", mode), "chmod o-w "+name)
	} else if mode&0o111 != 0 {
		l.warn(resource.Position{File: name}, RuleMode, fmt.Sprintf("a manifest is no program (mode %04o)", mode), "chmod a-x "+name)
	}
}

// roleFolder judges what lies beside files/ in a role's folder.
func (l *linter) roleFolder(dir string) {
	entries, err := fs.ReadDir(l.files, dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Name() != "files" && !quiet(e.Name()) {
			full := path.Join(dir, e.Name())
			l.warn(resource.Position{File: full}, RuleStray, "nothing reads this", "sources lie in "+dir+"/files/")
		}
	}
}

// sources judges a role's files folder against what the role names in it.
func (l *linter) sources(r *manifest.RoleRecord) {
	dir := path.Join("host-roles", r.Name, "files")
	used := map[string]*declared{}
	for i := range r.Resources {
		if c := r.Resources[i].Content; c != nil && c.Source != "" {
			d := decode(&r.Resources[i])
			for name, hops := path.Clean(c.Source), 0; name != "" && hops < 40; hops++ {
				if used[name] == nil || d.executable() {
					used[name] = d
				}
				name = l.target(dir, name)
			}
		}
	}
	if info, err := fs.Lstat(l.files, dir); err != nil || !info.IsDir() {
		return
	}
	// What cannot be read is passed over: where a resource names it, that is a finding of validation.
	_ = fs.WalkDir(l.files, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		at := resource.Position{File: name}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		mode := info.Mode().Perm()
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			if t, err := fs.Stat(l.files, name); err != nil || l.target(dir, name) == "" {
				l.warn(at, RuleLink, "this link leads to nothing in "+dir, "let it name a file there by a relative path, or delete it")
				return nil
			} else if t.IsDir() {
				return nil
			}
		case mode&0o002 != 0:
			l.warn(at, RuleMode, fmt.Sprintf("everybody may write here (mode %04o)", mode), "chmod o-w "+name)
		}
		if e.IsDir() || quiet(path.Base(name)) {
			return nil
		}
		d := used[name]
		switch {
		case d == nil && r.Complete:
			l.warn(at, RuleUnused, "no resource of the role "+r.Name+" has this file as its source", "name it in source:, or delete it")
		case d != nil && mode&0o111 != 0 && e.Type().IsRegular() && !d.executable():
			l.warn(d.Pos, RuleMode, fmt.Sprintf("%s: the source %s is executable and the declared mode %s is not", d.ID, name, d.Mode), `write mode: "0755", or chmod a-x `+name)
		}
		return nil
	})
}

// target gives where a link in a folder leads, "" when it is no link or leads out of the folder.
func (l *linter) target(dir, name string) string {
	to, err := fs.ReadLink(l.files, name)
	if err != nil || path.IsAbs(to) {
		return ""
	}
	to = path.Join(path.Dir(name), to)
	if !strings.HasPrefix(to, dir+"/") {
		return ""
	}
	return to
}
