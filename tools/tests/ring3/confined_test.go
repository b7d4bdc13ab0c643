package ring3

import (
	"strings"
	"testing"
)

// What a check runs with is said, and with it everything works that asks the host: apt's simulation, dpkg, getent,
// systemd over D-Bus, and the program of a secret, which can write a temporary file and nothing else.
func TestACheckThatConfinesItself(t *testing.T) {
	m := bare(t)
	m.Shell(`mkdir -p -m 0755 /etc/gyrum/secrets.d && cat >/etc/gyrum/secrets.d/token <<'END'
#!/bin/sh
printf x >"$TMPDIR/t" && rm "$TMPDIR/t" && printf token-
(printf x >/var/escaped) 2>/dev/null && printf escaped
(printf x >/tmp/escaped) 2>/dev/null && printf escaped
chown 1 /etc/hostname 2>/dev/null && printf escaped
exit 0
END
chmod 0700 /etc/gyrum/secrets.d/token; printf token- >/etc/token; chmod 0600 /etc/token; echo t >/etc/hostname`)
	m.resources(`
	- {type: package, name: base-part}
	- {type: file, path: /etc/token, content: {secret_ref: "exec:token"}, mode: "0600"}
	- {type: file, path: /etc/hostname, content: "other\n", owner: daemon}
	- {type: systemd_unit, name: dbus.service, state: started}
`)
	for _, cache := range []string{"", "--no-cache"} {
		flags := []string{"-v", "--state-dir", "/var/lib/gyrum"}
		if cache != "" {
			flags = append(flags, cache)
		}
		o := m.check(flags...)
		if !strings.Contains(o.result.Stderr, "confined: landlock abi ") || !strings.Contains(o.result.Stderr, "; capabilities: dac_read_search") {
			if strings.Contains(o.result.Stderr, "writes are not confined: ") && strings.Contains(o.result.Stderr, "Landlock") {
				t.Skipf("needs Landlock: %s", o.result.Stderr)
			}
			t.Fatalf("it does not say what it runs with: %s", o)
		}
		seen := map[string]bool{}
		for _, it := range o.last().Items {
			seen[it.Resource.ID] = true
			if it.Severity == "error" {
				t.Errorf("%s: %s", it.Resource.ID, o)
			}
		}
		if seen["file:/etc/token"] || seen["systemd_unit:dbus.service"] || !seen["file:/etc/hostname"] || !seen["package:base-part"] {
			t.Errorf("items %v: %s", seen, o)
		}
		if left := m.Shell("ls -d /var/escaped /tmp/escaped 2>/dev/null || true"); left != "" {
			t.Errorf("left behind: %s", left)
		}
	}
	if o := m.apply("--auto-confirm", "-v"); strings.Contains(o.result.Stderr, "confined") || o.code != 0 {
		t.Errorf("an apply: %s", o)
	}
}
