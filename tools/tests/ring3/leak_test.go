package ring3

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"gyrum.ai/tools/tests/needles"
)

// The secrets of the leak test, by provider. The last one is so short that only its digests can be looked for.
var leaking = map[string]string{
	"file": "Vq7xPZ-behind-a-file", "credential": "Jw2mKd behind a credential", "age": "Tb9rLs\"behind\"an$age`file", "exec": "Hn4cYf-behind-a-program",
	"failing": "Zk3pQw-said-by-a-program-that-fails", "old": "Rd8tBn-what-was-there-before",
}

const short = "1234"

// secrets puts them where their references point, and gives the forms to look for.
func (m *managed) secrets() map[string]needles.Needles {
	m.t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		m.t.Fatal(err)
	}
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, identity.Recipient())
	if err != nil {
		m.t.Fatal(err)
	}
	if _, err := w.Write([]byte(leaking["age"])); err != nil {
		m.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.put("secrets/app.age", sealed.String())
	m.Shell("install -d -m 700 /etc/gyrum /etc/gyrum/secrets /etc/gyrum/secrets.d /run/cred")
	m.secret("app", leaking["file"]+"\n")
	m.secret("pin", short)
	for name, text := range map[string]string{
		"/etc/gyrum/age.key":           identity.String() + "\n",
		"/run/cred/app":                leaking["credential"],
		"/etc/gyrum/secrets.d/app":     "#!/bin/sh\nprintf %s '" + leaking["exec"] + "'\n",
		"/etc/gyrum/secrets.d/failing": "#!/bin/sh\necho '" + leaking["failing"] + "'\necho '" + leaking["failing"] + "' >&2\nexit 3\n",
	} {
		m.Write(name, text)
		m.Shell("chmod 700 " + name)
	}
	forms := map[string]needles.Needles{"the short one": needles.Digests(short), "the age key": needles.Of(identity.String())}
	for name, value := range leaking {
		forms[name] = needles.Of(value)
	}
	return forms
}

const secretResources = `
	- {type: file, path: /etc/app/file, mode: "0600", content: {secret_ref: "file:/etc/gyrum/secrets/app"}}
	- {type: file, path: /etc/app/credential, mode: "0600", content: {secret_ref: "credential:app"}}
	- {type: file, path: /etc/app/age, mode: "0600", content: {secret_ref: "age:secrets/app.age"}}
	- {type: file, path: /etc/app/exec, mode: "0600", content: {secret_ref: "exec:app"}}
	- {type: file, path: /etc/app/pin, mode: "0600", content: {secret_ref: "file:/etc/gyrum/secrets/pin"}}
	- type: env
	  path: /etc/app/env
	  vars:
	    LEVEL: debug
	    A_TOKEN: {secret_ref: "file:/etc/gyrum/secrets/app"}
	    B_TOKEN: {secret_ref: "credential:app"}
	    C_TOKEN: {secret_ref: "age:secrets/app.age"}
	    D_TOKEN: {secret_ref: "exec:app"}
	    PIN: {secret_ref: "file:/etc/gyrum/secrets/pin"}
	- type: file
	  path: /etc/systemd/system/app.service
	  content: |
	    [Service]
	    EnvironmentFile=/etc/app/env
	    ExecStart=/bin/sleep infinity
	- type: systemd_unit
	  name: app.service
	  state: started
	  unit_file: /etc/systemd/system/app.service
	  restart_on: ["file:/etc/app/file", "file:/etc/app/pin"]
`

