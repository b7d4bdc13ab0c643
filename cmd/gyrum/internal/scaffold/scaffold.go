// Package scaffold makes the first version of a new resource type in gyrum's repository: a plugin that works, its
// definition, its cases, its page and the draft of its decision record. What it makes compiles and passes the conformance
// suite; the lint fails until the record is accepted and every closed set names the type.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// Result is what was made.
type Result struct {
	// Made and Changed are files, relative to the repository.
	Made, Changed []string
	// Record is the draft of the decision record.
	Record string
}

var (
	// ErrNotHere is returned where the folder is not gyrum's repository.
	ErrNotHere = errors.New("this is not the root of gyrum's repository")
	// ErrName is returned for a name that no type can have.
	ErrName = errors.New("no type of gyrum's own can have this name")

	nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

// longest is how long a type's name may be, in bytes.
const longest = 41

// used are the words that the made files use themselves; a package of such a name is called NAMEtype.
var used = []string{"action", "apply", "declared", "diff", "guest", "init", "int32", "length", "observe", "read", "write"}

// New makes a type. It changes nothing when it fails because something is there already.
func New(root, name string, now time.Time) (*Result, error) {
	for _, p := range []string{"plugins/guest", "engine", "docs/adr", "cue/role.cue", "cue/types.cue"} {
		if _, err := os.Stat(filepath.Join(root, p)); err != nil {
			return nil, fmt.Errorf("%w: %s is missing", ErrNotHere, p)
		}
	}
	if fault := fault(root, name); fault != "" {
		return nil, fmt.Errorf("%q: %w: %s", name, ErrName, fault)
	}
	number, err := nextNumber(root)
	if err != nil {
		return nil, err
	}
	t := &typ{root: root, name: name, number: number, result: &Result{}}
	t.pkg = strings.ReplaceAll(name, "_", "")
	if slices.Contains(used, t.pkg) || token.IsKeyword(t.pkg) {
		t.pkg += "type"
	}
	t.date = now.UTC().Format(time.DateOnly)
	if err := t.plan(); err != nil {
		return nil, err
	}
	return t.result, t.write()
}

// fault says why no type can have a name, if none can.
func fault(root, name string) string {
	switch {
	case !nameForm.MatchString(name) || len(name) < 2 || len(name) > longest:
		return fmt.Sprintf("it is 2 to %d lower-case letters, digits and single underscores between them, and begins with a letter", longest)
	case strings.HasPrefix(name, "x_"):
		return "x_ is for types of catalogs"
	case token.IsKeyword(name):
		return "it is a word of the Go language, and the type is a Go package"
	case slices.Contains([]string{"main", "vendor", "testdata", "internal"}, name):
		return "the go command gives a folder or a package of this name a meaning of its own"
	}
	if _, err := os.Lstat(filepath.Join(root, "plugins", name)); err != nil {
		return ""
	}
	if _, err := os.Lstat(filepath.Join(root, "plugins", name, "plugin.cue")); err != nil {
		return "plugins/" + name + " is there and is not a type"
	}
	return ""
}

// typ is a type that is being made.
type typ struct {
	root, name, pkg, number, date string

	contents map[string][]byte
	order    []string
	result   *Result
}

// plan makes every file in memory.
func (t *typ) plan() error {
	t.contents = map[string][]byte{}
	stem := t.number + "-" + strings.ReplaceAll(t.name, "_", "-")
	words := strings.NewReplacer("NAME", t.name, "PKG", t.pkg, "STEM", stem, "NUMBER", t.number, "DATE", t.date)
	err := fs.WalkDir(files, "files", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := files.ReadFile(p)
		if err != nil {
			return err
		}
		name := words.Replace(strings.TrimSuffix(strings.TrimPrefix(p, "files/"), ".txt"))
		if _, err := os.Lstat(filepath.Join(t.root, name)); err == nil {
			return fmt.Errorf("%s: %w", name, fs.ErrExist)
		}
		text := []byte(words.Replace(string(raw)))
		if strings.HasSuffix(name, ".go") {
			if text, err = format.Source(text); err != nil { // where the import of the package comes depends on the name
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		t.add(name, text)
		t.result.Made = append(t.result.Made, name)
		return nil
	})
	if err != nil {
		return err
	}
	t.result.Record = "docs/adr/" + stem + ".md"
	return errors.Join(
		t.edit("cue/role.cue", func(s []byte) ([]byte, bool) {
			before, after, ok := bytes.Cut(s, []byte("\n#Type: "))
			list, rest, ok2 := bytes.Cut(after, []byte(" | error("))
			if !ok || !ok2 {
				return nil, false
			}
			rest = bytes.Replace(rest, []byte(" or "), []byte(", "), 1)
			rest = bytes.Replace(rest, []byte(`")`), []byte(" or "+t.name+`")`), 1)
			return bytes.Join([][]byte{before, []byte("\n#Type: "), list, []byte(` | "` + t.name + `" | error(`), rest}, nil), true
		}),
		t.edit("cue/types.cue", func(s []byte) ([]byte, bool) {
			s = bytes.TrimRight(s, "\n")
			body, ok := bytes.CutSuffix(s, []byte("}"))
			return append(body, []byte(words.Replace(definition))...), ok
		}),
		t.edit("docs/adr/README.md", func(s []byte) ([]byte, bool) {
			return append(bytes.TrimRight(s, "\n"), []byte("\n| ["+t.number+"]("+stem+".md) | type "+t.name+" (draft) |\n")...), true
		}),
		t.edit("docs/types/README.md", func(s []byte) ([]byte, bool) {
			before, after, ok := bytes.Cut(s, []byte("|\n\n"))
			row := []byte("|\n| [" + t.name + "](" + t.name + ".md) | the mode of something that others own |\n\n")
			return bytes.Join([][]byte{before, row, after}, nil), ok
		}),
	)
}

func (t *typ) add(name string, content []byte) {
	t.contents[name] = content
	t.order = append(t.order, name)
}

// edit changes a file that is there.
func (t *typ) edit(name string, change func([]byte) ([]byte, bool)) error {
	raw, err := os.ReadFile(filepath.Join(t.root, name))
	if err != nil {
		return err
	}
	if name == "cue/role.cue" && bytes.Contains(raw, []byte(`"`+t.name+`"`)) {
		return fmt.Errorf("%s names the type %s: %w", name, t.name, fs.ErrExist)
	}
	changed, ok := change(bytes.Clone(raw))
	if !ok {
		return fmt.Errorf("%s has another form than this program knows; add the type %s there by hand", name, t.name)
	}
	t.add(name, changed)
	t.result.Changed = append(t.result.Changed, name)
	return nil
}

func (t *typ) write() error {
	for _, name := range t.order {
		p := filepath.Join(t.root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, t.contents[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// nextNumber is that of the next decision record.
func nextNumber(root string) (string, error) {
	records, err := filepath.Glob(filepath.Join(root, "docs/adr/[0-9][0-9][0-9][0-9]-*.md"))
	highest := 0
	for _, r := range records {
		n, _ := strconv.Atoi(filepath.Base(r)[:4])
		highest = max(highest, n)
	}
	return fmt.Sprintf("%04d", highest+1), err
}

// definition is the type's entry in #types.
const definition = `
	// The mode of something that others own.
	NAME: {
		type!: "NAME"
		// NAME:<path>; may be left out.
		id?: "NAME:\(path)" | error("the id of a NAME is NAME:<path>, exactly")
		// The file whose mode it is.
		path!: #Path | error("an absolute path below /, without .. elements or NUL")
		// Permission bits.
		mode!: #Mode | error("a quoted octal string such as \"0644\"")
	}
}
`
