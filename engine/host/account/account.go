// Package account maps names of users and groups to ids and back: /etc/passwd and /etc/group are read directly, and
// getent is asked for what only another source of nsswitch.conf knows. A statically linked program has no other way
// to all of them.
//
// It knows no resources.
package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

// Lookup asks further sources for one line of a database ("passwd" or "group") by a name or an id in digits. Not found
// is no error.
type Lookup func(ctx context.Context, database, key string) (line string, found bool, err error)

// maxDatabase bounds what is read of /etc/passwd and /etc/group.
const maxDatabase = 64 << 20

// Accounts answers from memory until Forget. It is safe for concurrent use.
type Accounts struct {
	tree    files.Tree
	further Lookup
	// Processes says whether a process of a user runs; nil for a host without processes.
	Processes func(uid uint32) (bool, error)

	mu     sync.Mutex
	tables map[string]*table
}

// New makes accounts of a file system. Without further sources (nil), only its two files count.
func New(tree files.Tree, further Lookup) *Accounts {
	return &Accounts{tree: tree, further: further}
}

// table is one database as far as it is known. A name or id that was asked for and not found is remembered too.
type table struct {
	ids   map[string]answer // by name
	names map[uint32]string // by id; empty for an id without a name
}

type answer struct {
	id     uint32
	exists bool
}

// Forget drops what was read, after something that may have made accounts.
func (a *Accounts) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tables = nil
}

// User gives the id of a user.
func (a *Accounts) User(name string) (uint32, bool, error) { return a.id("passwd", name) }

// Group gives the id of a group.
func (a *Accounts) Group(name string) (uint32, bool, error) { return a.id("group", name) }

// UserName gives the name of a user id, the id in digits when it has none.
func (a *Accounts) UserName(id uint32) (string, error) { return a.name("passwd", id) }

// GroupName gives the name of a group id, the id in digits when it has none.
func (a *Accounts) GroupName(id uint32) (string, error) { return a.name("group", id) }

// digits says that a name is an id.
func digits(name string) bool {
	return name != "" && strings.Trim(name, "0123456789") == ""
}

func (a *Accounts) id(database, name string) (uint32, bool, error) {
	if digits(name) {
		n, err := strconv.ParseUint(name, 10, 32)
		if err != nil || n == 1<<32-1 { // the last one means "leave as it is" to chown(2)
			return 0, false, fault.New(fault.Invalid, "%s is no id: ids go up to 4294967294", name)
		}
		return uint32(n), true, nil
	}
	if name == "" || strings.ContainsAny(name, ":\n\x00") {
		return 0, false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.table(database)
	if err != nil {
		return 0, false, err
	}
	if known, ok := t.ids[name]; ok {
		return known.id, known.exists, nil
	}
	found, id, err := a.ask(database, name, func(n string, _ uint32) bool { return n == name })
	if err != nil {
		return 0, false, err
	}
	t.ids[name] = answer{id, found != ""}
	return id, found != "", nil
}

func (a *Accounts) name(database string, id uint32) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.table(database)
	if err != nil {
		return "", err
	}
	key := strconv.FormatUint(uint64(id), 10)
	name, ok := t.names[id]
	if !ok {
		name, _, err = a.ask(database, key, func(_ string, n uint32) bool { return n == id })
		if err != nil {
			return "", err
		}
		t.names[id] = name
	}
	if name == "" {
		return key, nil
	}
	return name, nil
}

// ask puts one question to the further sources and takes the answer only when it fits the question.
func (a *Accounts) ask(database, key string, fits func(name string, id uint32) bool) (string, uint32, error) {
	if a.further == nil {
		return "", 0, nil
	}
	line, found, err := a.further(context.Background(), database, key)
	if err != nil || !found {
		return "", 0, err
	}
	name, id, ok := split(line)
	if !ok || !fits(name, id) {
		return "", 0, fault.New(fault.IO, "getent %s %s answered with another entry", database, key)
	}
	return name, id, nil
}

// table reads a file once. The first of two lines with one name or id counts, as in glibc.
func (a *Accounts) table(database string) (*table, error) {
	if t := a.tables[database]; t != nil {
		return t, nil
	}
	raw, err := a.tree.Read("/etc/"+database, maxDatabase)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s, serr := a.tree.Stat("/etc/" + database)
		if serr != nil || s.Exists {
			return nil, fmt.Errorf("accounts: %w", err)
		}
	}
	t := &table{ids: map[string]answer{}, names: map[uint32]string{}}
	for line := range strings.SplitSeq(string(raw), "\n") {
		name, id, ok := split(line)
		if !ok {
			continue
		}
		if _, twice := t.ids[name]; !twice {
			t.ids[name] = answer{id, true}
		}
		if _, twice := t.names[id]; !twice {
			t.names[id] = name
		}
	}
	if a.tables == nil {
		a.tables = map[string]*table{}
	}
	a.tables[database] = t
	return t, nil
}

// split reads name and id of a line of either file (passwd(5), group(5)); comments and the old +/- entries are no accounts.
func split(line string) (name string, id uint32, ok bool) {
	fields := strings.SplitN(line, ":", 4)
	if len(fields) < 3 || fields[0] == "" || strings.ContainsAny(fields[0][:1], "+-#") {
		return "", 0, false
	}
	n, err := strconv.ParseUint(fields[2], 10, 32)
	return fields[0], uint32(n), err == nil
}
