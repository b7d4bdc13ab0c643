package engine

import (
	"strings"
	"testing"
)

// Nothing tells which of several packages brings a folder, so the note names them.
func TestANoteNamesAllThatMayBringWhatIsMissing(t *testing.T) {
	for _, c := range []struct{ ids, want string }{
		{"package:a", "package:a"},
		{"package:a package:b", "package:a or package:b"},
		{"package:a package:b command:c", "package:a, package:b or command:c"},
		{"package:a package:b package:c package:d", "package:a, package:b, package:c or one of 1 more before it"},
	} {
		if got := oneOf(strings.Fields(c.ids)); got != c.want {
			t.Errorf("%s: %q, want %q", c.ids, got, c.want)
		}
	}
	b := newBench(t, "r", pkg("first"), pkg("second"), file("/opt/second/conf", "x"))
	if note := b.check().Items[2].Note; !strings.HasPrefix(note, "/opt/second is not there yet; package:first or package:second must bring it") {
		t.Errorf("note %q", note)
	}
}
