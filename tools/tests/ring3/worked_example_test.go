package ring3

import (
	"strings"
	"testing"
)

// The four items of the worked example on a bare host, in the order of apply.
const fourItems = "install package:gyrum-prober, write directory:/etc/gyrum, write file:/etc/gyrum/prober.yaml, start systemd_unit:gyrum-prober.service"

// probed are the trees that a second apply may not touch. The state folder is the program's own.
var probed = []string{"/etc", "/usr", "/opt", "/srv", "/root", "/var/lib/dpkg", "/var/lib/apt", "/run/systemd/system"}

// TestRoundTripOfTheWorkedExample is the heart of the project: from a bare host to the declared state, and back to it
// after other hands were at work.
func TestRoundTripOfTheWorkedExample(t *testing.T) {
	m := bare(t)
	m.prober()

	first := m.check()
	if first.code != 2 || first.drifted() != fourItems {
		t.Fatalf("check of a bare host: %s\n%s", first.drifted(), first)
	}
	for _, it := range first.last().Items {
		if it.Severity != "drift" || it.Blocked != "" || it.Role != "gyrum-prober" {
			t.Errorf("item %s: severity %s, blocked %q, role %s", it.Resource.ID, it.Severity, it.Blocked, it.Role)
		}
	}
	if start := first.find("systemd_unit:gyrum-prober.service"); start.Action.Params["enable"] != true {
		t.Errorf("the start of the unit does not enable it: %v", start.Action.Params)
	}
	hash := first.last().PlanHash
	if again := m.check(); again.last().PlanHash != hash || !strings.HasPrefix(hash, "sha256:") {
		t.Errorf("the same plan has the hashes %q and %q", hash, again.last().PlanHash)
	}
	if !first.last().DryRun || first.last().Host != "t" || first.last().Stats.ByVerb["write"] != 2 {
		t.Errorf("the report of a check: %s", first)
	}

	t.Run("nothing happens unconfirmed", func(t *testing.T) {
		m := m.in(t)
		before := m.Snapshot("/etc", "/usr", "/var/lib/dpkg")
		for _, flags := range [][]string{nil, {"--confirm-plan", "sha256:" + strings.Repeat("0", 64)}} {
			if o := m.gyrum("apply", flags...); o.code != 3 || len(o.reports) != 1 || o.drifted() != fourItems {
				t.Errorf("apply %v: %s", flags, o)
			}
		}
		if changes := before.Changes(m.Snapshot("/etc", "/usr", "/var/lib/dpkg")); len(changes) > 0 {
			t.Errorf("the refused applies changed %v", changes)
		}
	})

	applied := m.gyrum("apply", "--confirm-plan", hash)
	if applied.code != 0 || len(applied.reports) != 2 || applied.done() != fourItems || applied.drifted() != "" {
		t.Fatalf("apply of the plan: %s", applied)
	}
	if applied.reports[0].DryRun {
		t.Error("the report of an apply says dry_run")
	}
	for _, it := range applied.reports[0].Items {
		if it.status() != "applied" {
			t.Errorf("result of %s: %+v", it.Resource.ID, it.Result)
		}
	}
	m.assertProber()
	if o := m.check(); o.code != 0 || o.drifted() != "" {
		t.Fatalf("check after apply: %s", o)
	}
	if o := m.gyrum("apply", "--confirm-plan", hash); o.code == 0 && o.done() != "" {
		t.Errorf("the approval was spent twice: %s", o)
	}

	t.Run("a second apply writes nothing", func(t *testing.T) {
		m := m.in(t)
		before, process := m.Snapshot(probed...), m.processes()
		if o := m.apply(); o.code != 0 || o.done() != "" || o.drifted() != "" {
			t.Errorf("second apply: %s", o)
		}
		if changes := before.Changes(m.Snapshot(probed...)); len(changes) > 0 {
			t.Errorf("it changed %s", strings.Join(changes, "\n"))
		}
		if after := m.processes(); after != process {
			t.Errorf("systemd was told something: before\n%s\nafter\n%s", process, after)
		}
	})

	t.Run("what other hands changed is named and healed", func(t *testing.T) {
		m := m.in(t)
		m.Shell("echo more >>/etc/gyrum/prober.yaml; systemctl disable -q --now gyrum-prober; chmod 700 /etc/gyrum")
		const three = "chmod directory:/etc/gyrum, write file:/etc/gyrum/prober.yaml, start systemd_unit:gyrum-prober.service"
		before := m.Snapshot(probed...)
		if o := m.check(); o.code != 2 || o.drifted() != three {
			t.Errorf("check: %s", o)
		}
		if changes := before.Changes(m.Snapshot(probed...)); len(changes) > 0 {
			t.Errorf("check changed %v", changes)
		}
		if o := m.converge(); o.done() != three {
			t.Errorf("apply did %s", o.done())
		}
		m.assertProber()
	})
}

// assertProber looks with the host's own tools whether it is as the worked example declares it.
func (m *managed) assertProber() {
	m.t.Helper()
	for script, want := range map[string]string{
		"dpkg-query -W -f='${Status}' gyrum-prober":               "install ok installed",
		"stat -c '%a %U %G' /etc/gyrum /etc/gyrum/prober.yaml":    "755 root root\n640 root gyrum",
		"head -1 /etc/gyrum/prober.yaml":                          "heartbeat_interval_seconds: 60",
		"systemctl is-active gyrum-prober":                        "active",
		"systemctl is-enabled gyrum-prober":                       "enabled",
		"find /etc/gyrum -mindepth 1 ! -name prober.yaml | wc -l": "0",
	} {
		if got := m.Shell(script); got != want {
			m.t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// processes tells what systemd has done with the units: a reload, a restart or a job changes it.
func (m *managed) processes() string {
	m.t.Helper()
	return m.Shell("systemctl show -p MainPID -p InvocationID -p ActiveEnterTimestampMonotonic -p StateChangeTimestampMonotonic gyrum-prober; " +
		"systemctl show -p UnitsLoadTimestampMonotonic -p NJobs -p NInstalledJobs")
}
