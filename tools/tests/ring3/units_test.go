package ring3

import (
	"strings"
	"testing"
	"time"
)

// sleeper is a service that stays up.
const sleeper = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"

// TestEnableWordsOfSystemd sets up one unit a word that systemctl is-enabled can answer, and declares each in turn.
func TestEnableWordsOfSystemd(t *testing.T) {
	m := boot(t)
	m.Shell(`cd /etc/systemd/system
		mkdir -p /srv/units /run/systemd/system
		for u in on off runtime masked target linked; do printf '` + strings.ReplaceAll(sleeper, "\n", `\n`) + `' >$u.service; done
		printf '[Service]\nExecStart=/bin/sleep infinity\n' >static.service
		printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nAlso=off.service\n' >indirect.service
		printf '[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\nAlias=other.service\n' >target.service
		mv linked.service /srv/units; mv masked.service /srv/units
		systemctl link -q /srv/units/linked.service
		systemctl enable -q on.service target.service; systemctl enable -q --runtime runtime.service; systemctl mask -q masked.service
		systemctl daemon-reload`)
	for unit, word := range map[string]string{
		"on": "enabled", "off": "disabled", "runtime": "enabled-runtime", "masked": "masked", "other": "alias",
		"linked": "linked", "static": "static", "indirect": "indirect", "ghost": "",
	} {
		if got := m.enabled(unit + ".service"); got != word {
			t.Fatalf("the host is not what the test needs: is-enabled %s says %q, want %q", unit, got, word)
		}
	}
	for _, c := range []struct{ name, declared, want string }{
		{"enabled", "name: on.service, enabled: true", ""},
		{"enabled, not wanted", "name: on.service, enabled: false", "disable"},
		{"disabled", "name: off.service, enabled: false", ""},
		{"disabled, wanted", "name: off.service, enabled: true", "enable"},
		{"enabled until the next boot is not enabled", "name: runtime.service, enabled: true", "enable"},
		{"enabled until the next boot is not disabled", "name: runtime.service, enabled: false", "disable"},
		{"linked is disabled", "name: linked.service, enabled: false", ""},
		{"linked, wanted", "name: linked.service, enabled: true", "enable"},
		{"masked is never unmasked to enable", "name: masked.service, enabled: true", "error: noop"},
		{"masked is never unmasked to start", "name: masked.service, state: started", "error: noop"},
		{"masked is stopped and disabled", "name: masked.service, state: stopped, enabled: false", ""},
		{"static cannot be enabled", "name: static.service, enabled: true", "error: noop"},
		{"static is disabled", "name: static.service, enabled: false", ""},
		{"a missing unit is stopped and disabled", "name: ghost.service, state: stopped, enabled: false", ""},
		{"a missing unit cannot be started", "name: ghost.service, state: started", "error: start"},
		{"a missing unit cannot be enabled", "name: ghost.service, enabled: true", "error: enable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := m.in(t)
			m.resources("- {type: systemd_unit, " + c.declared + "}")
			o := m.check()
			unit := " systemd_unit:" + strings.TrimSuffix(strings.Fields(c.declared)[1], ",")
			if got := strings.TrimSuffix(o.drifted(), unit); got != c.want {
				t.Fatalf("%s: %q, want %q\n%s", c.declared, got, c.want, o)
			}
			if strings.HasPrefix(c.want, "error") {
				if o.code != 1 || o.last().Items[0].Reason.Text == "" {
					t.Errorf("exit %d, reason %+v", o.code, o.last().Items[0].Reason)
				}
				return
			}
			m.converge()
		})
	}
	if got := m.enabled("masked.service"); got != "masked" {
		t.Errorf("masked.service is %s now", got)
	}
}

