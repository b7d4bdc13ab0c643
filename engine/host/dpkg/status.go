package dpkg

import "slices"

// entry is one package of dpkg's database, for one architecture.
type entry struct {
	name, arch string
	want       string // first word of the status: unknown, install, hold, deinstall, purge
	flag       string // second word: ok, reinstreq
	status     string // third word
	version    string
	essential  bool // dpkg and apt refuse to remove it
	provides   []string
}

// Word is what one third word of dpkg's status means here.
type Word struct {
	Word      string
	Installed bool // with flag ok
	Half      bool
	Meaning   string
}

// Words is the table of dpkg's third words, in the order of dpkg(1). The first word does not matter for it; "hold"
// there means held. The flag reinstreq makes any of them half.
func Words() []Word {
	return []Word{
		{"not-installed", false, false, "not there"},
		{"config-files", false, false, "removed, its configuration files remain"},
		{"half-installed", false, true, "unpacking was begun and not completed"},
		{"unpacked", false, true, "unpacked, not configured"},
		{"half-configured", false, true, "configuring was begun and not completed"},
		{"triggers-awaited", true, false, "installed; another package is still to process its trigger"},
		{"triggers-pending", true, false, "installed; it is still to process a trigger"},
		{"installed", true, false, "installed"},
	}
}

var words = func() map[string]Word {
	m := map[string]Word{}
	for _, w := range Words() {
		m[w.Word] = w
	}
	return m
}()

func (e *entry) installed() bool { return e.flag == "ok" && words[e.status].Installed }
func (e *entry) half() bool      { return e.flag != "ok" || words[e.status].Half }

// torn says that files of the package may be missing: it must be unpacked anew, configuring it is not enough.
func (e *entry) torn() bool { return e.flag != "ok" || e.status == "half-installed" }

func (e *entry) held() bool    { return e.want == "hold" }
func (e *entry) words() string { return e.want + " " + e.flag + " " + e.status }

// full is the name with its architecture, as apt takes it.
func (e *entry) full() string { return e.name + ":" + e.arch }

// database is everything that dpkg knows.
type database struct {
	byName    map[string][]*entry
	providers map[string][]string // of installed packages only; sorted
}

func newDatabase(entries []*entry) *database {
	db := &database{byName: map[string][]*entry{}, providers: map[string][]string{}}
	for _, e := range entries {
		db.byName[e.name] = append(db.byName[e.name], e)
		if !e.installed() {
			continue
		}
		for _, p := range e.provides {
			if !slices.Contains(db.providers[p], e.name) {
				db.providers[p] = append(db.providers[p], e.name)
			}
		}
	}
	for _, ps := range db.providers {
		slices.Sort(ps)
	}
	return db
}

// find gives the entry that a name means, nil when there is none. Without an architecture the native one comes first,
// as apt has it, and one of another architecture counts when the native one is not there. A package for all
// architectures counts as native. native is asked only where the answer depends on it.
func (db *database) find(base, arch string, native func() (string, error)) (*entry, error) {
	all := db.byName[base]
	pick := func(arch string) *entry {
		for _, e := range all {
			if e.arch == arch {
				return e
			}
		}
		return nil
	}
	independent := pick("all")
	switch {
	case len(all) == 0:
		return nil, nil
	case arch == "all":
		return independent, nil
	case arch == "" && len(all) == 1:
		return all[0], nil
	case arch != "" && arch != "native":
		if e := pick(arch); e != nil || independent == nil {
			return e, nil
		}
	}
	own, err := native()
	if err != nil {
		return nil, err
	}
	if arch != "" && arch != "native" && arch != own {
		return nil, nil
	}
	candidates := []*entry{pick(own), independent}
	if arch == "" {
		candidates = append(candidates, all...)
	}
	candidates = slices.DeleteFunc(candidates, func(e *entry) bool { return e == nil })
	for _, e := range candidates {
		if e.installed() || e.half() {
			return e, nil
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	return candidates[0], nil
}
