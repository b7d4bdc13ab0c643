package command

import (
	"strings"
	"testing"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/guest/write"
)

// TestApply shows what becomes of a run: what creates names is looked at after a success, and the record of the run is
// kept whatever comes of it.
func TestApply(t *testing.T) {
	const record = `{"exit":0}`
	for name, c := range map[string]struct {
		creates, ran, exists string
		want, fails          string
		looked               bool
	}{
		"it leaves what it creates":        {"/x", record, `{"exists":true}`, record, "", true},
		"it succeeds and creates nothing":  {"/x", record, `{"exists":false}`, record, "the command succeeded but /x does not exist", true},
		"it fails":                         {"/x", `{"error":{"code":"failed","text":"exit status 7"},"exit":7}`, "", `{"exit":7}`, "exit status 7", false},
		"nobody may look at what it made":  {"/x", record, `{"error":{"code":"permission-denied","text":"denied"}}`, record, "denied", true},
		"it is not said what it creates":   {"", record, "", record, "", false},
		"it fails, and nothing is created": {"", `{"error":{"code":"timeout","text":"ended after 10m"},"timed_out":true}`, "", `{"timed_out":true}`, "ended after 10m", false},
	} {
		looked := false
		look := read.Host{Ask: func(capability string, request []byte) []byte {
			looked = true
			if capability != "path_exists" || string(request) != `{"path":"/x"}` {
				t.Errorf("%s: %s %s", name, capability, request)
			}
			return []byte(c.exists)
		}}
		do := write.Host{Do: func(capability string, request []byte) []byte {
			if capability != "command_run" || string(request) != `{"id":"command:c"}` {
				t.Errorf("%s: %s %s", name, capability, request)
			}
			return []byte(c.ran)
		}}
		declared := guest.Record("id", "command:c")
		if c.creates != "" {
			declared = declared.WithText("creates", c.creates)
		}
		output, err := Apply(look, do, declared, guest.Action{Verb: "run"})
		text, got := "", string(guest.Encode(output))
		if err != nil {
			text, got = err.Text, string(guest.Encode(err.Detail))
		}
		if (err != nil) != (c.fails != "") || !strings.Contains(text, c.fails) || got != c.want || looked != c.looked {
			t.Errorf("%s: %s, %q, looked %v", name, got, text, looked)
		}
	}
}
