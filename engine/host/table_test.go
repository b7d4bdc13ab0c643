package host

import "testing"

// Every capability of the table is answered on its side, and nothing else is.
func TestTableAndHandlersAgree(t *testing.T) {
	read, write := 0, 0
	for _, c := range Capabilities() {
		_, asks := askers[c.Name]
		_, does := doers[c.Name]
		if asks != (c.Side == Read) || does != (c.Side == Write) || c.Doc == "" {
			t.Errorf("%s: side %s, answered by the reader %v, by the writer %v", c.Name, c.Side, asks, does)
		}
		if c.Side == Read {
			read++
		} else {
			write++
		}
	}
	if read != len(askers) || write != len(doers) {
		t.Errorf("the table has %d and %d, the handlers are %d and %d", read, write, len(askers), len(doers))
	}
}
