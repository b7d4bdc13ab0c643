package corpus

import (
	"os"
	"testing"

	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/guest/write"
)

// Logic is the logic of a type, as its package has it.
type Logic struct {
	Observe func(read.Host, guest.Value) guest.Observation
	Diff    func(guest.Input) *guest.Decision
	Apply   func(read.Host, write.Host, guest.Value, guest.Action) (guest.Value, *guest.Error)
}

// Native makes a plugin of the logic, run in this process.
func Native(l Logic) Plugin {
	return Plugin{
		Observe: func(ask Ask, request []byte) ([]byte, int32) {
			return guest.Observing(func(declared guest.Value) guest.Observation { return l.Observe(read.Host{Ask: ask}, declared) })(request)
		},
		Diff: guest.Diffing(l.Diff),
		Apply: func(ask Ask, request []byte) ([]byte, int32) {
			return guest.Applying(func(declared guest.Value, a guest.Action) (guest.Value, *guest.Error) {
				return l.Apply(read.Host{Ask: ask}, write.Host{Do: ask}, declared, a)
			})(request)
		},
	}
}

// Writes fits the apply of a type that reads nothing.
func Writes(apply func(write.Host, guest.Value, guest.Action) (guest.Value, *guest.Error)) func(read.Host, write.Host, guest.Value, guest.Action) (guest.Value, *guest.Error) {
	return func(_ read.Host, h write.Host, declared guest.Value, a guest.Action) (guest.Value, *guest.Error) {
		return apply(h, declared, a)
	}
}

// Test plays every case in testdata/cases of the package that is being tested.
func Test(t *testing.T, l Logic) {
	t.Helper()
	cases, err := Load(os.DirFS("testdata/cases"))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("testdata/cases holds no case")
	}
	p := Native(l)
	for _, c := range cases {
		for _, wrong := range Play(p, c) {
			t.Errorf("testdata/cases/%s:%d: %s: %s", c.File, c.Line, c.Name, wrong)
		}
	}
}
