package suggest

import "testing"

func TestNearest(t *testing.T) {
	verbs := []string{"check", "apply", "validate", "version", "history", "confirm-plan"}
	for _, c := range []struct{ in, want string }{
		{"chekc", "check"},
		{"Check", "check"},
		{"aply", "apply"},
		{"validat", "validate"},
		{"versoin", "version"},
		{"frobnicate", ""},
		{"vald", "validate"},
		{"confrim", "confirm-plan"},
		{"", ""},
	} {
		if got := Nearest(c.in, verbs); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Nearest("wrap-01", []string{"warp-02", "warp-01", "db"}); got != "warp-01" {
		t.Errorf("the nearer of two: got %q", got)
	}
}
