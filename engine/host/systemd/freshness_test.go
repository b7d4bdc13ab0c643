package systemd

import (
	"strings"
	"testing"
)

// Times of the table: the host booted at 100, all unit files were last read at 300, the process started at 400.
const (
	booted, lastLoad, start = 100, 300, 400
)

func TestFreshness(t *testing.T) {
	conf := func(mtime, ctime int64) Input {
		return Input{Name: "/etc/a.conf", Digest: "d1", MTime: mtime, CTime: ctime}
	}
	unit := func(mtime, ctime int64) Input {
		return Input{Name: "/etc/systemd/system/a.service", UnitFile: true, Digest: "u1", MTime: mtime, CTime: ctime}
	}
	digest := func(in Input, d string) Input { in.Digest = d; return in }
	running := Process{Running: true, Invocation: "now", Start: start, Loads: []int64{booted, lastLoad}}
	with := func(change func(p *Process)) Process { p := running; change(&p); return p }
	record := func(invocation string, pairs ...string) *Record {
		r := &Record{Invocation: invocation, Inputs: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			r.Inputs[pairs[i]] = pairs[i+1]
		}
		return r
	}
	tests := []struct {
		name    string
		process Process
		inputs  []Input
		record  *Record
		want    string // state, then the inputs it is about
	}{
		{"not running", Process{}, []Input{conf(500, 500)}, nil, "not-running"},
		{"nothing to be stale from", running, nil, nil, "fresh"},

		{"record of this process, same digests", running, []Input{conf(500, 500)}, record("now", "/etc/a.conf", "d1"), "fresh"},
		{"record of another process, same digests", running, []Input{conf(500, 500)}, record("old", "/etc/a.conf", "d1"), "fresh"},
		{"a mere touch", running, []Input{conf(900, 900)}, record("now", "/etc/a.conf", "d1"), "fresh"},
		{"record of this process, other digest", running, []Input{digest(conf(50, 50), "d2")}, record("now", "/etc/a.conf", "d1"), "stale /etc/a.conf"},
		{"record of another process, other digest, changed before the start", running, []Input{digest(conf(350, 350), "d2")}, record("old", "/etc/a.conf", "d1"), "fresh"},
		{"record of another process, other digest, changed since", running, []Input{digest(conf(500, 500), "d2")}, record("old", "/etc/a.conf", "d1"), "stale /etc/a.conf"},
		{"an input that the record does not have, older", running, []Input{conf(500, 500), {Name: "package:x", Digest: "2", MTime: 350, CTime: 350}}, record("now", "/etc/a.conf", "d1"), "fresh"},
		{"an input that the record does not have, newer", running, []Input{conf(500, 500), {Name: "package:x", Digest: "2", MTime: 450, CTime: 450}}, record("now", "/etc/a.conf", "d1"), "stale package:x"},
		{"a drop-in was taken away", running, []Input{unit(50, 50)}, record("now", "/etc/systemd/system/a.service", "u1", "/etc/systemd/system/a.service.d/x.conf", "x"), "stale /etc/systemd/system/a.service.d/x.conf"},
		{"a resource that is no longer named", running, []Input{unit(50, 50)}, record("now", "/etc/systemd/system/a.service", "u1", "file:/etc/x", "x"), "fresh"},
		{"a secret without a key, older", running, []Input{digest(conf(350, 350), "")}, record("now", "/etc/a.conf", "d1"), "fresh"},
		{"a secret without a key, newer", running, []Input{digest(conf(450, 450), "")}, record("now", "/etc/a.conf", "d1"), "stale /etc/a.conf"},
		{"a file that went", running, []Input{{Name: "/etc/a.conf", Absent: true, Digest: "absent"}}, record("now", "/etc/a.conf", "d1"), "stale /etc/a.conf"},

		{"times: older", running, []Input{conf(350, 350)}, nil, "fresh"},
		{"times: newer", running, []Input{conf(450, 450)}, nil, "stale /etc/a.conf"},
		{"times: an old mtime set on new content", running, []Input{conf(50, 450)}, nil, "unknown /etc/a.conf"},
		{"times: not to be had", running, []Input{conf(0, 0)}, nil, "unknown /etc/a.conf"},
		{"times: a directory whose mode changed", running, []Input{conf(0, 450)}, nil, "unknown /etc/a.conf"},
		{"times: not there", running, []Input{{Name: "/etc/default/a", Absent: true}}, nil, "fresh"},
		{"times: at the very start", running, []Input{conf(400, 400)}, nil, "unknown /etc/a.conf"},

		{"unit file: read between change and start", running, []Input{unit(200, 200)}, nil, "fresh"},
		{"unit file: there since before the boot, read again after the start", with(func(p *Process) { p.Loads = []int64{booted, 500} }), []Input{unit(50, 50)}, nil, "fresh"},
		{"unit file: changed after the last load, started since", running, []Input{unit(350, 350)}, nil, "unknown /etc/systemd/system/a.service"},
		{"unit file: the same, but it came in for the first time", with(func(p *Process) { p.SameDefinition = true }), []Input{unit(350, 350)}, nil, "fresh"},
		{"unit file: changed, started, then read again", with(func(p *Process) { p.Loads = []int64{booted, 500} }), []Input{unit(350, 350)}, nil, "unknown /etc/systemd/system/a.service"},
		{"unit file: changed since", with(func(p *Process) { p.SameDefinition = true }), []Input{unit(450, 450)}, nil, "stale /etc/systemd/system/a.service"},
		{"unit file: a load that was noted when it was started", with(func(p *Process) { p.Loads = []int64{booted, 500, lastLoad} }), []Input{unit(200, 200)}, nil, "fresh"},

		{"generated: its source is older", running, []Input{{Name: "/run/systemd/generator/a.mount", UnitFile: true, Generated: true, Digest: "g", MTime: 50, CTime: 50}}, nil, "fresh"},
		{"generated: its source is newer", running, []Input{{Name: "/run/systemd/generator/a.mount", UnitFile: true, Generated: true, Digest: "g", MTime: 500, CTime: 500}}, nil, "unknown /run/systemd/generator/a.mount"},

		{"one stale among unknown", running, []Input{conf(50, 450), {Name: "/etc/b", MTime: 500, CTime: 500}}, nil, "stale /etc/b"},
		{"no invocation in the record proves nothing", with(func(p *Process) { p.Invocation = "" }), []Input{digest(conf(350, 350), "d2")}, record("", "/etc/a.conf", "d1"), "fresh"},
	}
	for _, tt := range tests {
		j := Judge(tt.process, tt.inputs, tt.record)
		if got := strings.TrimSpace(j.State + " " + strings.Join(j.Inputs, " ")); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if (j.State == Stale || j.State == Unknown) == (j.Text == "") {
			t.Errorf("%s: text is %q", tt.name, j.Text)
		}
	}
}

func TestUnitNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"ssh.service": true, "t@a.service": true, "t@.service": true, `a\x2db.service`: true, "-.mount": true, "-x.service": true,
		"dev-disk-by\\x2duuid-1.swap": true, "user@1000.service": true, "a@b@c.service": true, "PLAIN.service": true, "a:b_c.timer": true,
		"": false, "ssh": false, ".service": false, "a b.service": false, "a/b.service": false, "*.service": false, "a.conf": false,
		"@a.service": false, "a\n.service": false, strings.Repeat("a", 250) + ".service": false,
	} {
		if (check(name) == nil) != ok {
			t.Errorf("%q: %v", name, check(name))
		}
	}
	for name, want := range map[string]bool{"t@.service": true, "t@a.service": false, "t.service": false, "a@b@.service": false} {
		if isTemplate(name) != want {
			t.Errorf("%q is a template: %v", name, !want)
		}
	}
}
