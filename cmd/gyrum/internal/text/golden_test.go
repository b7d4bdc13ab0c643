package text

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gyrum.ai/cmd/gyrum/internal/textdiff"
	"gyrum.ai/engine/drift"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each testdata/NAME.json holds the one report of a check or the two of an apply, one a line, as the program prints
// them with -o json. NAME.txt is the page that a pipe gets, NAME.narrow.txt an ASCII one of 60 columns, NAME.color.txt
// a coloured one with escapes written as ESC.
func TestGoldenPages(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, file := range files {
		reports := read(t, file)
		stem := strings.TrimSuffix(file, ".json")
		for _, v := range []struct {
			suffix string
			style  Style
		}{
			{".txt", Style{}},
			{".narrow.txt", Style{ASCII: true, Width: 60}},
			{".color.txt", Style{Color: true}},
		} {
			golden := stem + v.suffix
			if _, err := os.Stat(golden); err != nil && v.suffix != ".txt" {
				continue
			}
			t.Run(strings.TrimPrefix(golden, "testdata/"), func(t *testing.T) {
				got := strings.ReplaceAll(page(v.style, reports), "\x1b", "ESC")
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, _ := os.ReadFile(golden)
				if got != string(want) {
					t.Errorf("%s differs (go test ./internal/text -update writes it anew)\ngot:\n%s\nwant:\n%s", golden, got, want)
				}
			})
		}
	}
}

func page(s Style, reports []*drift.Report) string {
	o := Options{
		Command: "gyrum apply --host t",
		Unseen:  "Some resources need root to be seen: sudo gyrum check --host t",
	}
	if len(reports) == 2 {
		var b strings.Builder
		f := s.Follow(reports[0].Items)
		for _, it := range reports[0].Items {
			b.WriteString(f.Item(it))
		}
		return b.String() + s.Verdict(reports[0], reports[1], o)
	}
	return s.Plan(reports[0], o)
}

func read(t *testing.T, file string) []*drift.Report {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*drift.Report
	dec := json.NewDecoder(bytes.NewReader(raw))
	for dec.More() {
		r := new(drift.Report)
		if err := dec.Decode(r); err != nil {
			t.Fatal(file, err)
		}
		r.Count(r.Stats.ResourcesChecked)
		out = append(out, r)
	}
	return out
}

func TestAPlanOfWhichNothingWouldBeDoneNamesNoCommand(t *testing.T) {
	r := read(t, "testdata/bare.json")[0]
	o := Options{Command: "gyrum apply"}
	if got := (Style{}).Plan(r, o); !strings.Contains(got, "--confirm-plan") {
		t.Errorf("got\n%s", got)
	}
	for i := range r.Items {
		r.Items[i].HeldBack = "package:p"
	}
	if got := (Style{}).Plan(r, o); strings.Contains(got, "plan  ") || strings.Contains(got, "--confirm-plan") {
		t.Errorf("got\n%s", got)
	}
}

func TestNoLineEndsInBlanks(t *testing.T) {
	it := drift.Item{Role: "r", Resource: drift.ResourceRef{Type: "systemd_unit", ID: "systemd_unit:a.service"}, Severity: drift.SeverityError,
		Action: drift.Action{Verb: drift.Noop}, Result: &drift.Result{Status: drift.Blocked, Error: "is masked"}}
	for line := range strings.Lines((Style{}).Follow([]drift.Item{it}).Item(it)) {
		if strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
			t.Errorf("%q", line)
		}
	}
}

func TestQuietKeepsErrorsAndTheSummary(t *testing.T) {
	r := read(t, "testdata/errors.json")[0]
	got := Style{}.Plan(r, Options{Quiet: true, Command: "gyrum apply"})
	if strings.Contains(got, "confirm-plan") || strings.Contains(got, "/srv/app/ok") || !strings.Contains(got, "/srv/app/deep/x") {
		t.Errorf("got\n%s", got)
	}
}

func TestVerboseNamesWhatIsInSync(t *testing.T) {
	r := read(t, "testdata/bare.json")[0]
	got := Style{}.Plan(r, Options{Verbose: true, InSync: []drift.ResourceRef{{Type: "file", ID: "file:/etc/motd"}}})
	for _, want := range []string{"in sync\n", "✓ file  /etc/motd", "the package is not installed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestContentDifferencesStandUnderTheirItem(t *testing.T) {
	r := read(t, "testdata/drifted.json")[0]
	got := Style{}.Plan(r, Options{Diff: func(it drift.Item) ([]textdiff.Line, string) {
		if it.Resource.ID == "file:/etc/gyrum/prober.yaml" {
			return textdiff.Unified([]byte("a: 1\n"), []byte("a: 2\n\x1b[2J")), "host and manifest"
		}
		return nil, ""
	}})
	want := "      host and manifest\n      @@ -1 +1,2 @@\n      -a: 1\n      +a: 2\n      +\\x1b[2J\n"
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestNothingPrintedCanSteerATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本":     "plain é 日本",
		"a\x1b[2Jb":      `a\x1b[2Jb`,
		"line\nbreak":    `line\nbreak`,
		"bad\xffbyte":    `bad\xffbyte`,
		"turn\u202eback": `turn\u202eback`,
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}
