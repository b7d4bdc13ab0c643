package plugin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/resource"
)

// What a plugin can do to break its call, and what its item then says. The honest neighbours in the same batch must
// come out as if it had not been there.
var hostileObserve = []struct{ do, want string }{
	{"loop", "it computed longer than"},
	{"recurse", "trapped"},
	{"memory", "trapped"},
	{"flood", "flood flood"},
	{"panic", `panic: a bug`},
	{"nil", "trapped"},
	{"exit", "it exited with status 0"},
	{"bad-input", "points outside its memory"},
	{"bad-output", "points outside its memory"},
	{"long-output", "over its budget"},
	{"bad-take", "points outside its memory"},
	{"bad-request", "points outside its memory"},
	{"long-request", "at most"},
	{"many-calls", "more capability calls than its budget"},
	{"many-bytes", "budget"},
	{"many-inputs", "budget"},
	{"silent", "without an answer"},
	{"status", "returned the status 7"},
	{"refuse", "no-luck: will not"},
	{"bad-error", "reason"},
	{"bad-json", "malformed"},
	{"empty", "malformed"},
	{"wide", "200001 results"},
	{"other-path", `reaches for path "/etc/shadow"`},
	{"dotted-path", `reaches for path "/bad/../shadow"`},
	{"other-id", `none of the declared resources'`},
	{"spaced-request", "not canonical JSON"},
	{"twice-named", "occurs twice"},
	{"keyless", "names no [path]"},
	{"listed-path", "no string"},
	{"unknown-member", `unknown member "resource"`},
	{"other-case", `has no "observed"`},
	{"member-twice", "occurs twice"},
	{"listed", "neither an object nor null"},
	{"both", "unobservable and observed at once"},
	{"none-and-more", "results for"},
	{"nothing", "0 results for 1"},
	{"bad-code", "words-with-hyphens"},
	{"long-text", "more than 16384 bytes"},
	{"deep", "nested"},
	{"not-utf8", "not UTF-8"},
}

func TestHostileObserve(t *testing.T) {
	l := testLimits()
	l.Time = 20 * time.Second
	patient := probeStore(t, l)
	l.Time = 2 * time.Second
	hasty := probeStore(t, l)
	digest, _ := patient.types["probe"].observe.identity()
	for _, c := range hostileObserve {
		t.Run(c.do, func(t *testing.T) {
			s := patient
			if c.do == "loop" {
				s = hasty
			}
			h := &fakeHost{stats: map[string]string{"/a": statReply("0644"), "/ok": `{"exists":true}`}}
			o := observeOne(t, s, h, probeResource("/a"), probeResource("/bad", "do", c.do), probeResource("/c"))
			u := o[1].Unobservable
			if u == nil || u.Code != CodeFailed || o[1].Observed != nil {
				t.Fatalf("it passed: %+v", o[1])
			}
			for _, part := range []string{c.want, "type probe", digest} {
				if !strings.Contains(u.Text, part) {
					t.Errorf("the text lacks %q: %s", part, u.Text)
				}
			}
			if len(u.Text) > 8<<10 {
				t.Errorf("the text has %d bytes", len(u.Text))
			}
			if string(o[0].Observed) != statReply("0644") || o[0].Unobservable != nil {
				t.Errorf("the neighbour before it: %+v", o[0])
			}
			if o[2].Observed != nil || o[2].Unobservable != nil {
				t.Errorf("the neighbour after it: %+v", o[2])
			}
			for _, q := range h.asked {
				if strings.Contains(q, "shadow") || strings.Contains(q, "elsewhere") {
					t.Errorf("the host was asked %s", q)
				}
			}
		})
	}
}

