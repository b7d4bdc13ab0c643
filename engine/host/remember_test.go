package host_test

import (
	"fmt"
	"testing"

	"gyrum.ai/engine/host/fault"
)

// TestUnitsAreRememberedBeforeTheFirstEffect: an input may be set back to what an older record holds, which then says
// nothing of the process that was started in between.
func TestUnitsAreRememberedBeforeTheFirstEffect(t *testing.T) {
	for name, c := range map[string]struct {
		failure error
		done    bool
	}{
		"recorded":                        {nil, true},
		"the record cannot be written":    {fault.New(fault.NoSpace, "no space left"), false},
		"the manager cannot be asked":     {fault.New(fault.Unavailable, "no systemd here"), true},
		"the manager does not say a word": {fault.New(fault.Timeout, "no answer"), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t,
				declare(`{"type":"file","id":"file:/etc/a.env","path":"/etc/a.env","mode":"0600"}`),
				declare(`{"type":"systemd_unit","id":"systemd_unit:a.service","name":"a.service","state":"started"}`))
			s.fs.AddFile("/etc/a.env", "A=b\n", 0o644)
			var effects []int
			s.units.remember = func(unit string) error {
				effects = append(effects, len(s.effects))
				return c.failure
			}
			const chmod = `{"kind":"file","mode":"0600","path":"/etc/a.env"}`
			first, second := s.do("file_mode", chmod), s.do("file_mode", chmod)
			if got := fmt.Sprint(effects); got != "[0]" {
				t.Errorf("recorded after %s effects", got)
			}
			if done := first == "{}" && second == "{}"; done != c.done || len(s.effects) > 0 != c.done {
				t.Errorf("replies %s and %s, effects %v", first, second, s.effects)
			}
		})
	}
}
