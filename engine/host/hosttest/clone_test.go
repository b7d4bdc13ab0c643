package hosttest

import (
	"maps"
	"testing"

	"gyrum.ai/engine/host"
)

// What is not durable, and where the cut is, a clone has as the host has it; what happens to one does not show on the other.
func TestACloneIsLikeTheHostAndAnotherOne(t *testing.T) {
	h := NewHost()
	h.FS.AddFile("/etc/a", "1", 0o644)
	root, err := h.FS.WritableRoot()
	if err != nil {
		t.Fatal(err)
	}
	etc, err := root.OpenWritable("etc")
	if err != nil {
		t.Fatal(err)
	}
	a, err := etc.OpenAppend("a", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	write := func(f interface{ Write([]byte) (int, error) }, text string) error {
		_, err := f.Write([]byte(text))
		return err
	}
	if err := write(a, "2"); err != nil {
		t.Fatal(err)
	}
	h.Power.Cut(1)
	kept, lost := h.Clone(), h.Clone()
	if !maps.Equal(h.FS.Dump(), kept.FS.Dump()) {
		t.Errorf("the clone is %v", kept.FS.Dump())
	}
	kept.FS.Crash(func(int, Change) bool { return false })
	lost.FS.Crash(nil)
	if err := write(a, "3"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		h    *Host
		text string
	}{"the host": {h, "123"}, "the clone that kept all": {kept, "12"}, "the clone that lost all": {lost, "1"}} {
		if text, _ := want.h.FS.Content("/etc/a"); text != want.text {
			t.Errorf("%s has %q, not %q", name, text, want.text)
		}
	}
	if h.Clone().Power.Effect() == nil {
		t.Error("the clone goes on behind the cut")
	}
}

// The tools for accounts make durable what they write, and nothing else.
func TestAnAccountMakesNothingElseDurable(t *testing.T) {
	h := NewHost()
	root, err := h.FS.WritableRoot()
	if err == nil {
		err = root.Mkdir("new", 0o755)
	}
	if err == nil {
		err = h.Accounts.AddGroup(t.Context(), host.GroupSpec{Name: "staff"})
	}
	if err != nil {
		t.Fatal(err)
	}
	h.FS.Crash(nil)
	if text, _ := h.FS.Content("/etc/group"); text != "root:x:0:\nstaff:x:1000:\n" {
		t.Errorf("/etc/group holds %q", text)
	}
	if _, there := h.FS.Dump()["/new"]; there {
		t.Error("what was not synced is there")
	}
}
