package plugin

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/drift"
	"gyrum.ai/engine/internal/tinywasm"
)

// FuzzParseOutside feeds anything to the reader of a module's sections: it ends, in memory that the input bounds, and
// whatever it lets through has been named in full.
func FuzzParseOutside(f *testing.F) {
	f.Add(tiny(`{"results":[]}`, nil))
	f.Add(tiny("", func(m *tinywasm.Module) { m.Import(moduleWrite, "file_mode", "ii>i"); m.ImportMemory("env", "memory") }))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x02\xff\xff\xff\xff\x0f"))
	m, err := ParseManifest([]byte(probeManifest))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		shape, err := parseOutside(raw)
		if err != nil {
			return
		}
		if len(shape.imports)+len(shape.exports) > len(raw) {
			t.Fatalf("%d entries out of %d bytes", len(shape.imports)+len(shape.exports), len(raw))
		}
		if checkOutside(shape, m, ObservePhase) != nil {
			return
		}
		for _, im := range shape.imports {
			if im.Module == moduleWrite || im.Kind != "func" {
				t.Fatalf("a module passed that imports %+v", im)
			}
		}
	})
}

// FuzzBrakes feeds anything to the reader of instructions. A module that it passes and that is valid stays valid with brakes:
// the reader and the runtime see the same instructions.
func FuzzBrakes(f *testing.F) {
	f.Add(tiny(`{"results":[]}`, nil))
	f.Add(bare(1, "block\nlocal.get 0\nbr_if 0\nend\n"+allMemory+fill+move+random+"i32.const 0", nil))
	f.Add(bare(1, "loop\nlocal.get 0\nif\nlocal.get 0\nbr 1\nend\nend\ni64.const -1\ndrop\ni32.const 0", nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		shape, err := parseOutside(raw)
		if err != nil {
			return
		}
		out, err := withBrakes(raw, shape)
		if err != nil {
			return
		}
		if valid(t, raw) != nil {
			return
		}
		if err := valid(t, out); err != nil {
			t.Errorf("valid without brakes; with: %v", err)
		}
	})
}

// valid has the runtime judge a module without compiling it.
func valid(t *testing.T, raw []byte) error {
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(1024))
	defer r.Close(t.Context())
	_, err := r.CompileModule(t.Context(), raw)
	return err
}

// FuzzAnswers feeds anything to the readers of what a guest says. What passes is canonical and within the closed sets.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"results":[{"facts":{},"inputs":["/a"],"observed":{"exists":true},"package_may_start":true},null]}`))
	f.Add([]byte(`{"results":[{"observed":null,"unobservable":{"code":"x","text":"y"}}]}`))
	f.Add([]byte(`{"results":[{"needs":[{"kind":"path","name":"/a","text":"b"}],"params":{},"reason":{"code":"x","text":"y"},"severity":"drift","verb":"write"}]}`))
	f.Add([]byte(`{"error":{"code":"io","text":"y"},"output":{}}`))
	verbs := []drift.Verb{drift.Write}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if failure, err := readError(raw); err == nil && !codePattern.MatchString(failure.Code) {
			t.Errorf("the code %q passed", failure.Code)
		}
		if out, err := readOutput(raw); err == nil && out != nil {
			mustBeCanonical(t, out)
		}
		results, err := readResults(raw)
		if err != nil {
			return
		}
		for _, r := range results {
			if o, err := readObservation(r); err == nil {
				mustBeCanonical(t, o.Observed)
				mustBeCanonical(t, o.Facts)
				if o.Unobservable != nil && o.Observed != nil {
					t.Error("unobservable and observed")
				}
			}
			if d, err := readDecision(r, verbs); err == nil && d != nil {
				mustBeCanonical(t, d.Params)
				if d.Verb != drift.Write && d.Verb != drift.Noop {
					t.Errorf("the verb %q passed", d.Verb)
				}
			}
		}
	})
}

