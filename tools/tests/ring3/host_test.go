package ring3

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gyrum.ai/tools/tests/realhost"
)

// managed is a host with the program at hand and a catalog that has the host t.
type managed struct {
	*realhost.Host
	t       *testing.T
	catalog string // the folder that the host sees as /c
}

// boot starts a host whose plugins are compiled already: its cache folder is shared with the other hosts of this run,
// which saves each some seconds. Its catalog's role t has no resources yet.
func boot(t *testing.T, binds ...realhost.Bind) *managed {
	t.Helper()
	return bare(t, append(binds, realhost.Bind{Outside: compiled, Inside: "/var/cache/gyrum", Writable: true})...)
}

// bare starts a host on which the program has never run.
func bare(t *testing.T, binds ...realhost.Bind) *managed {
	t.Helper()
	m := &managed{t: t, catalog: t.TempDir()}
	if err := os.Chmod(m.catalog, 0o755); err != nil {
		t.Fatal(err)
	}
	m.put("hosts/t.yaml", "name: t\nroles: [t]\n")
	m.resources("")
	m.Host = realhost.Boot(t, realhost.Options{Hostname: "t", Binds: append([]realhost.Bind{
		{Outside: m.catalog, Inside: "/c", Writable: true},
		{Outside: program, Inside: "/opt/gyrum"},
	}, binds...)})
	return m
}

// in is the same host for a subtest, which its failures then belong to.
func (m *managed) in(t *testing.T) *managed {
	return &managed{Host: m.Host.In(t), t: t, catalog: m.catalog}
}

// put writes a file of the catalog.
func (m *managed) put(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.catalog, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// resources makes the YAML list the only resources of the host.
func (m *managed) resources(list string) {
	m.t.Helper()
	if strings.TrimSpace(list) == "" {
		list = " []\n"
	} else {
		list = "\n" + indent(list)
	}
	m.put("host-roles/t.yaml", "role: t\nversion: 1\ndescription: what the test declares; some of its commands have no lasting mark\n"+
		"requires: []\nmutually_exclusive: []\nresources:"+list)
}

// indent takes the tabs of a Go source off a YAML list.
func indent(list string) string {
	list = strings.Trim(list, "\n\t")
	var b strings.Builder
	for line := range strings.Lines(list) {
		b.WriteString("  " + strings.ReplaceAll(strings.TrimLeft(line, "\t"), "\t", "  "))
	}
	return strings.TrimSuffix(b.String(), "\n") + "\n"
}

// prober makes the requirement's worked example the only role of the host.
func (m *managed) prober() {
	m.t.Helper()
	text, err := readRepository("host-roles/gyrum-prober.yaml")
	if err != nil {
		m.t.Fatal(err)
	}
	m.put("host-roles/gyrum-prober.yaml", string(text))
	m.put("hosts/t.yaml", "name: t\nroles: [gyrum-prober]\n")
	if err := os.Remove(filepath.Join(m.catalog, "host-roles", "t.yaml")); err != nil {
		m.t.Fatal(err)
	}
}

// command is the line that runs a verb of the program.
func command(verb string, flags ...string) []string {
	return append([]string{"gyrum", verb, "--catalog", "/c", "--host", "t"}, flags...)
}

// gyrum runs a verb with JSON output.
func (m *managed) gyrum(verb string, flags ...string) outcome {
	m.t.Helper()
	return m.read(m.Run(command(verb, append([]string{"-o", "json"}, flags...)...)...))
}

func (m *managed) check(flags ...string) outcome {
	m.t.Helper()
	return m.gyrum("check", flags...)
}

// apply confirms by itself, as a timer does.
func (m *managed) apply(flags ...string) outcome {
	m.t.Helper()
	return m.gyrum("apply", append([]string{"--auto-confirm"}, flags...)...)
}

// converge applies, and asserts that this brought the host where it was declared to be.
func (m *managed) converge() outcome {
	m.t.Helper()
	o := m.apply()
	if o.code != 0 {
		m.t.Fatalf("apply does not converge: %s", o)
	}
	if c := m.check(); c.code != 0 || c.drifted() != "" {
		m.t.Fatalf("check after apply: %s", c)
	}
	return o
}

// unit writes a unit file on the host itself, as something that gyrum does not manage.
func (m *managed) unit(name, text string) {
	m.t.Helper()
	m.Write("/etc/systemd/system/"+name, text)
	m.Shell("systemctl daemon-reload")
}

// property asks systemd.
func (m *managed) property(unit, name string) string {
	m.t.Helper()
	return m.Shell(fmt.Sprintf("systemctl show -P %s -- '%s'", name, unit))
}

// active is systemd's word for the run state.
func (m *managed) active(unit string) string {
	m.t.Helper()
	return m.property(unit, "ActiveState")
}

// enabled is systemd's word for the enable state.
func (m *managed) enabled(unit string) string {
	return strings.TrimSpace(m.Run("systemctl", "is-enabled", "--", unit).Stdout)
}

// await waits until a unit has a run state.
func (m *managed) await(unit, state string) {
	m.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if m.active(unit) == state {
			return
		}
	}
	m.t.Fatalf("%s does not become %s: %s", unit, state, m.Run("systemctl", "status", "--", unit))
}
