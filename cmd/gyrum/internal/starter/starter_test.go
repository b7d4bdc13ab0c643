package starter

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
