package systemdunit

import "testing"

// Which of two unit files systemd takes: first the unit's own name, then the folder; what cannot be told counts as a change.
func TestOutranks(t *testing.T) {
	for _, c := range []struct {
		path, other string
		want        bool
	}{
		{"/etc/systemd/system/t@a.service", "/lib/systemd/system/t@a.service", true},
		{"/lib/systemd/system/t@a.service", "/etc/systemd/system/t@a.service", false},
		{"/usr/lib/systemd/system/t@a.service", "/lib/systemd/system/t@a.service", true},
		{"/lib/systemd/system/t@a.service", "/etc/systemd/system/t@.service", true},
		{"/etc/systemd/system/t@.service", "/lib/systemd/system/t@a.service", false},
		{"/etc/systemd/system/t@.service", "/lib/systemd/system/else.service", true},
		{"/etc/systemd/system/t@a.service", "/lib/systemd/system/else.service", true},
		{"/etc/systemd/system/else.service", "/lib/systemd/system/t@a.service", true},
		{"/etc/systemd/system/t@a.service", "/opt/t@a.service", true},
		{"/opt/t@a.service", "/etc/systemd/system/t@a.service", true},
	} {
		if got := outranks("t@a.service", c.path, c.other); got != c.want {
			t.Errorf("%s before %s: %v", c.path, c.other, got)
		}
	}
}
