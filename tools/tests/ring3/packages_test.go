package ring3

import (
	"strings"
	"testing"
	"time"

	"gyrum.ai/tools/tests/realhost"
)

// installed is dpkg's version and three words; empty for a name that it only knows from others.
func (m *managed) installed(name string) string {
	return strings.TrimPrefix(m.Run("dpkg-query", "-W", "-f=${Version} ${Status}", name).Stdout, " unknown ok not-installed")
}

// apt changes the host as an administrator would.
func (m *managed) apt(arguments string) {
	m.t.Helper()
	m.Shell("DEBIAN_FRONTEND=noninteractive apt-get -y -qq --allow-downgrades --allow-change-held-packages " + arguments + " >/dev/null 2>&1")
}

// TestPackageStates runs one host through what dpkg can say of a package.
func TestPackageStates(t *testing.T) {
	m := boot(t)
	for _, c := range []struct{ name, before, declared, want, after string }{
		{"never seen, absent", "true", "name: plain, state: absent", "", ""},
		{"never seen, present", "true", "name: plain", "install package:plain", "1.0 install ok installed"},
		{"present is present", "true", "name: plain", "", "1.0 install ok installed"},
		{"only its configuration is left, absent", "apt-get install -y with-conf; dpkg -r with-conf", "name: with-conf, state: absent", "", "2.0 deinstall ok config-files"},
		{"only its configuration is left, present", "true", "name: with-conf", "install package:with-conf", "2.0 install ok installed"},
		{"absent removes and does not purge", "true", "name: with-conf, state: absent", "remove package:with-conf", "2.0 deinstall ok config-files"},
		{"held is present", "apt-mark hold plain", "name: plain", "", "1.0 hold ok installed"},
		{"not configured is drift", "apt-get install -y -q mail-one; dpkg --unpack /srv/repo/mail-one_1.0_all.deb", "name: mail-one", "install package:mail-one", "1.0 install ok installed"},
		{"an exact version", "true", `name: gyrum-prober, version: "1.1-1"`, "install package:gyrum-prober", "1.1-1 install ok installed"},
		{"an exact version, whatever newer one there is", "true", `name: gyrum-prober, version: "1.1-1"`, "", "1.1-1 install ok installed"},
		{"any version, whatever newer one there is", "true", "name: gyrum-prober", "", "1.1-1 install ok installed"},
		{"a candidate for release is older than the release", "true", `name: gyrum-prober, version: "2.0~rc1-1"`, "upgrade package:gyrum-prober", "2.0~rc1-1 install ok installed"},
		{"upgrade", "true", `name: gyrum-prober, version: "2.0-1"`, "upgrade package:gyrum-prober", "2.0-1 install ok installed"},
		{"downgrade where an exact version asks", "true", `name: gyrum-prober, version: "1.0-1"`, "upgrade package:gyrum-prober", "1.0-1 install ok installed"},
		{"a version that there is not", "true", `name: gyrum-prober, version: "9"`, "error: upgrade package:gyrum-prober", "1.0-1 install ok installed"},
		{"another version of a held package", "apt-mark hold gyrum-prober", `name: gyrum-prober, version: "1.1-1"`, "error: upgrade package:gyrum-prober", "1.0-1 hold ok installed"},
		{"a name that only others provide", "true", "name: mail-system", "error: install package:mail-system", ""},
		{"a name that nobody knows", "true", "name: nosuchpackage", "error: install package:nosuchpackage", ""},
		{"a name with signs of a pattern", "true", "name: lib++.1", "install package:lib++.1", "1.0 install ok installed"},
		{"an architecture that there is not", "true", "name: 'plain:nosucharch', state: absent", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := m.in(t)
			m.Shell("exec >/dev/null 2>&1; export DEBIAN_FRONTEND=noninteractive; " + c.before)
			m.resources("- {type: package, " + c.declared + "}")
			o := m.check()
			if o.drifted() != c.want {
				t.Fatalf("check: %q, want %q\n%s", o.drifted(), c.want, o)
			}
			if strings.HasPrefix(c.want, "error") {
				if o.code != 1 || o.last().Items[0].Blocked == "" {
					t.Errorf("exit %d, blocked %q", o.code, o.last().Items[0].Blocked)
				}
				if o := m.apply(); o.code != 1 {
					t.Errorf("apply: %s", o)
				}
			} else {
				m.converge()
			}
			name, _, _ := strings.Cut(strings.TrimPrefix(c.declared, "name: "), ",")
			if got := m.installed(strings.Trim(name, "'")); got != c.after {
				t.Errorf("dpkg says %q, want %q", got, c.after)
			}
		})
	}
	if got := m.installed("mail-two"); got != "" {
		t.Errorf("a package that nobody asked for: %s", got)
	}
}

func TestProvidersOfAVirtualPackageAreNamed(t *testing.T) {
	m := boot(t)
	m.resources("- {type: package, name: mail-system}")
	o := m.check()
	if it := o.find("package:mail-system"); o.code != 1 || !strings.Contains(it.Blocked, "mail-one") || !strings.Contains(it.Blocked, "mail-two") {
		t.Errorf("check: %s", o)
	}
	// A provider that is installed changes nothing: two manifests must not evict each other's.
	m.apt("install mail-one")
	if o := m.apply(); o.code != 1 || !strings.Contains(o.find("package:mail-system").Blocked, "mail-one") {
		t.Errorf("apply: %s", o)
	}
}

