package ring3

import "testing"

// TestUnitFilePresentSaysWhetherTheFileIsThere, whether or not the manifest names it.
func TestUnitFilePresentSaysWhetherTheFileIsThere(t *testing.T) {
	m := boot(t)
	for _, c := range []struct {
		name, prepare, declared string
		want                    any // nil where nothing of the unit is there
	}{
		{"no such unit", "true", "name: a.service, state: started", nil},
		{"a file that systemd has not read yet", "printf '[Service]\\nExecStart=/bin/sleep infinity\\n' >/etc/systemd/system/a.service", "name: a.service, state: started", true},
		{"a file that it has read", "systemctl daemon-reload", "name: a.service, state: started", true},
		{"the declared file is another one", "mkdir -p /run/x", "name: a.service, state: started, unit_file: /lib/systemd/system/a.service", false},
		{"a masked unit's link", "printf '[Service]\\nExecStart=/bin/true\\n' >/lib/systemd/system/b.service; systemctl mask -q b.service", "name: b.service, state: started", true},
		{"the file is gone and the process runs", "systemctl start a; rm /etc/systemd/system/a.service; systemctl daemon-reload", "name: a.service, state: stopped", false},
		{"the file is gone, the process runs, and systemd has not looked since", "printf '[Service]\\nExecStart=/bin/sleep infinity\\n' >/etc/systemd/system/a.service; systemctl daemon-reload; systemctl restart a; rm /etc/systemd/system/a.service", "name: a.service, state: stopped", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := m.in(t)
			m.Shell(c.prepare)
			m.resources("- {type: package, name: plain}\n- {type: systemd_unit, " + c.declared + "}")
			o := m.check()
			if len(o.last().Items) != 2 {
				t.Fatalf("check: %s", o)
			}
			if got := o.last().Items[1].Observed["unit_file_present"]; got != c.want {
				t.Errorf("unit_file_present is %v, want %v\n%s", got, c.want, o)
			}
		})
	}
}
