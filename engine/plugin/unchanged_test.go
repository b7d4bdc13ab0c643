package plugin

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"gyrum.ai/engine/resource"
)

// What was observed stands as long as the host gives the same replies about that very resource, whether a module or a
// trace observed it; the replies about its neighbours do not matter, and no module runs to say so.
func TestAnObservationStandsWhileTheHostRepliesTheSame(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for _, by := range []string{"a module", "a trace"} {
		t.Run(by, func(t *testing.T) {
			rs, h := benchResources(3)
			s := newTestStore(t, probeModules(t), CacheConfig{Dir: dir}, DefaultLimits())
			defer s.Close()
			r := s.Reading(t.Context(), h)
			if r.Unchanged(t.Context(), rs[0]) {
				t.Error("nothing was observed yet")
			}
			if _, err := r.Observe(t.Context(), "probe", rs); err != nil {
				t.Fatal(err)
			}
			r.Close()
			if ran := len(r.Ran()) > 0; ran != (by == "a module") {
				t.Fatalf("the module ran: %v", ran)
			}
			asked := len(h.asked)
			for _, res := range rs {
				if !r.Unchanged(t.Context(), res) {
					t.Errorf("%s: nothing changed", res.ID)
				}
			}
			if n := len(h.asked) - asked; n != asked {
				t.Errorf("%d questions were put again, and the observation rests on %d", n, asked)
			}
			var path string
			for path = range h.stats {
				break
			}
			h.stats[path] = statReply("0600")
			for _, res := range rs {
				if got, want := r.Unchanged(t.Context(), res), res.ID != "probe:"+path; got != want {
					t.Errorf("%s: unchanged %v, want %v", res.ID, got, want)
				}
			}
			other := probeResource("/etc/elsewhere")
			if r.Unchanged(t.Context(), other) {
				t.Error("a resource that was not observed")
			}
		})
	}
}

// A question that a batch put for each of its resources is put again once for each of them, and not for each pair.
func TestWhatManyResourcesAskIsAskedAgainOnce(t *testing.T) {
	h := &fakeHost{stats: map[string]string{"/shared": statReply("0644")}}
	s := newTestStore(t, probeModules(t), CacheConfig{}, DefaultLimits())
	r := s.Reading(t.Context(), h)
	defer r.Close()
	rs := []resource.Resource{probeResource("/shared"), probeResource("/shared"), probeResource("/shared")}
	for i := range rs {
		id := fmt.Sprintf("probe:%d", i)
		rs[i].View = bytes.ReplaceAll(rs[i].View, []byte(rs[i].ID), []byte(id))
		rs[i].ID = id
	}
	if _, err := r.Observe(t.Context(), "probe", rs); err != nil {
		t.Fatal(err)
	}
	if want := 3; len(h.asked) != want {
		t.Fatalf("the batch asked %d questions, not %d: %v", len(h.asked), want, h.asked)
	}
	h.asked = nil
	if !r.Unchanged(t.Context(), rs[1]) || len(h.asked) != 1 {
		t.Errorf("asked again: %v", h.asked)
	}
	h.stats["/shared"] = statReply("0600")
	if r.Unchanged(t.Context(), rs[1]) {
		t.Error("another reply, and it is taken to stand")
	}
}
