package outcome

import (
	"encoding/json"
	"testing"

	"gyrum.ai/engine/drift"
)

func TestCompare(t *testing.T) {
	line := func(id, params string, severity drift.Severity) Line {
		return Line{ID: id, Verb: drift.Write, Params: json.RawMessage(params), Severity: severity}
	}
	then := Outcome{Items: []Line{line("a", `{}`, "drift"), line("b", `{}`, "drift"), line("c", `{}`, "drift"), line("d", `{}`, "drift")}}
	now := Outcome{Items: []Line{line("e", `{}`, "drift"), line("c", `{"mode":"0644"}`, "drift"), line("b", `{}`, "drift"), line("d", `{}`, "error")}}
	var got []string
	for _, c := range Compare(then, now) {
		switch {
		case c.Then == nil:
			got = append(got, "+"+c.ID)
		case c.Now == nil:
			got = append(got, "-"+c.ID)
		default:
			got = append(got, "~"+c.ID)
		}
	}
	if want := []string{"+e", "~c", "~d", "-a"}; len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("%v, want %v", got, want)
	}
	if same := Compare(then, then); len(same) != 0 {
		t.Errorf("%v", same)
	}
}

func TestOf(t *testing.T) {
	r := &drift.Report{PlanHash: "sha256:x", Items: []drift.Item{{
		Role: "r", Resource: drift.ResourceRef{Type: "file", ID: "file:/a"}, Action: drift.Action{Verb: drift.Write}, Severity: drift.SeverityError,
		Reason: drift.Reason{Code: "missing", Text: "words"}, Blocked: "why", Note: "words",
	}}}
	o := Of(r)
	if o.PlanHash != "sha256:x" || len(o.Items) != 1 || !o.Items[0].Blocked || o.Items[0].Reason != "missing" {
		t.Errorf("%+v", o)
	}
}
