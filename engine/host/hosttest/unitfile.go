package hosttest

import (
	"bufio"
	"path"
	"slices"
	"strings"

	"gyrum.ai/engine/host/files"
)

// unitFile is what the model's service manager understands of a unit's definition.
type unitFile struct {
	fragment string
	dropIns  []string
	settings map[string][]string // "Section.Key" to its values in order
	mtimes   map[string]int64    // of everything that was read
	contents map[string]string   // by path, as they were read
	masked   bool
}

// unitFolders are searched in this order.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

func (u *unitFile) last(key string) string {
	if v := u.settings[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// readUnit reads a unit's fragment, the template's for an instance, and its drop-ins; nil when there is none.
func readUnit(tree files.Tree, name string) (*unitFile, error) {
	u := &unitFile{settings: map[string][]string{}, mtimes: map[string]int64{}, contents: map[string]string{}}
	names := []string{name}
	if at, dot := strings.IndexByte(name, '@'), strings.LastIndexByte(name, '.'); at >= 0 {
		names = append(names, name[:at+1]+name[dot:])
	}
	for _, n := range names {
		for _, folder := range unitFolders {
			p := path.Join(folder, n)
			s, real, err := tree.Follow(p)
			if err != nil {
				return nil, err
			}
			if !s.Exists || u.fragment != "" {
				continue
			}
			u.fragment, u.mtimes[p] = p, s.MTime
			if s.Kind != "file" || s.Size == 0 {
				u.masked = true
				continue
			}
			if err := u.read(tree, p, real); err != nil {
				return nil, err
			}
		}
	}
	if u.fragment == "" {
		return nil, nil
	}
	for _, n := range names {
		for _, folder := range unitFolders {
			if err := u.readDropIns(tree, path.Join(folder, n+".d")); err != nil {
				return nil, err
			}
		}
	}
	return u, nil
}

func (u *unitFile) readDropIns(tree files.Tree, folder string) error {
	found, err := glob(tree, path.Join(folder, "*.conf"))
	if err != nil {
		return err
	}
	for _, p := range found {
		s, real, err := tree.Follow(p)
		if err != nil {
			return err
		}
		u.dropIns, u.mtimes[p] = append(u.dropIns, p), s.MTime
		if err := u.read(tree, p, real); err != nil {
			return err
		}
	}
	return nil
}

func (u *unitFile) read(tree files.Tree, p, real string) error {
	raw, err := tree.Read(real, 1<<20)
	if err != nil {
		return err
	}
	u.contents[p] = string(raw)
	section := ""
	for scan := bufio.NewScanner(strings.NewReader(string(raw))); scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		if s, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(s, "]")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		key = section + "." + strings.TrimSpace(key)
		u.settings[key] = append(u.settings[key], strings.TrimSpace(value))
	}
	return nil
}

// glob gives the paths that match a pattern in its last element, sorted.
func glob(tree files.Tree, pattern string) ([]string, error) {
	root, err := tree.FS.Root()
	if err != nil {
		return nil, err
	}
	at := root
	for name := range strings.SplitSeq(strings.Trim(path.Dir(pattern), "/"), "/") {
		if name == "" {
			continue
		}
		if at, err = at.OpenDir(name); err != nil {
			return nil, nil // what cannot be entered holds no match, as in glob(3)
		}
	}
	names, err := at.Names()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, n := range names {
		if ok, err := path.Match(path.Base(pattern), n); ok && err == nil {
			found = append(found, path.Join(path.Dir(pattern), n))
		}
	}
	slices.Sort(found)
	return found, nil
}
