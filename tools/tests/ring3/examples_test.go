package ring3

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gyrum.ai/tools/tests/realhost"
)

// bootExample starts a host of the example catalog. Its packages are Debian's own.
func bootExample(t *testing.T, name string) *managed {
	t.Helper()
	recipe := realhost.Base()
	recipe.Archive = []string{"nginx", "curl", "openssl", "postgresql-15", "pgbouncer"}
	if _, err := recipe.Build(t.Context()); err != nil && !realhost.Required() {
		fmt.Println("skipped: the example roles on real hosts: Debian's packages cannot be fetched here:", err)
		t.SkipNow()
	}
	m := &managed{t: t}
	m.Host = realhost.Boot(t, realhost.Options{Recipe: &recipe, Hostname: name, Binds: []realhost.Bind{
		{Outside: filepath.Join(repository(), "examples"), Inside: "/c"},
		{Outside: program, Inside: "/opt/gyrum"},
	}})
	m.Shell("install -d -m 700 /etc/gyrum /etc/gyrum/secrets /etc/gyrum/secrets.d")
	return m
}

// secret puts a value where a file reference points.
func (m *managed) secret(name, value string) {
	m.t.Helper()
	m.Write("/etc/gyrum/secrets/"+name, value)
	m.Shell("chmod 600 /etc/gyrum/secrets/" + name)
}

// example brings a bare host to where its role wants it, by one approved plan, and proves that a second apply finds
// nothing to do. It gives the plan.
func (m *managed) example(units ...string) report {
	m.t.Helper()
	host := []string{"--host", m.Name()}
	plan := m.check(host...)
	if plan.code != 2 || plan.last().Stats.BySeverity["error"] != 0 {
		m.t.Fatalf("check of the bare host: %s", plan)
	}
	if o := m.gyrum("apply", append(host, "--confirm-plan", plan.last().PlanHash)...); o.code != 0 || len(o.last().Items) != 0 {
		m.t.Fatalf("apply: %s", o)
	}
	if o := m.check(host...); o.code != 0 || len(o.last().Items) != 0 {
		m.t.Fatalf("check after apply: %s", o)
	}
	before, trees := m.started(units), []string{"/etc", "/usr", "/srv", "/var/backups", "/var/lib/dpkg", "/var/lib/db"}
	files := m.Snapshot(trees...)
	if o := m.apply(host...); o.code != 0 || o.done() != "" {
		m.t.Errorf("second apply: %s", o)
	}
	if changes := files.Changes(m.Snapshot(trees...)); len(changes) != 0 {
		m.t.Errorf("the second apply wrote: %s", strings.Join(changes, "\n"))
	}
	if after := m.started(units); after != before {
		m.t.Errorf("the second apply restarted something: before\n%s\nafter\n%s", before, after)
	}
	return plan.last()
}

// started tells one start of units from another.
func (m *managed) started(units []string) string {
	m.t.Helper()
	return m.Shell("systemctl show -P InvocationID " + strings.Join(units, " "))
}

// heal breaks something by hand, and proves that check lists exactly that and that apply mends it.
func (m *managed) heal(by, want string) {
	m.t.Helper()
	m.Shell(by)
	if o := m.check("--host", m.Name()); o.code != 2 || o.drifted() != want {
		m.t.Errorf("check after %q: %q, want %q\n%s", by, o.drifted(), want, o)
	}
	if o := m.apply("--host", m.Name()); o.code != 0 {
		m.t.Errorf("apply after %q: %s", by, o)
	}
	if o := m.check("--host", m.Name()); o.code != 0 || o.drifted() != "" {
		m.t.Errorf("check after healing %q: %s", by, o)
	}
}