func TestUnitWhoseFileIsGoneStillRuns(t *testing.T) {
	m := boot(t)
	m.unit("vanish.service", sleeper)
	m.Shell("systemctl start vanish; rm /etc/systemd/system/vanish.service; systemctl daemon-reload")
	m.resources("- {type: systemd_unit, name: vanish.service, state: stopped}")
	if o := m.check(); o.code != 2 || o.drifted() != "stop systemd_unit:vanish.service" {
		t.Fatalf("check: %s", o)
	}
	m.converge()
	if got := m.active("vanish.service"); got != "inactive" {
		t.Errorf("vanish.service is %s", got)
	}
}

func TestCrashLoop(t *testing.T) {
	m := boot(t)
	m.unit("loop.service", "[Service]\nExecStart=/bin/sh -c 'exit 3'\nRestart=always\nRestartSec=30\n")
	m.Shell("systemctl start loop || true; sleep 0.2")
	if got := m.active("loop.service"); got != "activating" {
		t.Fatalf("loop.service is %s", got)
	}

	m.resources("- {type: systemd_unit, name: loop.service, state: started}")
	begun := time.Now()
	o := m.apply()
	if o.code != 1 || o.find("systemd_unit:loop.service").Resource.ID == "" {
		t.Errorf("a unit that crashes is accepted as started: %s", o)
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the start waits for RestartSec=: %v", took)
	}

	// Once it is mended it is up at once.
	m.unit("loop.service", "[Service]\nExecStart=/bin/sleep 1000\nRestart=always\nRestartSec=30\n")
	if got := m.active("loop.service"); got != "activating" {
		t.Fatalf("loop.service is %s", got)
	}
	begun = time.Now()
	m.converge()
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("the start waits for RestartSec=: %v", took)
	}
	m.unit("loop.service", "[Service]\nExecStart=/bin/sh -c 'exit 3'\nRestart=always\nRestartSec=30\n")
	m.Shell("systemctl restart loop || true; sleep 0.2")

	m.resources("- {type: systemd_unit, name: loop.service, state: stopped}")
	if o := m.check(); o.drifted() != "stop systemd_unit:loop.service" {
		t.Errorf("check: %s", o)
	}
	m.converge()
	if got := m.active("loop.service"); got != "inactive" && got != "failed" {
		t.Errorf("loop.service is %s", got)
	}
}

// TestUnitThatIsNotMeantToStayUp covers a job that ends by itself, and a condition that does not hold: systemd starts
// neither for good, and no report may say that it did.
func TestUnitThatIsNotMeantToStayUp(t *testing.T) {
	m := boot(t)
	m.unit("once.service", "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ran >>/var/once'\n")
	m.unit("unmet.service", "[Unit]\nConditionPathExists=/nowhere\n[Service]\nExecStart=/bin/sleep infinity\n")
	m.unit("kept.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n")
	m.unit("slow.service", "[Service]\nType=notify\nNotifyAccess=all\nExecStart=/bin/sh -c 'sleep 3; systemd-notify --ready; exec sleep infinity'\n")

	m.resources("- {type: systemd_unit, name: once.service, state: started}")
	for range 2 {
		if o := m.apply(); o.code == 0 || o.find("systemd_unit:once.service").Resource.ID == "" {
			t.Errorf("a job that ends by itself counts as started: %s", o)
		}
	}
	if runs := m.Shell("cat /var/once 2>/dev/null | wc -l"); runs != "0" && runs != "1" {
		t.Errorf("the job ran %s times in two applies", runs)
	}

	m.resources("- {type: systemd_unit, name: unmet.service, state: started}")
	if o := m.apply(); o.code == 0 {
		t.Errorf("a unit whose condition does not hold counts as started: %s", o)
	}

	m.resources("- {type: systemd_unit, name: kept.service, state: started}\n- {type: systemd_unit, name: slow.service, state: started}")
	m.converge()
}

