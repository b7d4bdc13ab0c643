package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/resource"
)

func observeOne(t *testing.T, s *Store, h *fakeHost, rs ...resource.Resource) []drift.Observation {
	t.Helper()
	r := s.Reading(t.Context(), h, AlwaysRun())
	defer r.Close()
	out, err := r.Observe(t.Context(), "probe", rs)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != len(rs) {
		t.Fatalf("%d observations for %d resources", len(out), len(rs))
	}
	return out
}

func TestObserveDiffAndApply(t *testing.T) {
	s := probeStore(t, testLimits())
	h := &fakeHost{stats: map[string]string{"/a": statReply("0644"), "/b": statReply("0600")}}
	r := s.Reading(t.Context(), h, AlwaysRun())
	defer r.Close()
	rs := []resource.Resource{probeResource("/a"), probeResource("/b"), probeResource("/c")}
	observed, err := r.Observe(t.Context(), "probe", rs)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(observed[1].Observed); got != statReply("0600") {
		t.Errorf("observed %s", got)
	}
	if observed[2].Observed != nil || observed[2].Unobservable != nil {
		t.Errorf("an absent path: %+v", observed[2])
	}
	if !slices.Equal(observed[0].Inputs, []string{"/a.in"}) {
		t.Errorf("inputs %v", observed[0].Inputs)
	}
	var in []drift.DiffInput
	for i := range rs {
		in = append(in, drift.DiffInput{Resource: rs[i], Observation: observed[i]})
	}
	in = append(in, drift.DiffInput{Resource: rs[0], Observation: observed[0], Changing: drift.Changing{Inputs: []string{"/a.in"}}})
	decisions, err := r.Diff(t.Context(), "probe", in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range decisions {
		if d == nil {
			got = append(got, "in sync")
			continue
		}
		got = append(got, string(d.Verb)+" "+d.Reason.Code)
	}
	if want := []string{"in sync", "chmod mode-differs", "write missing", "start input-changes"}; !slices.Equal(got, want) {
		t.Errorf("decisions %v, want %v", got, want)
	}
	w := s.Writing(t.Context(), h, h)
	out, err := w.Apply(t.Context(), rs[2], observed[2], drift.Action{Verb: drift.Write})
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != `{"exists":false}` {
		t.Errorf("output %s", out)
	}
	if want := `file_replace {"id":"probe:/c","path":"/c"}`; lines(h.done) != want {
		t.Errorf("done %q, want %q", h.done, want)
	}
}

func TestAnActionThatFails(t *testing.T) {
	s := probeStore(t, testLimits())
	h := &fakeHost{}
	out, err := s.Writing(t.Context(), h, h).Apply(t.Context(), probeResource("/a", "do", "fail"), drift.Observation{}, drift.Action{Verb: drift.Write})
	var failed *ActionError
	if !errors.As(err, &failed) || failed.Code != "io" || failed.Text != "the disk is on fire" {
		t.Fatalf("error %v", err)
	}
	if string(out) != `{"exit":3}` || string(failed.Output) != string(out) {
		t.Errorf("output %s", out)
	}
}

// The instance that serves a call is new, so nothing can be carried from one to the next.
func TestNoCallRemembersAnother(t *testing.T) {
	s := probeStore(t, testLimits())
	h := &fakeHost{}
	r := s.Reading(t.Context(), h, AlwaysRun())
	defer r.Close()
	res := probeResource("/a", "do", "count", "diff", "remembers")
	for range 3 {
		o, err := r.Observe(t.Context(), "probe", []resource.Resource{res})
		if err != nil {
			t.Fatal(err)
		}
		if string(o[0].Observed) != `{"calls":1}` {
			t.Fatalf("observe remembers: %s", o[0].Observed)
		}
		d, err := r.Diff(t.Context(), "probe", []drift.DiffInput{{Resource: res, Observation: o[0]}})
		if err != nil {
			t.Fatal(err)
		}
		if string(d[0].Params) != `{"calls":1}` {
			t.Fatalf("diff remembers: %s", d[0].Params)
		}
	}
	for range 3 {
		out, err := s.Writing(t.Context(), h, h).Apply(t.Context(), res, drift.Observation{}, drift.Action{Verb: drift.Write})
		if err != nil || string(out) != `{"calls":1}` {
			t.Fatalf("apply remembers: %s %v", out, err)
		}
	}
}

// Clock, random numbers, map order: all the same in every process.
func TestGuestsAreDeterministic(t *testing.T) {
	s := probeStore(t, testLimits())
	first := observeOne(t, s, &fakeHost{}, probeResource("/a", "do", "clock"))[0]
	second := observeOne(t, s, &fakeHost{}, probeResource("/a", "do", "clock"))[0]
	if first.Unobservable != nil {
		t.Fatal(first.Unobservable.Text)
	}
	if string(first.Observed) != string(second.Observed) {
		t.Errorf("%s and then %s", first.Observed, second.Observed)
	}
	if !strings.Contains(string(first.Observed), `"clock":946695601,`) {
		t.Errorf("three hours of sleep do not show on the clock: %s", first.Observed)
	}
}

// Waiting for the host costs a guest nothing of its time, computing does.
func TestTheDeadlineCountsTheGuestOnly(t *testing.T) {
	l := testLimits()
	l.Time = 600 * time.Millisecond // of which a batch has half
	s := probeStore(t, l)
	if err := s.types["probe"].observe.ready(); err != nil {
		t.Fatal(err)
	}
	h := &fakeHost{delay: 400 * time.Millisecond, stats: map[string]string{"/a": statReply("0644")}}
	o := observeOne(t, s, h, probeResource("/a"), probeResource("/b"))
	if o[0].Unobservable != nil || string(o[0].Observed) != statReply("0644") {
		t.Errorf("%+v", o[0])
	}
	if len(h.asked) != 2 {
		t.Errorf("asked %v", h.asked)
	}
}

func TestACancelledRunIsNoBrokenPlugin(t *testing.T) {
	s := probeStore(t, testLimits())
	ctx, cancel := context.WithCancel(t.Context())
	r := s.Reading(ctx, &fakeHost{delay: time.Hour})
	defer r.Close()
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := r.Observe(ctx, "probe", []resource.Resource{probeResource("/a")}); !errors.Is(err, context.Canceled) {
		t.Fatalf("waiting for the host: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := r.Observe(ctx, "probe", []resource.Resource{probeResource("/a", "do", "loop")}); !errors.Is(err, context.Canceled) {
		t.Fatalf("computing: %v", err)
	}
}

func TestATypeThatDoesNotExist(t *testing.T) {
	s := probeStore(t, testLimits())
	_, err := s.Reading(t.Context(), &fakeHost{}).Observe(t.Context(), "nothing", nil)
	if !errors.Is(err, ErrNoPlugin) || !strings.Contains(err.Error(), "probe") {
		t.Errorf("%v", err)
	}
	s = newTestStore(t, emptyFS{}, CacheConfig{}, testLimits())
	_, err = s.Reading(t.Context(), &fakeHost{}).Observe(t.Context(), "file", nil)
	if !errors.Is(err, ErrNoPlugin) || !strings.Contains(err.Error(), "make plugins") {
		t.Errorf("%v", err)
	}
}

func TestLongListsAreCut(t *testing.T) {
	l := testLimits()
	l.Batch = 3
	s := probeStore(t, l)
	h := &fakeHost{stats: map[string]string{}}
	var rs []resource.Resource
	for _, name := range strings.Split("abcdefgh", "") {
		rs = append(rs, probeResource("/"+name))
		h.stats["/"+name] = `{"exists":true,"mode":"` + name + `"}`
	}
	for i, o := range observeOne(t, s, h, rs...) {
		if !strings.Contains(string(o.Observed), `"mode":"`+rs[i].ID[len("probe:/"):]+`"`) {
			t.Errorf("%s got %s", rs[i].ID, o.Observed)
		}
	}
}