// TestSecretsDoNotLeak runs the program in every way in which it says or keeps something, and looks for the secrets in all
// of it: what it prints, what it records, what it leaves on disk, and the arguments and environments of all that it starts.
func TestSecretsDoNotLeak(t *testing.T) {
	m := boot(t)
	forms := m.secrets()
	look := func(where string, haystack []byte) {
		t.Helper()
		for name, n := range forms {
			if found := n.In(haystack); len(found) > 0 {
				t.Errorf("%s holds %s: %s", where, name, strings.Join(found, ", "))
			}
		}
	}
	env := []string{"CREDENTIALS_DIRECTORY=/run/cred"}
	run := func(want int, verb string, flags ...string) string {
		t.Helper()
		line := command(verb, flags...)
		// Each start of a program is written down with its arguments and its environment, in full.
		r := m.RunWith(env, "", append([]string{"strace", "-f", "-qq", "-v", "-s", "1000000", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", "/run/execs"}, line...)...)
		if r.Code != want {
			t.Errorf("%s ends with %d, want %d\n%s", strings.Join(line, " "), r.Code, want, r)
		}
		name := strings.Join(line, " ")
		look("stdout of "+name, []byte(r.Stdout))
		look("stderr of "+name, []byte(r.Stderr))
		look("what "+name+" started", []byte(m.Shell("cat /run/execs")))
		return r.Stdout
	}
	everyCheck := func(want int) {
		t.Helper()
		for _, flags := range [][]string{nil, {"-v"}, {"--diff"}, {"-v", "--diff", "--save"}, {"-o", "json"}, {"-o", "json", "--diff"}, {"--no-cache", "--speculate"}} {
			run(want, "check", flags...)
		}
	}
	m.Shell("mkdir /etc/app")
	m.resources(secretResources)
	everyCheck(2)

	// An apply, during which also the arguments of all processes are polled.
	p := m.Start("sh", "-c", "while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/comm 2>/dev/null; sleep 0.01; done >/run/cmdlines")
	run(0, "apply", "--auto-confirm", "-v", "--diff")
	p.Signal(15)
	p.Wait()
	if polled := m.Shell("tr -d '\\0' </run/cmdlines"); !strings.Contains(polled, "gyrum") {
		t.Error("the poll saw no process of the program")
	} else {
		look("the arguments of a process", []byte(polled))
	}
	everyCheck(0)
	if got := m.Shell("cat /etc/app/age /etc/app/credential"); got != leaking["age"]+leaking["credential"] {
		t.Fatalf("the secrets were not written: %q", got)
	}

	// The search finds what is there to be found.
	if env := m.Shell("cat /etc/app/env"); len(forms["file"].In([]byte(env))) == 0 || len(forms["exec"].In([]byte(env))) == 0 {
		t.Fatalf("the environment file holds no secret: %s", env)
	}

	// Drift of every kind, by values that are secrets too: the old ones.
	m.Shell("cd /etc/app; printf %s '" + leaking["old"] + "' >file; chmod 644 exec; sed -i 's/^A_TOKEN=.*/A_TOKEN=" + leaking["old"] + "/; s/^PIN=.*/OTHER=1234/' env; rm credential; ln -sf file age")
	everyCheck(2)
	run(0, "apply", "--auto-confirm", "-o", "json", "--diff")
	// A secret that is changed where it comes from, and an action that fails on it.
	m.secret("app", leaking["old"])
	everyCheck(2)
	m.Shell("mount --bind /etc/app/file /etc/app/file; mount -o remount,ro,bind /etc/app/file")
	r := m.RunWith(env, "", command("apply", "--auto-confirm", "-v", "--diff")...)
	if r.Code != 1 {
		t.Errorf("an apply onto a mount point: %s", r)
	}
	look("an apply that fails", []byte(r.String()))
	m.Shell("umount /etc/app/file")

	// A program that says the secret and fails.
	m.resources(secretResources + "\n- {type: file, path: /etc/app/failing, content: {secret_ref: \"exec:failing\"}}\n- {type: env, path: /etc/app/failing.env, vars: {X_TOKEN: {secret_ref: \"exec:failing\"}}}")
	everyCheck(1)
	run(1, "apply", "--auto-confirm", "-v")
	run(1, "apply", "--auto-confirm", "-o", "json")

	for _, verb := range []string{"history", "events"} {
		run(0, verb)
		run(0, verb, "-o", "json")
	}
	runs := m.Shell("ls /var/lib/gyrum/runs | sed 's/[.].*//' | sort -u")
	for _, id := range strings.Fields(runs) {
		run(0, "show", id)
		run(0, "show", id, "-v", "-o", "json")
	}

	look("the journal of the host", []byte(m.Shell("journalctl -o export --no-pager | tr -d '\\0'")))
	for _, dir := range []string{"/var/lib/gyrum", "/var/cache/gyrum", "/tmp", "/var/tmp", "/run/gyrum", "/root", "/var/log"} {
		look(dir, []byte(m.Run("tar", "--create", "--ignore-failed-read", "--to-stdout", dir).Stdout))
	}
	if strings.Contains(m.Shell("find /etc/app -name '.*' -o -name '*tmp*'"), "/") {
		t.Errorf("left beside the secrets: %s", m.Shell("ls -lA /etc/app"))
	}
}

// TestReferenceThatLeadsNowhereBlocksItsItem, for every provider, in files and environment files, there or missing.
func TestReferenceThatLeadsNowhereBlocksItsItem(t *testing.T) {
	m := boot(t)
	m.secrets()
	m.secret("open", "x")
	m.Shell("chmod 644 /etc/gyrum/secrets/open; mkdir -p /srv/loose; chmod 777 /srv/loose; echo x >/srv/loose/s; chmod 600 /srv/loose/s")
	m.Write("/etc/gyrum/secrets.d/plain", "#!/bin/sh\necho x\n") // cannot be executed
	m.put("secrets/other.age", "age-encryption.org/v1\nnonsense\n")
	if err := os.Remove(filepath.Join(m.catalog, "secrets", "app.age")); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		"file:/etc/gyrum/secrets/none", "file:/etc/gyrum/secrets/open", "file:/srv/loose/s", "file:/etc/gyrum/secrets", "credential:none", "age:secrets/none.age", "age:secrets/other.age",
		"exec:none", "exec:plain", "exec:failing",
	} {
		for state, prepare := range map[string]string{
			"missing":       "rm -rf /etc/app; mkdir /etc/app",
			"there":         "rm -rf /etc/app; mkdir /etc/app; printf 'A_TOKEN=x\\n' >/etc/app/env; printf x >/etc/app/file",
			"a link":        "rm -rf /etc/app; mkdir /etc/app; ln -s nowhere /etc/app/env; ln -s nowhere /etc/app/file",
			"of other mode": "rm -rf /etc/app; mkdir /etc/app; touch /etc/app/env /etc/app/file; chmod 600 /etc/app/*; chown daemon /etc/app/*",
		} {
			if state != "missing" && state != "there" && ref != "exec:none" {
				continue // what stands there is judged alike, whatever the provider
			}
			t.Run(ref+", "+state, func(t *testing.T) {
				m := m.in(t)
				m.Shell(prepare)
				m.resources(`
					- {type: file, path: /etc/app/first, content: "1"}
					- {type: file, path: /etc/app/file, content: {secret_ref: "` + ref + `"}}
					- {type: env, path: /etc/app/env, vars: {A_TOKEN: {secret_ref: "` + ref + `"}, B: "1"}}
				`)
				before := m.Snapshot("/etc/app")
				o := m.check()
				if o.code != 1 || o.drifted() != "write file:/etc/app/first, error: write file:/etc/app/file, error: write env:/etc/app/env" {
					t.Errorf("check: %s", o)
				}
				for _, id := range []string{"file:/etc/app/file", "env:/etc/app/env"} {
					if it := o.find(id); !strings.Contains(it.Blocked, ref) || it.Reason.Code != "secret-unresolved" {
						t.Errorf("%s does not name the reference: %+v", id, it)
					}
				}
				if o := m.apply(); o.code != 1 || o.find("file:/etc/app/file").status() != "blocked" {
					t.Errorf("apply: %s", o)
				}
				after := m.Snapshot("/etc/app")
				for _, name := range []string{"/etc/app/file", "/etc/app/env"} {
					if before[name] != after[name] {
						t.Errorf("%s was changed", name)
					}
				}
				m.resources("- {type: file, path: /etc/app/file, state: absent}\n- {type: env, path: /etc/app/env, state: absent, vars: {A_TOKEN: {secret_ref: \"" + ref + "\"}}}")
				if o := m.apply(); o.code != 0 {
					t.Errorf("what is to go needs no secret: %s", o)
				}
			})
		}
	}
}
