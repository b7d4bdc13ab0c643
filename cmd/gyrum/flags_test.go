package main

import "testing"

func TestAMachinesNameIsTheRecordsName(t *testing.T) {
	for machine, want := range map[string]string{"web-1": "web-1", "UPPER": "upper", "Web-1.Example.ORG": "web-1"} {
		if got := shortName(machine); got != want {
			t.Errorf("%s: %s, want %s", machine, got, want)
		}
	}
}
