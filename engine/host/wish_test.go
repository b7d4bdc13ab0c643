package host

import (
	"slices"
	"strings"
	"testing"
)

// What removes, stops or starts is used only where that is declared. The exceptions run what the resource itself holds,
// or change nothing on the host.
func TestEveryEffectIsWished(t *testing.T) {
	for _, c := range Capabilities() {
		w, wished := WishOf(c.Name)
		switch {
		case c.Side == Read && wished:
			t.Errorf("%s reads and needs no wish", c.Name)
		case c.Side == Read:
		case !wished && !slices.Contains([]string{"command_run", "unit_reload"}, c.Name):
			t.Errorf("%s can be used whatever the resource declares", c.Name)
		case strings.HasSuffix(c.Name, "_remove") && w != toGo:
			t.Errorf("%s removes, and takes %+v", c.Name, w)
		}
	}
}
