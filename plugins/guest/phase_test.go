package guest

import (
	"strings"
	"testing"
)

func TestABatchIsAnsweredInOrder(t *testing.T) {
	observe := Observing(func(d Value) Observation {
		return Observation{Observed: Record("path", d.GetText("path"))}
	})
	out, status := observe([]byte(`{"resources":[{"path":"/b"},{"path":"/a"},{"path":"/b"}]}`))
	want := `{"results":[{"observed":{"path":"/b"}},{"observed":{"path":"/a"}},{"observed":{"path":"/b"}}]}`
	if status != StatusAnswer || string(out) != want {
		t.Errorf("%d %s", status, out)
	}
	if out, status := observe([]byte(`{"resources":[]}`)); status != StatusAnswer || string(out) != `{"results":[]}` {
		t.Errorf("an empty batch: %d %s", status, out)
	}
}

func TestARequestThatIsNoJSONIsAnError(t *testing.T) {
	for name, phase := range map[string]Phase{
		"observe": Observing(func(Value) Observation { return Observation{} }),
		"diff":    Diffing(func(Input) *Decision { return nil }),
		"apply":   Applying(func(Value, Action) (Value, *Error) { return Null, nil }),
	} {
		out, status := phase([]byte(`{"resources":`))
		if status != StatusError || !strings.HasPrefix(string(out), `{"error":{"code":"invalid","text":"bad JSON at byte 13`) {
			t.Errorf("%s: %d %s", name, status, out)
		}
	}
}

func TestAnObservationShowsWhatItHas(t *testing.T) {
	out, _ := Observing(func(Value) Observation {
		return Observation{Observed: Record("a", "1"), Facts: Record("b", "2"), Inputs: []string{"/c"}, PackageMayStart: true}
	})([]byte(`{"resources":[{}]}`))
	if want := `{"results":[{"facts":{"b":"2"},"inputs":["/c"],"observed":{"a":"1"},"package_may_start":true}]}`; string(out) != want {
		t.Errorf("%s", out)
	}
	out, _ = Observing(func(Value) Observation { return Unseen(&Error{Code: "io", Text: "no"}) })([]byte(`{"resources":[{}]}`))
	if want := `{"results":[{"observed":null,"unobservable":{"code":"unobservable","text":"no"}}]}`; string(out) != want {
		t.Errorf("%s", out)
	}
}

func TestADecisionShowsWhatItHas(t *testing.T) {
	for want, d := range map[string]*Decision{
		`null`: nil,
		`{"reason":{"code":"c","text":"t"},"severity":"drift","verb":"write"}`: {Verb: "write", Reason: Reason{"c", "t"}},
		`{"blocked":"b","note":"n","params":{},"reason":{"code":"c","text":"t"},"severity":"error","verb":"write"}`: {
			Verb: "write", Params: Object(), Reason: Reason{"c", "t"}, Blocked: "b", Note: "n", Severity: Warn},
		`{"idempotent":false,"needs":[{"kind":"user","name":"u","text":"x"}],"reason":{"code":"c","text":"t"},"severity":"warn","verb":"run"}`: {
			Verb: "run", Reason: Reason{"c", "t"}, Severity: Warn, Repeats: true, Needs: []Need{{NeedUser, "u", "x"}}},
		`{"reason":{"code":"c","text":"t"},"severity":"error","verb":"noop"}`: Errored("c", "t"),
	} {
		out, _ := Diffing(func(Input) *Decision { return d })([]byte(`{"resources":[{}]}`))
		if string(out) != `{"results":[`+want+`]}` {
			t.Errorf("%s\nnot %s", out, want)
		}
	}
}

func TestDiffIsToldWhatChanges(t *testing.T) {
	var got Input
	Diffing(func(in Input) *Decision { got = in; return nil })([]byte(
		`{"resources":[{"declared":{"a":1},"observed":null,"facts":{"b":2},"changing":{"inputs":["/x","/y"],"package":["package:p"]}}]}`))
	if got.Declared.Get("a").Number() != 1 || !got.Observed.IsNull() || got.Facts.Get("b").Number() != 2 ||
		Words(got.Inputs) != "/x, /y" || Words(got.Packages) != "package:p" {
		t.Errorf("%+v", got)
	}
}

func TestApplyAnswers(t *testing.T) {
	request := []byte(`{"declared":{"id":"x"},"observed":{"o":1},"facts":null,"action":{"verb":"run","params":{"p":"q"}}}`)
	for name, c := range map[string]struct {
		output Value
		err    *Error
		want   string
		status int32
	}{
		"nothing to say":           {Null, nil, `{}`, StatusAnswer},
		"a record":                 {Record("exit", "0"), nil, `{"output":{"exit":"0"}}`, StatusAnswer},
		"a failure":                {Null, &Error{Code: "failed", Text: "no"}, `{"error":{"code":"failed","text":"no"}}`, StatusError},
		"a failure with a record":  {Null, &Error{"failed", "no", Record("exit", "7")}, `{"error":{"code":"failed","text":"no"},"output":{"exit":"7"}}`, StatusError},
		"a verb that nobody knows": {Null, UnknownVerb(Action{Verb: "x"}), `{"error":{"code":"invalid","text":"no action of this type: x"}}`, StatusError},
	} {
		out, status := Applying(func(d Value, a Action) (Value, *Error) {
			if d.GetText("id") != "x" || a.Verb != "run" || a.Text("p") != "q" || !a.Has("p") || a.Has("z") || a.Observed.Get("o").Number() != 1 {
				t.Errorf("%s: it is asked for %+v", name, a)
			}
			return c.output, c.err
		})(request)
		if string(out) != c.want || status != c.status {
			t.Errorf("%s: %d %s", name, status, out)
		}
	}
}

func TestAReplyIsAnAnswerOrAnError(t *testing.T) {
	if v, err := Reply([]byte(`{"a":1}`)); err != nil || v.Get("a").Number() != 1 {
		t.Errorf("%v", err)
	}
	v, err := Reply([]byte(`{"error":{"code":"failed","text":"no"},"exit":7}`))
	if err == nil || err.Code != "failed" || err.Error() != "no" || string(Encode(err.Detail)) != `{"exit":7}` || !v.IsNull() {
		t.Errorf("%+v %s", err, Encode(v))
	}
	for _, bad := range []string{``, `[]`, `null`, `{"a":}`} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken for a reply", bad)
				}
			}()
			_, _ = Reply([]byte(bad))
		}()
	}
}
