package starter

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// older makes a catalog as another version of gyrum would have left it: one definition with other words, and one that
// is no more.
func older(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "catalog")
	if _, err := Init(dir, "web-1", "0.9"); err != nil {
		t.Fatal(err)
	}
	put(t, dir, definitionsDir+"/types.cue", "package gyrum\n")
	put(t, dir, definitionsDir+"/gone.cue", "package gyrum\n")
	var r record
	raw, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"types.cue", "gone.cue"} {
		r.Files[definitionsDir+"/"+f] = digest([]byte("package gyrum\n"))
	}
	save(t, dir, r)
	return dir
}

func save(t *testing.T, dir string, r record) {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, recordFile, string(raw))
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestUpdateReplacesWhatAnOlderGyrumWrote(t *testing.T) {
	dir := older(t)
	put(t, dir, "catalog.cue.new", "left by an update that was cut short")
	if err := os.Remove(filepath.Join(dir, "catalog.cue")); err != nil {
		t.Fatal(err)
	}
	got, err := Update(dir, "1.0")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"catalog.cue", definitionsDir + "/types.cue"}; !slices.Equal(got.Written, want) {
		t.Errorf("written %v, want %v", got.Written, want)
	}
	if want := []string{definitionsDir + "/gone.cue"}; !slices.Equal(got.Removed, want) {
		t.Errorf("removed %v, want %v", got.Removed, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "catalog.cue.new")); err == nil {
		t.Error("a temporary file was left")
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, recordFile)); !strings.Contains(string(raw), `"gyrum": "1.0"`) || strings.Contains(string(raw), "gone.cue") {
		t.Errorf("the record is %s", raw)
	}
	if got, err = Update(dir, "1.0"); err != nil || len(got.Written)+len(got.Removed) > 0 {
		t.Errorf("a second update: %+v %v", got, err)
	}
}

func TestUpdateTouchesNothingWhereSomebodyWorked(t *testing.T) {
	dir := older(t)
	put(t, dir, definitionsDir+"/gone.cue", "package gyrum // mine\n")
	_, err := Update(dir, "1.0")
	if !errors.Is(err, ErrEdited) || !strings.Contains(err.Error(), "gone.cue") || strings.Contains(err.Error(), "types.cue") {
		t.Errorf("error %v", err)
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, definitionsDir, "types.cue")); string(raw) != "package gyrum\n" {
		t.Error("a definition was replaced all the same")
	}
}

func TestUpdateReachesNothingOutsideTheCatalog(t *testing.T) {
	dir := older(t)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	put(t, filepath.Dir(dir), "outside", "package gyrum\n")
	save(t, dir, record{Files: map[string]string{"../outside": digest([]byte("package gyrum\n"))}})
	if _, err := Update(dir, "1.0"); err == nil {
		t.Error("a record that names a file outside was taken")
	}
	save(t, dir, record{Files: map[string]string{"link": digest([]byte("package gyrum\n"))}})
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Update(dir, "1.0"); !errors.Is(err, ErrEdited) {
		t.Errorf("a link was followed: %v", err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func TestInitFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "schemas")); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(dir, "web-1", "1.0"); err == nil {
		t.Error("a link out of the folder was written through")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v %v", entries, err)
	}
}