func TestInstancesAndOddNames(t *testing.T) {
	m := boot(t)
	m.unit("t@.service", "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n")
	m.unit(`a\x2db.service`, sleeper)
	m.unit("plain.service", sleeper)
	m.Shell("systemctl enable -q --now t@a.service")
	for _, c := range []struct{ name, declared, want string }{
		{"one instance says nothing of another", "name: t@b.service, enabled: true", "enable systemd_unit:t@b.service"},
		{"the instance itself", "name: t@a.service, state: started, enabled: true", ""},
		{"an escaped name", `name: 'a\x2db.service', state: started`, `start systemd_unit:a\x2db.service`},
		{"a name that begins with a dash", "name: '-.mount', state: started", ""},
		{"upper case is another unit", "name: PLAIN.service, state: started", "error: start systemd_unit:PLAIN.service"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := m.in(t)
			m.resources("- {type: systemd_unit, " + c.declared + "}")
			o := m.check()
			if o.drifted() != c.want {
				t.Errorf("%s: %q, want %q\n%s", c.declared, o.drifted(), c.want, o)
			}
			if !strings.HasPrefix(c.want, "error") {
				m.converge()
			}
		})
	}
	m.resources("- {type: systemd_unit, name: t@.service, state: started}")
	if o := m.apply(); o.code != 1 || !strings.Contains(o.String(), "t@.service") {
		t.Errorf("a template is nothing to start: %s", o)
	}
	if got := m.active("t@b.service"); got != "inactive" {
		t.Errorf("t@b.service, only enabled, is %s", got)
	}
}

func TestStoppedServiceThatItsSocketRevives(t *testing.T) {
	m := boot(t)
	m.unit("s.socket", "[Socket]\nListenStream=/run/s.sock\n")
	m.unit("s.service", "[Service]\nExecStart=/bin/sleep infinity\n")
	m.Shell("systemctl start s.socket s.service")
	m.resources("- {type: systemd_unit, name: s.service, state: stopped}")
	first := m.apply()
	if first.find("systemd_unit:s.service").Resource.ID == "" || m.active("s.service") != "inactive" {
		t.Fatalf("apply: %s", first)
	}
	if !strings.Contains(first.result.Stdout, "s.socket") {
		t.Errorf("the report does not name what can start it again: %s", first)
	}
	m.Shell(`perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => "/run/s.sock") or die $!'`)
	m.await("s.service", "active")
	if o := m.check(); o.code != 2 || o.drifted() != "stop systemd_unit:s.service" {
		t.Errorf("check after a connection: %s", o)
	}

	m.unit("tick.timer", "[Timer]\nOnActiveSec=1h\nUnit=tick.service\n[Install]\nWantedBy=timers.target\n")
	m.unit("tick.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n")
	m.resources("- {type: systemd_unit, name: tick.timer, state: started, enabled: true}")
	m.converge()
}

func TestMissingUnitDeclaredStoppedIsInSync(t *testing.T) {
	m := boot(t)
	m.resources("- {type: systemd_unit, name: ghost.service, state: stopped, enabled: false}")
	for range 2 {
		if o := m.apply(); o.code != 0 || o.done() != "" {
			t.Errorf("apply: %s", o)
		}
	}
	m.resources("- {type: systemd_unit, name: ghost.service, state: started}")
	if o := m.apply(); o.code != 1 || o.drifted() != "error: start systemd_unit:ghost.service" {
		t.Errorf("apply: %s", o)
	}
}

// TestPackageThatStartsItsServiceOnInstall: one plan, one approval, and the service is down in the end.
func TestPackageThatStartsItsServiceOnInstall(t *testing.T) {
	m := boot(t)
	m.resources(`
		- {type: package, name: eager-daemon}
		- {type: systemd_unit, name: eager-daemon.service, state: stopped, enabled: false}
	`)
	plan := m.check()
	if plan.code != 2 || plan.drifted() != "install package:eager-daemon, stop systemd_unit:eager-daemon.service" {
		t.Fatalf("check: %s", plan)
	}
	if o := m.gyrum("apply", "--confirm-plan", plan.last().PlanHash); o.code != 0 || o.drifted() != "" {
		t.Errorf("apply: %s", o)
	}
	if a, e := m.active("eager-daemon.service"), m.enabled("eager-daemon.service"); a != "inactive" || e != "disabled" {
		t.Errorf("the service is %s and %s", a, e)
	}
}
