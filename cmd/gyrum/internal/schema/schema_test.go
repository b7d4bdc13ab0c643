package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryPublishedSchemaTravelsWithTheProgram(t *testing.T) {
	published, err := filepath.Glob("../../../../schemas/*.json")
	if err != nil || len(published) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, file := range published {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Read(filepath.Base(file)); !ok || string(got) != string(want) {
			t.Errorf("%s is not as in schemas/; go run ./tools/schemagen brings it", strings.TrimSuffix(filepath.Base(file), ".json"))
		}
	}
	if len(Names()) != len(published) {
		t.Errorf("%d schemas travel, %d are published", len(Names()), len(published))
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
