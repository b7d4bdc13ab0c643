package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"gyrum.ai/engine/host"
	"gyrum.ai/engine/internal/tinywasm"
	"gyrum.ai/engine/resource"
)

// The tiny plugin is written in WebAssembly itself: the boundary knows no language. It declares that a path exists.
const tinyManifest = `{"plugin":{"type":"tiny","version":1,"abi":1,"verbs":["write"],"decision":"0000-tiny",
"observe":{"file_stat":{"scope":["path"]}},"apply":{"file_mode":{"scope":["path"]}}}}`

// Where things lie in its memory of 32 pages.
const (
	texts   = 0x400
	end     = 0x8     // the address at which the answer goes on
	scratch = 0x4000  // the request of a capability
	reply   = 0x20000 // and its reply
	request = 0x80000
	answer  = 0x100000
)

// program assembles one module; its texts are put into memory and known by their names.
type program struct {
	m     *tinywasm.Module
	names map[string]string
	next  int
}

func (p *program) text(name, content string) {
	p.m.Data(p.next, content)
	p.names[name] = fmt.Sprintf("i32.const %d\ni32.const %d", p.next, len(content))
	p.next += len(content)
}

// fill puts the names into a piece of code: $name is the address and the length of a text, or a number.
func (p *program) fill(code string) string {
	var old []string
	for name, value := range p.names {
		old = append(old, "$"+name+"$", value)
	}
	return strings.NewReplacer(old...).Replace(code)
}

func (p *program) function(signature string, locals int, code string) int {
	return p.m.Func(signature, locals, p.fill(code))
}

func (p *program) number(name string, n int) { p.names[name] = fmt.Sprint(n) }

// begin makes what both modules have: the imports, the texts and a few helpers.
func begin(capability, name string) *program {
	p := &program{m: tinywasm.New(32), names: map[string]string{}, next: texts}
	p.number("input", p.m.Import("gyrum:call", "input", "i>"))
	p.number("output", p.m.Import("gyrum:call", "output", "ii>"))
	p.number("take", p.m.Import("gyrum:call", "take", "i>"))
	p.number("ask", p.m.Import(capability, name, "ii>i"))
	p.number("END", end)
	p.number("SCRATCH", scratch)
	p.number("REPLY", reply)
	p.number("REQUEST", request)
	p.number("ANSWER", answer)
	p.text("PATH", `"path":"`)
	p.text("OBSERVED", `"observed":`)
	p.text("WRITE", `"verb":"write"`)
	p.text("QUOTE", `"`)
	p.text("COMMA", `,`)
	p.text("ASK", `{"path":"`)
	p.text("ASKED", `"}`)
	p.text("RESULTS", `{"results":[`)
	p.text("RESULTED", `]}`)
	p.text("UNSEEN", `{"observed":null,"unobservable":{"code":"unobservable","text":"the host cannot tell"}}`)
	p.text("ABSENT", `{"observed":null}`)
	p.text("SEEN", `{"observed":`)
	p.text("CLOSE", `}`)
	p.text("NULL", `null`)
	p.text("MISSING", `{"reason":{"code":"missing","text":"it does not exist"},"severity":"drift","verb":"write"}`)
	p.text("UNKNOWN", `{"error":{"code":"invalid","text":"the type has no such verb"}}`)
	p.text("DONE", `{}`)

	// append(ptr, size) puts bytes behind the answer.
	p.number("append", p.function("ii>", 0, `
		i32.const $END$
		i32.load
		local.get 0
		local.get 1
		memory.copy
		i32.const $END$
		i32.const $END$
		i32.load
		local.get 1
		i32.add
		i32.store`))
	// find(from, to, text, size) gives the address behind the first place of the text, 0 when there is none.
	p.number("find", p.function("iiii>i", 1, `
		loop
			local.get 0
			local.get 3
			i32.add
			local.get 1
			i32.gt_u
			if
				i32.const 0
				return
			end
			i32.const 0
			local.set 4
			block
				loop
					local.get 4
					local.get 3
					i32.ge_u
					if
						local.get 0
						local.get 3
						i32.add
						return
					end
					local.get 0
					local.get 4
					i32.add
					i32.load8_u
					local.get 2
					local.get 4
					i32.add
					i32.load8_u
					i32.ne
					br_if 1
					local.get 4
					i32.const 1
					i32.add
					local.set 4
					br 0
				end
			end
			local.get 0
			i32.const 1
			i32.add
			local.set 0
			br 0
		end
		unreachable`))
	// inquire(path, size) asks the capability about the path and gives the length of the reply, which is taken.
	p.number("inquire", p.function("ii>i", 1, `
		i32.const $SCRATCH$
		$ASK$
		memory.copy
		i32.const $SCRATCH$
		i32.const 9
		i32.add
		local.get 0
		local.get 1
		memory.copy
		i32.const $SCRATCH$
		i32.const 9
		i32.add
		local.get 1
		i32.add
		$ASKED$
		memory.copy
		i32.const $SCRATCH$
		local.get 1
		i32.const 11
		i32.add
		call $ask$
		local.set 2
		i32.const $REPLY$
		call $take$
		local.get 2`))
	// hand() hands the answer over.
	p.number("hand", p.function(">", 0, `
		i32.const $ANSWER$
		i32.const $END$
		i32.load
		i32.const $ANSWER$
		i32.sub
		call $output$`))
	p.m.Export("_initialize", p.function(">", 0, ""))
	p.m.Export("gyrum_abi", p.function(">i", 0, "i32.const 1")).ExportMemory("memory")
	return p
}