func mustBeCanonical(t *testing.T, raw json.RawMessage) {
	t.Helper()
	if raw == nil {
		return
	}
	if again, err := canonical.Transform(raw); err != nil || string(again) != string(raw) || raw[0] != '{' {
		t.Errorf("not canonical: %s", raw)
	}
}

// FuzzScope feeds any request to the scope check. What passes reaches for the declared path and nothing else, as any
// reader of the request understands it.
func FuzzScope(f *testing.F) {
	for _, r := range []string{`{"path":"/a"}`, `{"id":"probe:/a","path":"/a"}`, `{"path":"/a","path":"/b"}`, `{"Path":"/b","path":"/a"}`, `{"path":"/a/"}`, `{"path":"\u002fa"}`} {
		f.Add([]byte(r))
	}
	view := probeResource("/a").View
	f.Fuzz(func(t *testing.T, request []byte) {
		s := newScope(map[string]Grant{"file_stat": {Scope: []string{"path"}}}, []json.RawMessage{view})
		if s.check("file_stat", request) != nil {
			return
		}
		var loose map[string]any
		if err := json.Unmarshal(request, &loose); err != nil {
			t.Fatal(err)
		}
		var insensitive struct{ Path string }
		if err := json.Unmarshal(request, &insensitive); err != nil || insensitive.Path != "/a" {
			t.Errorf("another reader has %q of %s", insensitive.Path, request)
		}
		if loose["path"] != "/a" || strings.Count(string(request), `"path"`) < 1 {
			t.Errorf("passed: %s", request)
		}
		if s.check("file_mode", request) == nil {
			t.Error("a capability passed that is not granted")
		}
	})
}

// Every function that a guest can call, with any arguments: the guest may end, the process goes on, and the next guest
// answers as ever.
func TestAnyArgumentsToAnyImport(t *testing.T) {
	type function struct{ module, name, signature string }
	var all []function
	short := func(s string) string { // "(i32, i64) -> i32" as tinywasm has it
		s = strings.NewReplacer("(", "", ")", "", ",", "", " ", "", "->", ">", "i32", "i", "i64", "I").Replace(s)
		if !strings.Contains(s, ">") {
			s += ">"
		}
		return s
	}
	for name, s := range callSignatures {
		all = append(all, function{moduleCall, name, short(s)})
	}
	for name, s := range wasiSignatures {
		all = append(all, function{moduleWASI, name, short(s)})
	}
	all = append(all, function{moduleRead, "file_stat", "ii>i"})
	values := []string{"0", "1", "2", "8", "65", "65535", "65536", "1073741824", "-1", "-8", "-65536", "2147483647", "-2147483648"}
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range all {
		for range 20 {
			var code strings.Builder
			params, results, _ := strings.Cut(f.signature, ">")
			for _, p := range params {
				op := "i32.const "
				if p == 'I' {
					op = "i64.const "
				}
				code.WriteString(op + values[random.IntN(len(values))] + "\n")
			}
			m := tinywasm.New(1)
			code.WriteString("call " + itoa(m.Import(f.module, f.name, f.signature)) + "\n")
			if results != "" {
				code.WriteString("drop\n")
			}
			output := m.Import(moduleCall, "output", "ii>")
			m.Data(16, `{"results":[{"observed":{"survived":true}}]}`)
			reply := m.Func("i>i", 0, code.String()+"i32.const 16\ni32.const 44\ncall "+itoa(output)+"\ni32.const 0")
			m.Export("observe", reply).Export("diff", reply).Export("_initialize", m.Func(">", 0, ""))
			m.Export("gyrum_abi", m.Func(">i", 0, "i32.const 1")).ExportMemory("memory")
			s := tinyStore(t, m.Bytes(), nil)
			o := observeOne(t, s, &fakeHost{}, probeResource("/a"))[0]
			if o.Unobservable != nil && o.Unobservable.Code != CodeFailed {
				t.Errorf("%s: %+v", f.name, o)
			}
			if u := o.Unobservable; u != nil && strings.Contains(u.Text, "cannot be loaded") {
				t.Fatalf("%s: %s", f.name, u.Text)
			}
			s.Close()
		}
	}
}