func TestInitFinishesWhatWasCutShort(t *testing.T) {
	dir := t.TempDir()
	if _, err := Init(dir, "web-1", "1.0"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"hosts/web-1.yaml", "host-roles/hello.yaml", "ci/check"} {
		if err := os.Remove(filepath.Join(dir, f)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Init(dir, "web-1", "1.0")
	if err != nil || !slices.Contains(got.Written, "ci/check") {
		t.Errorf("%+v %v", got, err)
	}
}

// A catalog with types of its own has two definitions that are generated with them; an update is about the others.
func TestUpdateLeavesWhatIsGeneratedWithOwnTypes(t *testing.T) {
	dir := older(t)
	put(t, dir, definitionsDir+"/role.cue", "package gyrum // with x_thing\n")
	put(t, dir, definitionsDir+"/judged.cue", "package gyrum // with x_thing\n")
	if _, err := Update(dir, "1.0"); !errors.Is(err, ErrEdited) || !strings.Contains(err.Error(), "judged.cue") {
		t.Fatalf("without own types: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "plugins/x_thing"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := Update(dir, "1.0")
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{definitionsDir + "/judged.cue", definitionsDir + "/role.cue"}; !slices.Equal(got.Generated, want) {
			t.Errorf("generated %v, want %v", got.Generated, want)
		}
	}
	for name, want := range map[string]bool{"role.cue": true, "types.cue": false} {
		raw, err := os.ReadFile(filepath.Join(dir, definitionsDir, name))
		if err != nil || strings.HasPrefix(string(raw), "package gyrum // with") != want || string(raw) == "package gyrum\n" {
			t.Errorf("%s: %.40s %v", name, raw, err)
		}
	}
	put(t, dir, definitionsDir+"/types.cue", "package gyrum // mine\n")
	if _, err := Update(dir, "1.0"); !errors.Is(err, ErrEdited) || strings.Contains(err.Error(), "role.cue") {
		t.Errorf("a change by hand: %v", err)
	}
}

// A catalog whose CUE module went away is whole again after an update; a folder that is none gets nothing.
func TestUpdateCompletesCatalogsOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "catalog")
	if _, err := Init(dir, "web-1", "1.0"); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "cue.mod/module.cue")
	want, err := os.ReadFile(module)
	if err == nil {
		err = os.Remove(module)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := Update(dir, "1.0")
	if err != nil || !slices.Equal(got.Written, []string{"cue.mod/module.cue"}) {
		t.Errorf("%+v %v", got, err)
	}
	if raw, err := os.ReadFile(module); err != nil || string(raw) != string(want) {
		t.Errorf("%s %v", raw, err)
	}
	put(t, dir, "cue.mod/module.cue", "module: \"example.org\"\n")
	if got, err := Update(dir, "1.0"); err != nil || len(got.Written) > 0 {
		t.Errorf("the catalog's own module file: %+v %v", got, err)
	}

	dir = t.TempDir()
	put(t, dir, "notes.txt", "mine\n")
	if _, err := Update(dir, "1.0"); !errors.Is(err, ErrNoCatalog) {
		t.Errorf("no catalog: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("written: %v %v", entries, err)
	}
}

// Plain CUE takes a folder for one package.
func TestInitBesideAnotherPackage(t *testing.T) {
	for text, refused := range map[string]bool{
		"package foo\n":                         true,
		"// package catalog\n\npackage foo\n":   true,
		"package catalog\n":                     false,
		"a: 1\n":                                false,
		"@ignore()\n\npackage foo\n":            false,
		"package foo\n\nx: \"@ignore()\"\n":     true,
		"package catalog\n\na: \"package b\"\n": false,
	} {
		dir := t.TempDir()
		put(t, dir, "mine.cue", text)
		_, err := Init(dir, "web-1", "1.0")
		if errors.Is(err, ErrPackage) != refused || refused && !strings.Contains(err.Error(), "mine.cue (package foo)") {
			t.Errorf("%q: %v", text, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || refused && len(entries) != 1 {
			t.Errorf("%q: written: %v %v", text, entries, err)
		}
	}
}

// A folder that cannot be written to is found before the first file is.
func TestInitWhereItMayNotWrite(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"", "schemas"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "schemas"), 0o555); err != nil {
		t.Fatal(err)
	}
	for p := dir; os.Geteuid() == 0 && p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread, which is nobody to the file system, ends with this
		if os.Geteuid() == 0 {
			_ = unix.Setfsuid(65534)
		}
		_, err := Init(dir, "web-1", "1.0")
		done <- err
	}()
	if err := <-done; !errors.Is(err, ErrCannotWrite) || !strings.Contains(err.Error(), "schemas (permission denied)") {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("written: %v %v", entries, err)
	}
}
