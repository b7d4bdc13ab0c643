package systemdunit

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
)

var update = flag.Bool("update", false, "write testdata/states.txt anew, to be read by eye")

const legend = `# Every enable word of systemd times every run state times every declaration: what check decides.
#
# Columns are what is declared: started, stopped or - for the run state, then + enabled: true, - enabled: false, . not
# managed. Cells: = in sync; start, stop, enable, disable the verb, with + or - behind start and stop where it also
# enables or disables; ? where the unit or its file must come from earlier in the plan; !code an error that is not acted
# on. A unit without a unit_file, and one whose unit_file is there, read the same; the second table is for a unit_file
# that is missing.
`

var words = []string{
	"enabled", "enabled-runtime", "disabled", "static", "indirect", "generated", "transient", "linked", "linked-runtime",
	"alias(enabled)", "alias(disabled)", "masked", "masked-runtime", "bad", "not-found",
}

var runs = []string{
	"active/running", "active/exited", "reloading/reload", "inactive/dead", "failed/failed", "activating/start",
	"activating/auto-restart", "deactivating/stop", "maintenance/-",
}

var declarations = []string{"started+", "started-", "started.", "stopped+", "stopped-", "stopped.", "-+", "--"}

// TestStates compares the whole table with what the code decides.
func TestStates(t *testing.T) {
	var out strings.Builder
	out.WriteString(legend)
	for _, file := range []string{"none", "missing"} {
		fmt.Fprintf(&out, "\n# unit_file %s\n%-16s %-24s", map[string]string{"none": "none, or there", "missing": "missing"}[file], "word", "runs")
		for _, d := range declarations {
			fmt.Fprintf(&out, " %-18s", d)
		}
		out.WriteString("\n")
		for _, w := range words {
			for _, r := range runs {
				fmt.Fprintf(&out, "%-16s %-24s", w, r)
				for _, d := range declarations {
					fmt.Fprintf(&out, " %-18s", cell(t, w, r, d, file))
				}
				out.WriteString("\n")
			}
		}
	}
	text := strings.ReplaceAll(trimmed(out.String()), "\t", " ")
	if *update {
		if err := os.WriteFile("testdata/states.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/states.txt")
	if err != nil {
		t.Fatal(err)
	}
	have := strings.Split(text, "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(have) || have[i] != line {
			t.Errorf("testdata/states.txt:%d says\n%s\nand the code\n%s", i+1, line, have[min(i, len(have)-1)])
		}
	}
}

func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// cell decides one case, for a missing unit file once, else with none declared and with one that is there.
func cell(t *testing.T, word, run, declaration, file string) string {
	t.Helper()
	first := decided(word, run, declaration, file)
	if file == "none" {
		if second := decided(word, run, declaration, "there"); second != first {
			t.Errorf("%s %s %s: %s without unit_file, %s with one that is there", word, run, declaration, first, second)
		}
	}
	return first
}

func decided(word, run, declaration, file string) string {
	declared := guest.Record("type", "systemd_unit", "id", "systemd_unit:a.service", "name", "a.service")
	state, boot := declaration[:len(declaration)-1], declaration[len(declaration)-1]
	if state != "-" {
		declared = declared.WithText("state", state)
	}
	if boot != '.' {
		declared = declared.With("enabled", guest.Bool(boot == '+'))
	}
	if file != "none" {
		declared = declared.WithText("unit_file", "/etc/systemd/system/a.service")
	}
	reply := guest.Encode(manager(word, run, file))
	o := Observe(read.Host{Ask: func(string, []byte) []byte { return reply }}, declared)
	return code(Diff(guest.Input{Declared: declared, Observed: o.Observed, Facts: o.Facts}))
}

// manager is what systemd says of a unit in these states.
func manager(word, run, file string) guest.Value {
	active, sub, _ := strings.Cut(run, "/")
	load, alias := "loaded", ""
	switch word {
	case "masked", "masked-runtime":
		load = "masked"
	case "bad":
		load = "error"
	case "not-found":
		load, word = "not-found", ""
	}
	if inner, is := strings.CutPrefix(word, "alias("); is {
		word, alias = "alias", strings.TrimSuffix(inner, ")")
	}
	freshness := "fresh"
	if !running(active) {
		freshness = "not-running"
	}
	u := guest.Record("load_state", load, "active_state", active, "sub_state", strings.Trim(sub, "-"), "unit_file_state", word,
		"service_type", "simple", "result", "success", "freshness", freshness).
		With("can_start", guest.Bool(true)).With("need_daemon_reload", guest.Bool(false)).
		With("unit_file_present", guest.Bool(file != "missing" && load != "not-found"))
	if file == "there" {
		u = u.With("unit_file_present", guest.Bool(true))
	}
	if alias != "" {
		u = u.WithText("alias_of", "b.service").WithText("alias_state", alias)
	}
	return u
}

// code writes a decision as a cell of the table.
func code(d *guest.Decision) string {
	if d == nil {
		return "="
	}
	if d.Severity == guest.Bad {
		return "!" + d.Reason.Code
	}
	text := d.Verb
	if enable := d.Params.Get("enable"); !enable.IsNull() {
		text += map[bool]string{true: "+", false: "-"}[enable.True()]
	}
	if len(d.Needs) > 0 {
		text += "?"
	}
	return text
}
