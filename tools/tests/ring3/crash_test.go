package ring3

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roundsEnv says how often the soak kills an apply.
const roundsEnv = "GYRUM_SOAK_ROUNDS"

// soakRounds is that number where nothing is said, as a test of every change can afford it.
const soakRounds = 5

// largest is the size of each of the five large files: what a manifest's source may have at most.
const largest = 1 << 20

// TestSoak kills real applies at random moments, now the program, now the whole host, and looks each time whether the
// host is as a host must be after that: no file is torn, the journal is whole and knows what was interrupted, and one
// apply converges, with no command run more often than is on record.
func TestSoak(t *testing.T) {
	rounds := soakRounds
	if text := os.Getenv(roundsEnv); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil || rounds < 1 {
			t.Fatalf("%s=%q is no number of rounds", roundsEnv, text)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d rounds, seed %d", rounds, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	m := boot(t)
	m.declareVersion(0)
	begun := time.Now()
	m.apply()
	whole := time.Since(begun) // later ones take a little less
	m.settleVersion(0)
	cut := 0
	for round := 1; round <= rounds; round++ {
		m.declareVersion(round)
		p := m.Start(command("apply", "--auto-confirm", "-o", "json")...)
		time.Sleep(time.Duration(random.Int64N(int64(whole) * 3 / 4)))
		how := "the program is killed"
		if round%3 == 0 {
			how = "the host is killed"
			m.PowerCut()
			p.Wait()
			m.PowerOn()
			cut++
		} else {
			p.Signal(syscall.SIGKILL)
			if p.Wait().Code != 0 {
				cut++
			}
		}
		m.assertWhole(round-1, round)
		m.assertToldTruly()
		m.settleVersion(round)
		if t.Failed() {
			t.Fatalf("in round %d, %s", round, how)
		}
	}
	if cut == 0 {
		t.Error("every apply ended before it was killed")
	}
	t.Logf("%d of %d applies were killed in time", cut, rounds)
}

// letter is what the large files of a version consist of.
func letter(version int) string { return string(rune('a' + version%26)) }

// declareVersion declares a role in which everything differs from one version to the next.
func (m *managed) declareVersion(version int) {
	m.t.Helper()
	m.put("host-roles/t/files/large", strings.Repeat(letter(version), largest))
	var b strings.Builder
	fmt.Fprintf(&b, `
- {type: package, name: gyrum-prober, version: "%s"}
- {type: directory, path: /etc/gyrum-t}
- {type: file, path: /etc/gyrum-t/prober.yaml, content: "version: %d\n", mode: "0640", group: gyrum}
- {type: systemd_unit, name: gyrum-prober.service, state: started, enabled: true, unit_file: /lib/systemd/system/gyrum-prober.service, restart_on: ["file:/etc/gyrum-t/prober.yaml"]}
- {type: directory, path: /etc/large.d}
`, []string{"1.0-1", "1.1-1"}[version%2], version)
	for i := range 5 {
		fmt.Fprintf(&b, "- {type: file, path: /etc/large.d/%d.conf, source: large}\n", i)
	}
	fmt.Fprintf(&b, `- {type: env, path: /etc/app.env, vars: {VERSION: "%d"}}
- {type: file, path: /etc/systemd/system/app.service, content: "[Service]\nEnvironmentFile=/etc/app.env\nExecStart=/bin/sleep infinity\n# %d\n"}
- {type: systemd_unit, name: app.service, state: started, unit_file: /etc/systemd/system/app.service}
- {type: command, id: "command:mark", run: "echo %d >>/var/marks; touch /var/mark.%d", creates: /var/mark.%d}
- {type: command, id: "command:again", run: "echo x >>/var/again; sleep 0.1", idempotent: false}
`, version, version, version, version, version)
	m.resources(b.String())
}

// assertWhole asserts that each managed file is as one of two versions has it, and that nothing half made looks like a
// file of the folder's owner.
func (m *managed) assertWhole(before, after int) {
	m.t.Helper()
	for i := range 5 {
		name := fmt.Sprintf("/etc/large.d/%d.conf", i)
		got := m.Shell("stat -c '%s %a' " + name + "; head -c 1 " + name + "; echo; tr -d \"$(head -c 1 " + name + ")\" <" + name + " | wc -c")
		if want := fmt.Sprintf("%d 644\n%%s\n0", largest); got != fmt.Sprintf(want, letter(before)) && got != fmt.Sprintf(want, letter(after)) {
			m.t.Errorf("%s is torn: %q", name, got)
		}
	}
	for path, text := range map[string]string{"/etc/gyrum-t/prober.yaml": "version: %d", "/etc/app.env": "VERSION=%d"} {
		got := m.Shell("grep -v '^#' " + path)
		if got != fmt.Sprintf(text, before) && got != fmt.Sprintf(text, after) {
			m.t.Errorf("%s is torn: %q", path, got)
		}
	}
	if got := m.Shell("ls -A /etc/large.d | grep '[.]conf$' | tr '\\n' ' '"); got != "0.conf 1.conf 2.conf 3.conf 4.conf " {
		m.t.Errorf("what a daemon would read: %s", got)
	}
}

// assertToldTruly asserts that a check names exactly the actions whose intent has no outcome.
func (m *managed) assertToldTruly() {
	m.t.Helper()
	open := m.openIntents()
	var told []string
	for _, cut := range m.check().last().Interrupted {
		told = append(told, cut.Resource)
	}
	if slices.Sort(told); !slices.Equal(told, open) {
		m.t.Errorf("check says that %v were interrupted, and the journal has %v", told, open)
	}
}

// settleVersion applies, and asserts that the host is as the version declares it.
func (m *managed) settleVersion(version int) {
	m.t.Helper()
	open := m.openIntents()
	o := m.apply()
	if o.code != 0 {
		m.t.Fatalf("apply does not converge: %s", o)
	}
	if slices.Contains(open, "command:again") && !strings.Contains(o.find("command:again").Note, "runs again") {
		m.t.Errorf("the command ran again without a word: %s", o)
	}
	if c := m.check(); c.code != 0 || c.drifted() != "warn: run command:again" || len(c.last().Interrupted) > 0 {
		m.t.Errorf("check after apply: %s", c)
	}
	m.assertWhole(version, version)
	if r := m.Run("gyrum", "history", "verify"); r.Code != 0 {
		m.t.Errorf("the journal: %s", r)
	}
	if got := m.Shell("cd /etc && ls -dA large.d/* large.d/.[!.]* gyrum-t/* gyrum-t/.[!.]* 2>/dev/null | tr '\\n' ' '; find /etc /var/lib/gyrum -xdev \\( -name '.gyrum*' -o -name '*.new' -o -name '*.tmp' -o -name '.reserve' \\)"); got != "gyrum-t/prober.yaml large.d/0.conf large.d/1.conf large.d/2.conf large.d/3.conf large.d/4.conf " {
		m.t.Errorf("left behind: %q", got)
	}
	for unit, want := range map[string]string{"app.service": "VERSION=" + strconv.Itoa(version)} {
		if got := m.Shell("tr '\\0' '\\n' </proc/$(systemctl show -P MainPID " + unit + ")/environ | grep VERSION"); got != want {
			m.t.Errorf("%s still runs with %s, and %s is declared", unit, got, want)
		}
	}
	if m.property("app.service", "NeedDaemonReload") != "no" {
		m.t.Error("systemd has not read the unit file anew")
	}
	if got, want := m.Shell("dpkg-query -W -f='${Status} ${Version}' gyrum-prober"), []string{"install ok installed 1.0-1", "install ok installed 1.1-1"}[version%2]; got != want {
		m.t.Errorf("the package is %q, not %q", got, want)
	}
	// Whatever was executed is on record: a command ran at most once for each intent, and at least once for each outcome.
	intents, outcomes := m.count("command:again")
	if ran, _ := strconv.Atoi(m.Shell("wc -l </var/again")); ran > intents || ran < outcomes {
		m.t.Errorf("the command ran %d times, and the journal has %d intents and %d outcomes of it", ran, intents, outcomes)
	}
}
