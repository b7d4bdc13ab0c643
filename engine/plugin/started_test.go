package plugin

import (
	"strings"
	"testing"

	"gyrum.ai/engine/internal/tinywasm"
)

// What a start leaves is what it wrote; the clock that it saw is behind that of every instance.
func TestStart(t *testing.T) {
	m := tinywasm.New(1)
	clock := m.Import(moduleWASI, "clock_time_get", "iIi>i")
	m.Data(16, "data")
	m.Export(startExport, m.Func(">", 0, "i32.const 1\ni64.const 0\ni32.const 32\ncall "+itoa(clock)+"\ndrop")).ExportMemory("memory")
	s, err := Start(t.Context(), m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Memory) != 1<<16 || string(s.Memory[16:20]) != "data" {
		t.Errorf("%d bytes, data %q", len(s.Memory), s.Memory[16:20])
	}
	if seen := s.Memory[32:40]; string(seen) != "\xe8\x03\x00\x00\x00\x00\x00\x00" {
		t.Errorf("the clock showed % x, not one step after nothing", seen)
	}
}

// A start that wants what no start is given is no start to ship.
func TestStartsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		module, function, signature, code, want string
	}{
		"it asks the host":        {moduleRead, "file_stat", "ii>i", "i32.const 0\ni32.const 0\ncall 0\ndrop", "there is nobody to answer"},
		"it takes a request":      {moduleCall, "input", "i>", "i32.const 0\ncall 0", "there is nobody to answer"},
		"it opens a file":         {moduleWASI, "fd_close", "i>i", "i32.const 3\ncall 0\ndrop", "there is nobody to answer"},
		"it ends":                 {moduleWASI, "proc_exit", "i>", "i32.const 2\ncall 0", "exited with status 2"},
		"it traps":                {moduleWASI, "sched_yield", ">i", "unreachable", "trapped"},
		"it sleeps for a quarter": {moduleWASI, "poll_oneoff", "iiii>i", "i32.const 0\ni32.const 64\ni32.const 1\ni32.const 128\ncall 0\ndrop", "would go back"},
	} {
		m := tinywasm.New(1)
		m.Import(c.module, c.function, c.signature)
		m.Data(24, "\xff\xff\xff\xff\xff\xff\xff\x00") // a timer's time, in nanoseconds
		m.Export(startExport, m.Func(">", 0, c.code)).ExportMemory("memory")
		if _, err := Start(t.Context(), m.Bytes()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Start(t.Context(), []byte("no module")); err == nil {
		t.Error("what is no module starts")
	}
	m := tinywasm.New(1)
	m.Export(startExport, m.Func(">", 0, "")).ExportMemory("memory")
	if _, err := Start(t.Context(), m.Bytes(), "absent"); err == nil || !strings.Contains(err.Error(), "no global absent") {
		t.Errorf("a global that is not there: %v", err)
	}
}

// What changes a table is not settled: nobody would know what its start left there.
func TestAStartThatChangesATable(t *testing.T) {
	for name, code := range map[string]string{
		"table.set":  "\x41\x00\xd2\x00\x26\x00",
		"table.init": "\x41\x00\x41\x00\x41\x01\xfc\x0c\x00\x00",
		"table.copy": "\x41\x00\x41\x01\x41\x01\xfc\x0e\x00\x00",
		"table.fill": "\x41\x00\xd2\x00\x41\x01\xfc\x11\x00",
	} {
		raw := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x04\x04\x01\x70\x00\x02\x05\x03\x01\x00\x01" +
			"\x07\x18\x02\x06memory\x02\x00\x0b_initialize\x00\x00\x09\x05\x01\x01\x00\x01\x00")
		body := append([]byte{1, byte(len(code) + 2), 0}, code+"\x0b"...)
		raw = append(append(raw, 10, byte(len(body))), body...)
		if _, err := Start(t.Context(), raw); err == nil || !strings.Contains(err.Error(), "changes a table") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
