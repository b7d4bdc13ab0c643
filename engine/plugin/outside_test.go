package plugin

import (
	"strings"
	"testing"
	"testing/fstest"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/internal/tinywasm"
)

// tiny gives an observe module that answers a fixed text, after change had its way with it.
func tiny(answer string, change func(m *tinywasm.Module)) []byte {
	m := tinywasm.New(1)
	if change != nil {
		change(m)
	}
	output := m.Import(moduleCall, "output", "ii>")
	m.Data(16, answer)
	reply := m.Func("i>i", 0, "i32.const 16\ni32.const "+itoa(len(answer))+"\ncall "+itoa(output)+"\ni32.const 0")
	m.Export("observe", reply).Export("diff", reply)
	m.Export("_initialize", m.Func(">", 0, ""))
	m.Export("gyrum_abi", m.Func(">i", 0, "i32.const 1"))
	return m.ExportMemory("memory").Bytes()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func tinyStore(t *testing.T, observe, apply []byte) *Store {
	return newTestStore(t, fstest.MapFS{
		"probe.json":         {Data: []byte(probeManifest)},
		"probe.observe.wasm": {Data: observe},
		"probe.apply.wasm":   {Data: apply},
	}, CacheConfig{}, testLimits())
}

func TestAModuleThatIsNotGo(t *testing.T) {
	s := tinyStore(t, tiny(`{"results":[{"observed":{"tiny":true}}]}`, nil), nil)
	o := observeOne(t, s, &fakeHost{}, probeResource("/a"))
	if string(o[0].Observed) != `{"tiny":true}` {
		t.Errorf("%+v", o[0].Unobservable)
	}
}

// What a module may have on its outside, and what the refusal then says. None of these is ever compiled.
func TestModulesThatAreRefused(t *testing.T) {
	good := tiny(`{"results":[{"observed":null}]}`, nil)
	for name, c := range map[string]struct {
		module []byte
		want   string
	}{
		"a write": {tiny("", func(m *tinywasm.Module) { m.Import(moduleWrite, "file_mode", "ii>i") }),
			"imports gyrum:write.file_mode; a module that observes never writes"},
		"a write in disguise": {tiny("", func(m *tinywasm.Module) { m.Import(moduleRead, "file_mode", "ii>i") }),
			"no such capability"},
		"what is not granted": {tiny("", func(m *tinywasm.Module) { m.Import(moduleRead, "package", "ii>i") }),
			"does not grant to observe"},
		"no capability": {tiny("", func(m *tinywasm.Module) { m.Import(moduleRead, "open_file", "ii>i") }),
			"no such capability"},
		"another signature": {tiny("", func(m *tinywasm.Module) { m.Import(moduleRead, "file_stat", "iii>i") }),
			"it is (i32, i32) -> i32"},
		"a file": {tiny("", func(m *tinywasm.Module) { m.Import(moduleWASI, "path_open", "iiiiiIIii>i") }),
			"no plugin is given"},
		"a socket": {tiny("", func(m *tinywasm.Module) { m.Import(moduleWASI, "sock_accept", "iii>i") }),
			"no plugin is given"},
		"another module": {tiny("", func(m *tinywasm.Module) { m.Import("env", "system", "i>i") }),
			"the boundary does not have"},
		"a foreign memory": {tiny("", func(m *tinywasm.Module) { m.ImportMemory("env", "memory") }),
			"imports only functions"},
		"a start function": {tiny("", func(m *tinywasm.Module) { m.Start(0) }), "start function"},
		"no diff":          {tinyWithout("diff"), "does not export diff"},
		"no memory":        {tinyWithout("memory"), "does not export memory"},
		"nothing":          {nil, "no WebAssembly module"},
		"a program":        {[]byte("\x7fELF\x02\x01\x01"), "no WebAssembly module"},
		"half a module":    {good[:len(good)/2], "cannot be loaded"},
		"a wrong body":     {good[:len(good)-3], "cannot be loaded"},
		"another version":  {tinyABI(2), "speaks version 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := tinyStore(t, c.module, nil)
			h := &fakeHost{}
			o := observeOne(t, s, h, probeResource("/a"), probeResource("/b"))
			for _, one := range o {
				if one.Unobservable == nil || !strings.Contains(one.Unobservable.Text, c.want) {
					t.Fatalf("lacks %q: %+v %+v", c.want, one, one.Unobservable)
				}
				if !strings.Contains(one.Unobservable.Text, digestOf(c.module)) {
					t.Errorf("names no digest: %s", one.Unobservable.Text)
				}
			}
			if len(h.asked)+len(h.done) > 0 {
				t.Errorf("the host was asked %v %v", h.asked, h.done)
			}
		})
	}
}

func tinyWithout(export string) []byte {
	m := tinywasm.New(1)
	f := m.Func("i>i", 0, "i32.const 0")
	for _, name := range []string{"observe", "diff"} {
		if name != export {
			m.Export(name, f)
		}
	}
	m.Export("_initialize", m.Func(">", 0, "")).Export("gyrum_abi", m.Func(">i", 0, "i32.const 1"))
	if export != "memory" {
		m.ExportMemory("memory")
	}
	return m.Bytes()
}