// pair is a certificate that signs itself, and its key.
func pair(t *testing.T, days int, names ...string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, days),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// TestExampleEdge applies the web server's role to a bare host.
func TestExampleEdge(t *testing.T) {
	m := bootExample(t, "edge-1")
	put := func(m *managed, days int) {
		m.t.Helper()
		certificate, key := pair(t, days, "www.example.org", "api.example.org")
		m.secret("example.org.pem", certificate)
		m.secret("example.org.key", key)
	}
	put(m, 90)
	m.Write("/etc/gyrum/secrets.d/issuer-token", "#!/bin/sh\necho token-of-the-issuer\n")
	m.Shell("chmod 700 /etc/gyrum/secrets.d/issuer-token")
	// What the application's place is taken by: it answers every request alike.
	m.unit("application.socket", "[Socket]\nListenStream=127.0.0.1:8080\nAccept=yes\n")
	m.unit("application@.service", "[Service]\nExecStart=/bin/sh -c 'read line; printf \"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\nConnection: close\\r\\n\\r\\napp\\n\"'\nStandardInput=socket\n")
	m.Shell("systemctl start application.socket")

	m.example("nginx.service", "edge-renew.timer")

	get := func(m *managed, url string) string {
		m.t.Helper()
		r := m.Run("curl", "--silent", "--show-error", "--max-time", "10", "--cacert", "/etc/nginx/tls/example.org.pem", "--write-out", " %{http_code}",
			"--connect-to", "::127.0.0.1:", url)
		return strings.TrimSpace(r.Stdout + r.Stderr)
	}
	answers := func(m *managed) {
		m.t.Helper()
		for url, want := range map[string]string{
			"https://www.example.org/":       "It works",
			"https://api.example.org/orders": "app\n 200",
			"http://www.example.org/":        " 301",
			"https://www.example.org/.git/":  " 403",
			"https://other.example.org/":     "000",
		} {
			if got := get(m, url); !strings.Contains(got, strings.TrimSpace(want)) {
				m.t.Errorf("%s answers %q, want %q", url, got, want)
			}
		}
	}
	answers(m)

	t.Run("what is broken by hand is mended", func(t *testing.T) {
		m := m.in(t)
		for by, want := range map[string]string{
			"sed -i s/8080/9/ /etc/nginx/vhosts.d/api.example.org.conf; sleep 0.1; systemctl restart nginx": "write file:/etc/nginx/vhosts.d/api.example.org.conf, start systemd_unit:nginx.service",
			"systemctl kill -s KILL nginx; sleep 0.1; systemctl stop nginx; systemctl disable -q nginx":     "start systemd_unit:nginx.service",
			"chmod 644 /etc/nginx/tls/example.org.key":                                                      "chmod file:/etc/nginx/tls/example.org.key",
			"systemctl disable -q --now edge-renew.timer; rm /usr/local/sbin/edge-renew":                    "write file:/usr/local/sbin/edge-renew, start systemd_unit:edge-renew.timer",
		} {
			m.heal(by, want)
		}
		answers(m)
	})

	t.Run("purged, and installed again", func(t *testing.T) {
		m := m.in(t)
		m.apt("purge nginx nginx-common")
		if r := m.Try("ls /etc/nginx/nginx.conf; systemctl is-active nginx"); r.Code == 0 {
			t.Fatalf("it is still there: %s", r)
		}
		// The package starts nginx from its own configuration, and only then does the declared one come back.
		if o := m.apply("--host", "edge-1"); o.code != 0 {
			t.Errorf("apply: %s", o)
		}
		answers(m)
	})

	t.Run("renewal", func(t *testing.T) {
		m := m.in(t)
		m.Shell("systemctl start edge-renew.service")
		if got := m.Shell("journalctl -o cat -u edge-renew.service"); !strings.Contains(got, "good for more than 21 days") {
			t.Errorf("the renewal says %q", got)
		}
		// The issuer cannot be reached here: the unit says so, and the old pair stays.
		put(m, 3)
		if r := m.Run("systemctl", "start", "edge-renew.service"); r.Code == 0 {
			t.Errorf("a renewal that got nothing counts as done: %s", r)
		}
		if got := m.Shell("ls -A /etc/gyrum/secrets"); got != "example.org.key\nexample.org.pem" {
			t.Errorf("the renewal left %s", got)
		}
		// What it would have fetched reaches nginx with the next apply.
		put(m, 80)
		if o := m.check("--host", "edge-1"); o.drifted() != "write file:/etc/nginx/tls/example.org.pem, write file:/etc/nginx/tls/example.org.key, start systemd_unit:nginx.service" {
			t.Errorf("check with a new pair: %s", o)
		}
		if o := m.apply("--host", "edge-1"); o.code != 0 {
			t.Errorf("apply of a new pair: %s", o)
		}
		answers(m)
	})
}

// TestExampleDB applies the database's role to a bare host.
func TestExampleDB(t *testing.T) {
	m := bootExample(t, "db-1")
	const password = `it's "a\b" password`
	m.secret("db-app-password", password+"\n")
	m.secret("pgbouncer-userlist", `"app" "`+strings.ReplaceAll(password, `"`, `""`)+"\"\n")

	m.example("postgresql@15-main.service", "pgbouncer.service", "db-backup.timer")

	answers := func(m *managed) {
		m.t.Helper()
		for _, port := range []string{"5432", "6432"} {
			r := m.RunWith([]string{"PGPASSWORD=" + password, "PGCONNECT_TIMEOUT=5"}, "", "psql", "-XAtq", "-h", "127.0.0.1", "-p", port, "-U", "app", "-c", "SELECT 1, current_setting('shared_buffers')", "app")
			if r.Stdout != "1|256MB\n" {
				m.t.Errorf("port %s answers %s", port, r)
			}
		}
	}
	answers(m)

	t.Run("what is broken by hand is mended", func(t *testing.T) {
		m := m.in(t)
		for by, want := range map[string]string{
			"sed -i s/256MB/64MB/ /etc/postgresql/15/main/conf.d/50-db.conf; sleep 0.1; systemctl restart postgresql@15-main": "write file:/etc/postgresql/15/main/conf.d/50-db.conf, start systemd_unit:postgresql@15-main.service",
			"systemctl stop pgbouncer; chown root /etc/pgbouncer/userlist.txt":                                                "chown file:/etc/pgbouncer/userlist.txt, start systemd_unit:pgbouncer.service",
			"systemctl stop postgresql": "start systemd_unit:postgresql.service, start systemd_unit:postgresql@15-main.service",
			"echo EXTRA=1 >>/etc/default/db-backup; runuser -u postgres -- psql -qc 'DROP DATABASE app WITH (FORCE)'; rm /var/lib/db/app-database": "run command:app-database, write env:/etc/default/db-backup",
		} {
			m.heal(by, want)
		}
		answers(m)
	})

	t.Run("backup", func(t *testing.T) {
		m := m.in(t)
		m.Shell("touch -d '20 days ago' /var/backups/db/19990101T000000Z.app.dump; systemctl start db-backup.service")
		if got := m.Shell("cd /var/backups/db; ls | sed 's/^[0-9]*T[0-9]*Z/T/'; pg_restore --list *.app.dump >/dev/null"); got != "T.app.dump\nT.globals.sql\nT.postgres.dump" {
			t.Errorf("the backup made %q", got)
		}
	})
}
