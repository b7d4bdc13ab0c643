package ring3

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"gyrum.ai/tools/tests/realhost"
)

// echoer declares a service whose command line shows which version of its file, and of its environment, it runs.
func echoer(version, level string) string {
	return fmt.Sprintf(`
		- {type: env, path: /etc/echoer.env, vars: {LEVEL: "%s"}}
		- type: file
		  path: /etc/systemd/system/echoer.service
		  content: |
		    [Service]
		    EnvironmentFile=/etc/echoer.env
		    ExecStart=/bin/sh -c 'while :; do sleep 1; done' %s $LEVEL
		    [Install]
		    WantedBy=multi-user.target
		- {type: systemd_unit, name: echoer.service, state: started, enabled: true, unit_file: /etc/systemd/system/echoer.service}
	`, level, version)
}

// runs is the end of the command line of the running process.
func (m *managed) runs() string {
	m.t.Helper()
	words := strings.Fields(m.Shell(`tr '\0' ' ' </proc/$(systemctl show -P MainPID echoer.service)/cmdline`))
	return strings.Join(words[max(0, len(words)-2):], " ")
}

// TestRunningUnitFollowsItsInputs: what a process was started from is part of the declared state.
func TestRunningUnitFollowsItsInputs(t *testing.T) {
	m := boot(t)
	m.resources(echoer("V1", "info"))
	m.converge()
	if got := m.runs(); got != "V1 info" {
		t.Fatalf("the process runs %q", got)
	}

	t.Run("its unit file", func(t *testing.T) {
		m := m.in(t)
		m.resources(echoer("V2", "info"))
		plan := m.check()
		if got, want := plan.drifted(), "write file:/etc/systemd/system/echoer.service, start systemd_unit:echoer.service"; got != want {
			t.Errorf("check: %s, want %s", got, want)
		}
		if restart := plan.find("systemd_unit:echoer.service"); restart.Action.Params["restart"] != true || restart.Reason.Code != "input-changes" {
			t.Errorf("the unit's item: %+v", restart)
		}
		m.converge()
		if got := m.runs(); got != "V2 info" {
			t.Errorf("the process runs %q", got)
		}
	})

	t.Run("its environment file", func(t *testing.T) {
		m := m.in(t)
		m.resources(echoer("V2", "debug"))
		m.converge()
		if got := m.runs(); got != "V2 debug" {
			t.Errorf("the process runs %q", got)
		}
	})

	t.Run("a touch restarts nothing", func(t *testing.T) {
		m := m.in(t)
		process := m.property("echoer.service", "MainPID")
		m.Shell("touch /etc/echoer.env")
		if o := m.apply(); o.code != 0 || o.done() != "" {
			t.Errorf("after a touch of the environment file: %s", o)
		}
		m.Shell("touch /etc/systemd/system/echoer.service")
		// systemd asks for a reload by the file's time; the process is as good as it was.
		if o := m.check(); o.drifted() != "start systemd_unit:echoer.service" || o.last().Items[0].Reason.Code != "reload-needed" {
			t.Errorf("after a touch of the unit file: %s", o)
		}
		m.converge()
		if after := m.property("echoer.service", "MainPID"); after != process {
			t.Errorf("process %s became %s", process, after)
		}
	})

	t.Run("a change by another hand", func(t *testing.T) {
		m := m.in(t)
		m.Shell("sed -i s/debug/loud/ /etc/echoer.env; systemctl restart echoer; sleep 0.1")
		if got := m.runs(); got != "V2 loud" {
			t.Fatalf("the process runs %q", got)
		}
		m.converge()
		if got := m.runs(); got != "V2 debug" {
			t.Errorf("the process runs %q", got)
		}
	})

	t.Run("a restart by hand counts", func(t *testing.T) {
		m := m.in(t)
		m.Shell("printf '[Service]\\nNice=1\\n' >/tmp/d; mkdir -p /etc/systemd/system/echoer.service.d; cp /tmp/d /etc/systemd/system/echoer.service.d/nice.conf; systemctl daemon-reload; sleep 0.1; systemctl restart echoer")
		if o := m.check(); o.code != 0 {
			t.Errorf("check after a drop-in and a restart by hand: %s", o)
		}
	})

	t.Run("a file changed under a running process and never restarted", func(t *testing.T) {
		m := m.in(t)
		m.Shell("sleep 0.1; printf '[Service]\\nNice=2\\n' >/etc/systemd/system/echoer.service.d/nice.conf; systemctl daemon-reload")
		if o := m.check(); o.code != 2 || o.drifted() != "start systemd_unit:echoer.service" || o.last().Items[0].Action.Params["restart"] != true {
			t.Errorf("check: %s", o)
		}
		m.converge()
	})
}

// TestApplyKilledBetweenWriteAndRestart: the restart that is still due is derived from the host, so the next apply
// does it, wherever the first one was cut.
func TestApplyKilledBetweenWriteAndRestart(t *testing.T) {
	for _, c := range []struct{ name, before, after, file, mark, want string }{
		{"unit file", echoer("V1", "info"), echoer("V2", "info"), "/etc/systemd/system/echoer.service", "V2", "V2 info"},
		{"environment file", echoer("V1", "info"), echoer("V1", "debug"), "/etc/echoer.env", "debug", "V1 debug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := boot(t)
			m.resources(c.before)
			m.converge()
			m.resources(c.after)
			m.killWhen(fmt.Sprintf("grep -q %s %s", c.mark, c.file))
			o := m.apply()
			if o.code != 0 {
				t.Errorf("apply after the kill: %s", o)
			}
			if got := m.runs(); got != c.want {
				t.Errorf("the process runs %q, want %q\n%s", got, c.want, o)
			}
			if o := m.check(); o.code != 0 {
				t.Errorf("check: %s", o)
			}
		})
	}
	t.Run("power cut", func(t *testing.T) {
		m := boot(t)
		m.resources(echoer("V1", "info"))
		m.converge()
		m.resources(echoer("V2", "debug"))
		p := m.Start(command("apply", "--auto-confirm")...)
		m.waitFor("grep -q V2 /etc/systemd/system/echoer.service")
		m.PowerCut()
		p.Wait()
		m.PowerOn()
		if o := m.apply(); o.code != 0 {
			t.Errorf("apply after the power cut: %s", o)
		}
		if got := m.runs(); got != "V2 debug" {
			t.Errorf("the process runs %q", got)
		}
	})
}

// killWhen applies under strace's delay, and kills the program as soon as a condition holds on the host. Each rename
// takes a while, so that the program is caught between a file and what follows from it.
func (m *managed) killWhen(condition string) realhost.Result {
	m.t.Helper()
	p := m.Start(append([]string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=?rename,?renameat,?renameat2",
		"-e", "inject=renameat,renameat2:delay_exit=300000"}, command("apply", "--auto-confirm")...)...)
	m.waitFor(condition)
	m.Shell("kill -9 $(pgrep -x gyrum)")
	p.Signal(syscall.SIGKILL)
	return p.Wait()
}

// waitFor polls a condition on the host, closely.
func (m *managed) waitFor(condition string) {
	m.t.Helper()
	r := m.Try("i=0; until " + condition + "; do i=$((i+1)); test $i -lt 3000 || exit 1; sleep 0.01; done")
	if r.Code != 0 {
		m.t.Fatalf("never holds: %s", condition)
	}
}