func tinyABI(version int) []byte {
	m := tinywasm.New(1)
	f := m.Func("i>i", 0, "i32.const 0")
	m.Export("observe", f).Export("diff", f).Export("_initialize", m.Func(">", 0, ""))
	return m.Export("gyrum_abi", m.Func(">i", 0, "i32.const "+itoa(version))).ExportMemory("memory").Bytes()
}

// The proof that a check cannot write: in a runtime for observing, an apply module does not even link. The import
// check, which comes first, is left out here.
func TestAnApplyModuleDoesNotLinkWhereAPluginObserves(t *testing.T) {
	modules := probeModules(t)
	s := newTestStore(t, modules, CacheConfig{}, testLimits())
	box := s.types["probe"].observe
	n, err := compileIn(t.Context(), nil, modules["probe.apply.wasm"].Data, box.limits)
	if err != nil {
		t.Fatal(err)
	}
	defer n.close(t.Context())
	if err := box.populate(t.Context(), n.runtime); err != nil {
		t.Fatal(err)
	}
	box.native = n
	_, err = box.drive(t.Context(), "apply", 0)
	box.native = nil
	if err == nil || !strings.Contains(err.Error(), "gyrum:write") {
		t.Errorf("it linked: %v", err)
	}
}

// A module that is not the one whose digest the manifest carries is not loaded.
func TestADigestThatIsNotTheManifests(t *testing.T) {
	other := digestOf([]byte("another module"))
	s := newTestStore(t, fstest.MapFS{
		"probe.json":         {Data: []byte(strings.Replace(probeManifest, `"decision"`, `"digests":{"observe":"`+other+`"},"decision"`, 1))},
		"probe.observe.wasm": {Data: tiny(`{"results":[{"observed":null}]}`, nil)},
	}, CacheConfig{}, testLimits())
	o := observeOne(t, s, &fakeHost{}, probeResource("/a"))
	if u := o[0].Unobservable; u == nil || !strings.Contains(u.Text, "build the modules anew") {
		t.Errorf("%+v", u)
	}
}

func TestInspect(t *testing.T) {
	s := probeStore(t, testLimits())
	in, err := s.Inspect("probe", ApplyPhase)
	if err != nil || in.Refusal != "" {
		t.Fatal(err, in)
	}
	var granted []string
	for _, im := range in.Imports {
		if im.Module == moduleRead || im.Module == moduleWrite {
			granted = append(granted, im.Module+"."+im.Name)
		}
	}
	if got := strings.Join(granted, " "); got != "gyrum:read.file_stat gyrum:write.file_mode gyrum:write.file_replace" {
		t.Errorf("imports %s", got)
	}
	s = tinyStore(t, tiny("", func(m *tinywasm.Module) { m.Import(moduleWrite, "file_mode", "ii>i") }), nil)
	in, err = s.Inspect("probe", ObservePhase)
	if err != nil || !strings.Contains(in.Refusal, "never writes") || len(in.Imports) != 2 || len(in.Unused) != 2 {
		t.Errorf("%v %+v", err, in)
	}
}

func TestManifestsThatAreRefused(t *testing.T) {
	for name, c := range map[string][2]string{
		"a write for observe":   {`"observe":{"file_stat"`, `"observe":{"file_mode":{"scope":["path"]},"file_stat"`},
		"no scope":              {`"observe":{"file_stat":{"scope":["path"]}`, `"observe":{"file_stat":{"scope":[]}`},
		"a scope for nothing":   {`"observe":{`, `"observe":{"package_compare":{"scope":["name"]},`},
		"an unknown capability": {`"observe":{`, `"observe":{"shell":{"scope":["name"]},`},
		"an unknown verb":       {`"verbs":["write"`, `"verbs":["obliterate"`},
		"an unknown member":     {`"type"`, `"root":true,"type"`},
		"another boundary":      {`"abi":1`, `"abi":2`},
		"no decision record":    {`"0000-probe"`, `""`},
		"an odd type":           {`"type":"probe"`, `"type":"../probe"`},
		"a bad digest":          {`"abi"`, `"digests":{"observe":"md5:1"},"abi"`},
	} {
		if !strings.Contains(probeManifest, c[0]) {
			t.Fatalf("%s: stale test", name)
		}
		if m, err := ParseManifest([]byte(strings.Replace(probeManifest, c[0], c[1], 1))); err == nil {
			t.Errorf("%s: accepted: %+v", name, m)
		}
	}
	if _, err := NewStore(fstest.MapFS{"other.json": {Data: []byte(probeManifest)}}, CacheConfig{}, func(string) {}); err == nil {
		t.Error("a manifest under another type's name was accepted")
	}
	if _, err := ParseManifest([]byte(probeManifest + "{}")); err == nil {
		t.Error("two records were accepted")
	}
}

// Every word of the closed table can be granted and is offered under its side's module.
func TestEveryCapabilityHasASide(t *testing.T) {
	for _, c := range host.Capabilities() {
		if c.Side != host.Read && c.Side != host.Write {
			t.Errorf("%s has the side %q", c.Name, c.Side)
		}
	}
}
