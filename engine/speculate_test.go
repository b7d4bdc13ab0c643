package engine

import (
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine/drift"
)

func TestSpeculationFindsWhatNeverConverges(t *testing.T) {
	absent := func(s spec) spec { s.State = "absent"; return s }
	creates := func(p string) spec { s := command("c", false); s.Creates = p; return s }
	stopped := func(n string) spec { s := unit(n); s.State = "stopped"; return s }
	runs := func(b *bench, names ...string) {
		for _, n := range names {
			b.units[n] = map[string]string{}
		}
	}
	for name, tt := range map[string]struct {
		declared []any
		set      func(*bench)
		want     []string // "id: note"
	}{
		"nothing wrong":                      {[]any{"r", dir("/a"), file("/a/f", "1"), creates("/a/m"), unit("u.service")}, nil, nil},
		"a removed marker":                   {[]any{"r", creates("/m"), absent(file("/m", ""))}, func(b *bench) { b.values["file:/m"], b.values["command:c"] = "x", "ran" }, []string{"file:/m: it undoes command:c"}},
		"a marker that a later item removes": {[]any{"r", absent(file("/m", "")), creates("/m")}, nil, []string{"command:c: it undoes file:/m"}},
		"a marker that an earlier item makes": {[]any{"r", file("/m", "1"), creates("/m")}, nil, []string{
			"command:c: file:/m makes /m first, so the command will not run"}},
		"a folder that goes while something is to live in it": {[]any{"r", absent(dir("/a")), file("/a/f", "1")}, func(b *bench) { b.has(dir("/a")) }, []string{
			"directory:/a: a folder that is not empty stays, and file:/a/f is declared in it"}},
		"a service that its timer starts again": {[]any{"r", stopped("s.service"), unit("s.timer")}, func(b *bench) { runs(b, "s.service") }, []string{
			"systemd_unit:s.service: s.timer runs and may start it again at any time",
			"systemd_unit:s.timer: it may start s.service again, which is declared stopped"}},
		"a unit whose file goes": {[]any{"r", absent(file("/etc/systemd/system/u.service", "")), unit("u.service")}, func(b *bench) { b.has(spec{ID: "file:/etc/systemd/system/u.service", Want: "x"}) }, []string{
			"file:/etc/systemd/system/u.service: it takes the definition of u.service away, which is declared started",
			"systemd_unit:u.service: file:/etc/systemd/system/u.service takes its definition away"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tt.declared...)
			if tt.set != nil {
				tt.set(b)
			}
			plain := b.check()
			b.o.Speculate = true
			report := b.check()
			var got []string
			for _, it := range report.Items {
				for note := range strings.SplitSeq(it.Note, "; ") {
					if why, found := strings.CutPrefix(note, "this will not converge: "); found || strings.Contains(note, "will not run") {
						got = append(got, it.Resource.ID+": "+why)
					}
					if strings.Contains(note, "will not run") && strings.Contains(note, "converge") {
						t.Errorf("a command that need not run converges: %s", note)
					}
				}
			}
			slices.Sort(got)
			same(t, "notes", got, tt.want)
			if plain.PlanHash != report.PlanHash || slices.ContainsFunc(plain.Items, func(it drift.Item) bool { return strings.Contains(it.Note, "converge") }) {
				t.Error("speculation changes more than notes")
			}
		})
	}
}