func TestHostileDiff(t *testing.T) {
	s := probeStore(t, testLimits())
	for diff, want := range map[string]string{
		"asks":            "where a plugin may ask nothing",
		"panics":          "a bug in diff",
		"unknown-verb":    "none of the manifest's verbs",
		"foreign-verb":    "none of the manifest's verbs",
		"bad-severity":    `no severity "fatal"`,
		"quietly-blocked": "blocked and of severity drift",
		"bad-need":        `kind of need "planet"`,
	} {
		t.Run(diff, func(t *testing.T) {
			t.Parallel()
			h := &fakeHost{}
			r := s.Reading(t.Context(), h)
			defer r.Close()
			d, err := r.Diff(t.Context(), "probe", []drift.DiffInput{
				{Resource: probeResource("/a")},
				{Resource: probeResource("/bad", "diff", diff)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if d[0] == nil || d[0].Reason.Code != "missing" {
				t.Errorf("the neighbour: %+v", d[0])
			}
			if d[1] == nil || d[1].Severity != drift.SeverityError || d[1].Verb != drift.Noop || d[1].Reason.Code != CodeFailed {
				t.Fatalf("it passed: %+v", d[1])
			}
			if !strings.Contains(d[1].Reason.Text, want) {
				t.Errorf("the text lacks %q: %s", want, d[1].Reason.Text)
			}
			if len(h.asked) > 0 {
				t.Errorf("the host was asked %v", h.asked)
			}
		})
	}
}

func TestHostileApply(t *testing.T) {
	s := probeStore(t, testLimits())
	for do, want := range map[string]string{
		"other-path":   `reaches for path "/bin/sh"`,
		"dotted-path":  "outside the declared resources",
		"slashed-path": "outside the declared resources",
		"other-id":     "none of the declared resources'",
		"halfway":      "between two effects",
		"loop":         "it computed longer than",
		"bad-answer":   `unknown member "results"`,
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			h := &fakeHost{}
			out, err := s.Writing(t.Context(), h, h).Apply(t.Context(), probeResource("/a", "do", do), drift.Observation{}, drift.Action{Verb: drift.Write})
			var b *Broken
			if !errors.As(err, &b) || out != nil {
				t.Fatalf("it passed: %s %v", out, err)
			}
			if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), b.Digest) {
				t.Errorf("the text lacks %q or the digest: %v", want, err)
			}
			for _, e := range h.done {
				if !strings.Contains(e, `"path":"/a"`) {
					t.Errorf("outside the resource: %s", e)
				}
			}
			if do != "halfway" && do != "bad-answer" && len(h.done) > 0 {
				t.Errorf("done %v", h.done)
			}
		})
	}
}

func TestTakingAReplyBeforeAsking(t *testing.T) {
	s := probeStore(t, testLimits())
	u := observeOne(t, s, &fakeHost{}, probeResource("/a", "do", "early-take"))[0].Unobservable
	if u == nil || !strings.Contains(u.Text, "took a reply before it asked") {
		t.Errorf("%+v", u)
	}
}

// An id that comes with a key binds the key to the resource of that id, also within one batch.
func TestOneResourceIsNotReachedInAnothersName(t *testing.T) {
	s := probeStore(t, testLimits())
	h := &fakeHost{}
	o := observeOne(t, s, h, probeResource("/a", "do", "crossed-id", "neighbour", "probe:/b"), probeResource("/b"))
	if o[0].Unobservable == nil || o[0].Unobservable.Code != CodeFailed {
		t.Errorf("%+v", o[0])
	}
	o = observeOne(t, s, h, probeResource("/a", "do", "own-id"), probeResource("/b"))
	if string(o[0].Observed) != `{"match":"match"}` {
		t.Errorf("%+v", o[0])
	}
}

// A plugin that always loops costs a run its time and no more, however many resources it has.
func TestAPluginThatAlwaysLoopsCostsItsTime(t *testing.T) {
	l := testLimits()
	l.Time = time.Second
	s := probeStore(t, l)
	if err := s.types["probe"].observe.ready(); err != nil {
		t.Fatal(err)
	}
	var rs []resource.Resource
	for i := range 200 {
		rs = append(rs, probeResource("/"+strings.Repeat("x", i+1), "do", "loop"))
	}
	start := time.Now()
	for _, o := range observeOne(t, s, &fakeHost{}, rs...) {
		if o.Unobservable == nil {
			t.Fatalf("%+v", o)
		}
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A host that refuses a request as malformed breaks the plugin, never the run.
func TestARequestThatTheHostRefuses(t *testing.T) {
	s := probeStore(t, testLimits())
	o := observeOne(t, s, &fakeHost{fault: errors.New("no such thing")}, probeResource("/a"))
	if u := o[0].Unobservable; u == nil || u.Code != CodeFailed || !strings.Contains(u.Text, "no such thing") {
		t.Errorf("%+v", o[0])
	}
}
