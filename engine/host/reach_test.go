package host_test

import (
	"strings"
	"testing"
)

// An alias of a unit that another resource declares is no second way to that unit.
func TestAnAliasOfAnotherResourcesUnit(t *testing.T) {
	other := declare(`{"type":"systemd_unit","id":"systemd_unit:sshd.service","name":"sshd.service","state":"stopped"}`)
	real := declare(`{"type":"systemd_unit","id":"systemd_unit:ssh.service","name":"ssh.service","state":"started"}`)
	free := declare(`{"type":"systemd_unit","id":"systemd_unit:alone.service","name":"alone.service","state":"started"}`)
	s := newStage(t, other, real, free)
	s.units.aliases = map[string]string{"sshd.service": "ssh.service", "alone.service": "undeclared.service"}
	s.holds(s.ask("unit", `{"id":"systemd_unit:sshd.service","name":"sshd.service"}`), `"error"`, "alias of ssh.service", "systemd_unit:ssh.service declares")
	s.holds(s.ask("unit", `{"id":"systemd_unit:ssh.service","name":"ssh.service"}`), `"load_state":"loaded"`)
	s.holds(s.ask("unit", `{"id":"systemd_unit:alone.service","name":"alone.service"}`), `"alias_of":"undeclared.service"`)
}

// Neither size nor digest of a secret can be had under another spelling of its path, by whatever resource.
func TestASecretUnderAnotherSpelling(t *testing.T) {
	secret := declare(`{"type":"file","id":"file:/etc/s","path":"/etc/s","content":{"secret_ref":"file:/s"}}`)
	s := newStage(t, secret)
	s.fs.AddFile("/etc/s", "abc", 0o600)
	s.fs.AddLink("/alias", "etc", 0)
	for _, p := range []string{"/etc/s", "/etc//s", "/etc/./s", "/alias/s", "/alias//s"} {
		if reply := s.ask("file_stat", `{"path":"`+p+`"}`); strings.Contains(reply, `"size"`) {
			t.Errorf("the size of %s: %s", p, reply)
		}
		if reply, err := s.r.Ask(t.Context(), "file_digest", []byte(`{"path":"`+p+`"}`)); err == nil {
			t.Errorf("the digest of %s: %s", p, reply)
		}
	}
}

// A resource that reaches a secret's file under another name is not told its digest, and its plugin did nothing wrong.
func TestTheDigestOfASecretUnderAnotherName(t *testing.T) {
	s := newStage(t, declare(`{"type":"file","id":"file:/etc/s","path":"/etc/s","content":{"secret_ref":"file:/s"}}`),
		declare(`{"type":"file","id":"file:/alias/s","path":"/alias/s","content":"x"}`))
	s.fs.AddFile("/etc/s", "1234", 0o600)
	s.fs.AddLink("/alias", "etc", 0)
	s.holds(s.ask("file_digest", `{"path":"/alias/s"}`), `{"error":{"code":"permission-denied","text":"/alias/s is another name of a file that holds a secret`)
}