// TestPackageNamesAreNoPatterns: dpkg and apt would take each of these for more, or for other, than it says.
func TestPackageNamesAreNoPatterns(t *testing.T) {
	m := boot(t)
	before := m.Shell("dpkg-query -W")
	for _, name := range []string{"pl*", "-l", "lib++.", "pla.n", "plain+", "plain/stable", "plain=1.0"} {
		m.resources("- {type: package, name: '" + name + "'}")
		if o := m.apply(); o.code != 1 {
			t.Errorf("package %q: %s", name, o)
		}
	}
	if after := m.Shell("dpkg-query -W"); after != before {
		t.Errorf("packages were installed: %s", after)
	}
}

func TestRemovalThatTakesOthersAlong(t *testing.T) {
	m := boot(t)
	m.apt("install needs-part")
	for name, declared := range map[string]string{
		"the other is declared present": "- {type: package, name: base-part, state: absent}\n- {type: package, name: needs-part}",
		"nobody declares the other":     "- {type: package, name: base-part, state: absent}",
	} {
		t.Run(name, func(t *testing.T) {
			m := m.in(t)
			m.resources(declared)
			o := m.check()
			if it := o.find("package:base-part"); o.code != 1 || it.Action.Verb != "remove" || !strings.Contains(it.Blocked, "needs-part") {
				t.Errorf("check: %s", o)
			}
			if o := m.apply(); o.code != 1 {
				t.Errorf("apply: %s", o)
			}
			if got := m.installed("base-part"); got != "1.0 install ok installed" {
				t.Errorf("base-part: %s", got)
			}
		})
	}
	for _, order := range [][2]string{{"needs-part", "base-part"}, {"base-part", "needs-part"}} {
		m.apt("install needs-part")
		m.resources("- {type: package, name: " + order[0] + ", state: absent}\n- {type: package, name: " + order[1] + ", state: absent}")
		m.converge()
		for _, name := range order {
			if got := m.installed(name); got != "" {
				t.Errorf("%v: %s is %s", order, name, got)
			}
		}
	}
}

// TestAptRunsUnattended: locks are waited for and never broken, questions are never asked.
func TestAptRunsUnattended(t *testing.T) {
	m := boot(t)
	hold := func(m *managed, seconds string) *realhost.Process {
		p := m.Start("perl", "-MFcntl", "-e", `open(F, "+>>", "/var/lib/dpkg/lock-frontend") or die $!; `+
			`my $l = pack("s s x4 l! l! i x4", F_WRLCK, 0, 0, 0, 0); fcntl(F, F_SETLK, $l) or die $!; open(M, ">", "/run/held"); close(M); sleep `+seconds)
		m.waitFor("test -e /run/held")
		m.Shell("rm /run/held")
		return p
	}

	t.Run("a lock that is given up", func(t *testing.T) {
		m := m.in(t)
		m.resources("- {type: package, name: plain}")
		holder := hold(m, "4")
		if o := m.check(); o.code != 2 || o.drifted() != "install package:plain" {
			t.Errorf("check needs the lock: %s", o)
		}
		m.converge()
		holder.Wait()
	})

	t.Run("a configuration file that was edited", func(t *testing.T) {
		m := m.in(t)
		m.apt("install with-conf=1.0")
		m.Shell("echo edited >/etc/with-conf.conf")
		m.resources(`- {type: package, name: with-conf, version: "2.0"}`)
		begun := time.Now()
		m.converge()
		if got := m.Shell("cat /etc/with-conf.conf"); got != "edited" {
			t.Errorf("the edited file reads %q", got)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})

	t.Run("a package that does not configure", func(t *testing.T) {
		m := m.in(t)
		m.resources("- {type: package, name: broken-postinst}\n- {type: file, path: /etc/after, content: x}")
		if o := m.apply(); o.code != 1 || o.find("package:broken-postinst").status() != "failed" || o.find("file:/etc/after").status() != "skipped" {
			t.Errorf("apply: %s", o)
		}
		// The half state is drift, not presence.
		if o := m.check(); o.find("package:broken-postinst").Resource.ID == "" {
			t.Errorf("check: %s", o)
		}
		m.apt("remove broken-postinst || dpkg --purge --force-all broken-postinst")
	})
}

// TestBrokenPackageDatabaseIsAnErrorAndNotAbsence: what cannot be read is neither there nor gone.
func TestBrokenPackageDatabaseIsAnErrorAndNotAbsence(t *testing.T) {
	m := boot(t)
	m.resources("- {type: package, name: plain, state: absent}\n- {type: file, path: /etc/made, content: x}")
	m.Shell("mv /var/lib/dpkg/status /var/lib/dpkg/kept; printf 'Package plain\\nno colon\\n' >/var/lib/dpkg/status")
	o := m.check()
	if it := o.find("package:plain"); o.code != 1 || it.Severity != "error" || it.Reason.Code != "unobservable" {
		t.Errorf("check: %s", o)
	}
	if !strings.Contains(o.drifted(), "write file:/etc/made") {
		t.Errorf("the other types do not go on: %s", o)
	}
}
