package schema

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "copy the schemas anew")

func TestTheCopiesAreThePublishedSchemas(t *testing.T) {
	published, err := filepath.Glob("../../../../schemas/*.json")
	if err != nil || len(published) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, file := range published {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Base(file), want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, _ := os.ReadFile(filepath.Base(file)); string(got) != string(want) {
			t.Errorf("%s is not as in schemas/; go test ./cmd/gyrum/internal/schema -update copies it", filepath.Base(file))
		}
	}
	if len(Names()) != len(published) && !*update {
		t.Errorf("copies of %d schemas, %d are published", len(Names()), len(published))
	}
}

func TestANameNeedsNoVersion(t *testing.T) {
	for _, name := range []string{"drift-report", "drift-report.v1", "drift-report.v1.json"} {
		if _, ok := Read(name); !ok {
			t.Errorf("%s was not found", name)
		}
	}
	if _, ok := Read("drift"); ok {
		t.Error("half a name was taken")
	}
}