// start takes the request: local 1 is where reading goes on, local 2 the end of it.
const start = `
		i32.const $REQUEST$
		call $input$
		i32.const $REQUEST$
		local.set 1
		i32.const $REQUEST$
		local.get 0
		i32.add
		local.set 2
		i32.const $END$
		i32.const $ANSWER$
		i32.store`

// each answers every place of a text by a piece of code that reads at local 1.
func each(text, code string) string {
	return start + `
		$RESULTS$
		call $append$
		block
			loop
				local.get 1
				local.get 2
				$` + text + `$
				call $find$
				local.tee 1
				i32.eqz
				br_if 1
				local.get 3
				if
					$COMMA$
					call $append$
				end
				i32.const 1
				local.set 3` + code + `
				br 0
			end
		end
		$RESULTED$
		call $append$
		call $hand$
		i32.const 0`
}

// path finds the end of the path that begins at local 1, for local 4.
const path = `
				local.get 1
				local.get 2
				$QUOTE$
				call $find$
				i32.const 1
				i32.sub
				local.set 4`

// refused says whether the reply is an error: its fourth byte is the r of {"error".
const refused = `
				i32.const $REPLY$
				i32.const 3
				i32.add
				i32.load8_u
				i32.const 0x72
				i32.eq`

func tinyObserve() []byte {
	p := begin("gyrum:read", "file_stat")
	p.m.Export("observe", p.function("i>i", 5, each("PATH", path+`
				local.get 1
				local.get 4
				local.get 1
				i32.sub
				call $inquire$
				local.set 5`+refused+`
				if
					$UNSEEN$
					call $append$
				else
					i32.const $REPLY$  ;; the f of {"exists":false
					i32.const 10
					i32.add
					i32.load8_u
					i32.const 0x66
					i32.eq
					if
						$ABSENT$
						call $append$
					else
						$SEEN$
						call $append$
						i32.const $REPLY$
						local.get 5
						call $append$
						$CLOSE$
						call $append$
					end
				end`)))
	p.m.Export("diff", p.function("i>i", 3, each("OBSERVED", `
				local.get 1
				i32.load8_u
				i32.const 0x6e ;; the n of null
				i32.eq
				if
					$MISSING$
					call $append$
				else
					$NULL$
					call $append$
				end`)))
	return p.m.Bytes()
}

func tinyApply() []byte {
	p := begin("gyrum:write", "file_mode")
	p.m.Export("apply", p.function("i>i", 5, start+`
		local.get 1
		local.get 2
		$WRITE$
		call $find$
		i32.eqz
		if
			$UNKNOWN$
			call $append$
			call $hand$
			i32.const 1
			return
		end
		local.get 1
		local.get 2
		$PATH$
		call $find$
		local.set 1`+path+`
		local.get 1
		local.get 4
		local.get 1
		i32.sub
		call $inquire$
		local.set 5`+refused+`
		if
			i32.const $REPLY$ ;; an error reply is an error answer
			local.get 5
			call $append$
			call $hand$
			i32.const 1
			return
		end
		$DONE$
		call $append$
		call $hand$
		i32.const 0`))
	return p.m.Bytes()
}

type tinyHost map[string]string

func (h tinyHost) Ask(_ context.Context, _ string, question []byte) ([]byte, error) {
	var q struct{ Path string }
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, err
	}
	if reply, ok := h[q.Path]; ok {
		return []byte(reply), nil
	}
	return []byte(`{"exists":false}`), nil
}

func TestAPluginWithoutALanguage(t *testing.T) {
	var rs []resource.Resource
	for _, path := range []string{"/etc/a", "/etc/b", "/etc/c"} {
		view := []byte(`{"id":"tiny:` + path + `","path":"` + path + `","type":"tiny"}`)
		rs = append(rs, resource.Resource{Role: "r", Type: "tiny", ID: "tiny:" + path, View: view, Declared: view})
	}
	observe, apply := tinyObserve(), tinyApply()
	t.Logf("observe has %d bytes, apply %d", len(observe), len(apply))
	Run(t, Subject{
		Modules: fstest.MapFS{
			"tiny.json":         {Data: []byte(tinyManifest)},
			"tiny.observe.wasm": {Data: observe},
			"tiny.apply.wasm":   {Data: apply},
		},
		Type:      "tiny",
		Resources: rs,
		Host: func() host.Asker {
			return tinyHost{"/etc/a": `{"exists":true,"kind":"file"}`, "/etc/b": `{"exists":true,"kind":"directory"}`}
		},
	})
}
