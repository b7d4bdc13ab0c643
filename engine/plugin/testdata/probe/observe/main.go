//go:build wasip1

// The probe observes one path a resource. A declared "do" makes it misbehave.
package main

import (
	"bytes"
	"strconv"
	"strings"
	"unsafe"

	"gyrum.ai/engine/plugin/testdata/probe/boundary"
)

//go:wasmimport gyrum:read file_stat
func fileStat(ptr, size uint32) uint32

//go:wasmimport gyrum:read content_matches
func contentMatches(ptr, size uint32) uint32

//go:wasmexport gyrum_abi
func abi() uint32 { return 1 }

var (
	calls int
	sink  [][]byte
)

//go:wasmexport observe
func observe(n uint32) uint32 {
	request := boundary.Request(n)
	var results []string
	for _, r := range boundary.Resources(request) {
		do := boundary.Field(r, "do")
		if status, done := wreck(do, boundary.Field(r, "path")); done {
			return status
		}
		results = append(results, one(r, do))
	}
	return boundary.Answer(`{"results":[` + strings.Join(results, ",") + `]}`)
}

func one(r []byte, do string) string {
	path := boundary.Field(r, "path")
	switch do {
	case "clock":
		sleep(3 * 3600)
		m := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
		order := ""
		for k := range m {
			order += k
		}
		return `{"observed":{"clock":` + strconv.FormatUint(now()/1e9, 10) + `,"random":` + strconv.FormatUint(random()>>12, 10) + `,"order":"` + order + `"}}`
	case "count":
		calls++
		return `{"observed":{"calls":` + strconv.Itoa(calls) + `}}`
	case "other-path":
		path = "/etc/shadow"
	case "dotted-path":
		path += "/../shadow"
	case "other-id":
		return `{"observed":` + boundary.Ask(contentMatches, `{"id":"probe:/elsewhere"}`) + `}`
	case "own-id":
		return `{"observed":` + boundary.Ask(contentMatches, `{"id":"`+boundary.Field(r, "id")+`"}`) + `}`
	case "crossed-id":
		return `{"observed":` + boundary.Ask(fileStat, `{"id":"`+boundary.Field(r, "neighbour")+`","path":"`+path+`"}`) + `}`
	case "spaced-request":
		return `{"observed":` + boundary.Ask(fileStat, `{"path": "`+path+`"}`) + `}`
	case "twice-named":
		return `{"observed":` + boundary.Ask(fileStat, `{"path":"/etc/shadow","path":"`+path+`"}`) + `}`
	case "keyless":
		return `{"observed":` + boundary.Ask(fileStat, `{}`) + `}`
	case "listed-path":
		return `{"observed":` + boundary.Ask(fileStat, `{"path":["`+path+`"]}`) + `}`
	case "unknown-member":
		return `{"observed":null,"resource":{"type":"file","id":"file:/etc/passwd"}}`
	case "other-case":
		return `{"Observed":null}`
	case "member-twice":
		return `{"observed":null,"observed":{}}`
	case "listed":
		return `{"observed":[]}`
	case "both":
		return `{"observed":{},"unobservable":{"code":"x","text":"y"}}`
	case "none-and-more":
		return `{"observed":null},{"observed":null}`
	case "nothing":
		return ""
	case "bad-code":
		return `{"observed":null,"unobservable":{"code":"Not A Code","text":"y"}}`
	case "long-text":
		return `{"observed":null,"unobservable":{"code":"x","text":"` + strings.Repeat("y", 1<<16) + `"}}`
	case "deep":
		return `{"observed":` + strings.Repeat(`{"a":`, 4000) + "1" + strings.Repeat("}", 4000) + `}`
	case "not-utf8":
		return "{\"observed\":{\"a\":\"\xff\"}}"
	}
	reply := boundary.Ask(fileStat, `{"path":"`+path+`"}`)
	if code := boundary.Field([]byte(reply), "code"); code != "" {
		return `{"observed":null,"unobservable":{"code":"unobservable","text":"` + code + `"}}`
	}
	if !strings.Contains(reply, `"exists":true`) {
		return `{"observed":null}`
	}
	return `{"facts":{"seen":` + reply + `},"inputs":["` + path + `.in"],"observed":` + reply + `}`
}

// wreck does what ends a whole batch.
func wreck(do, path string) (status uint32, done bool) {
	switch do {
	case "loop":
		for {
			calls++
		}
	case "recurse":
		calls += recurse(1)
	case "memory":
		for {
			sink = append(sink, make([]byte, 1<<20))
		}
	case "flood":
		for range 10000 {
			print(strings.Repeat("flood ", 1000))
		}
		panic("flooded")
	case "panic":
		panic("a bug")
	case "nil":
		var p *[8]int
		p[calls]++
	case "exit":
		exit(0)
	case "bad-input":
		boundary.RawInput(0xfffffff0)
	case "bad-output":
		boundary.RawOutput(0xfffffff0, 64)
	case "long-output":
		boundary.RawOutput(0, 0xffffffff)
	case "bad-take":
		boundary.Ask(fileStat, `{"path":"`+path+`"}`)
		boundary.RawTake(0xffffffff)
	case "early-take":
		boundary.RawTake(0)
	case "bad-request":
		fileStat(0xffffff00, 0x1000)
	case "long-request":
		fileStat(0, 0xffffffff)
	case "many-calls":
		for {
			boundary.Ask(fileStat, `{"path":"`+path+`"}`)
		}
	case "many-bytes":
		b := make([]byte, 1<<20)
		for {
			boundary.RawOutput(boundary.Address(b), uint32(len(b)))
		}
	case "many-inputs":
		b := make([]byte, 1<<20)
		for {
			boundary.RawInput(boundary.Address(b))
		}
	case "silent":
		return 0, true
	case "status":
		boundary.Answer(`{"results":[]}`)
		return 7, true
	case "refuse":
		boundary.Answer(`{"error":{"code":"no-luck","text":"will not"}}`)
		return 1, true
	case "bad-error":
		boundary.Answer(`{"error":"no"}`)
		return 1, true
	case "bad-json":
		boundary.Answer(`{"results":[`)
		return 0, true
	case "empty":
		boundary.Answer(``)
		return 0, true
	case "wide":
		boundary.Answer(`{"results":[` + strings.Repeat(`null,`, 200000) + `null]}`)
		return 0, true
	}
	return 0, false
}

//go:noinline
func recurse(n int) int {
	var frame [1 << 10]int
	frame[n%len(frame)] = n
	return recurse(n+1) + frame[(n+1)%len(frame)]
}

//go:wasmimport wasi_snapshot_preview1 proc_exit
func exit(code uint32)

//go:wasmimport wasi_snapshot_preview1 clock_time_get
func clockTimeGet(clock uint32, precision uint64, into unsafe.Pointer) uint32

//go:wasmimport wasi_snapshot_preview1 random_get
func randomGet(into unsafe.Pointer, size uint32) uint32

//go:wasmimport wasi_snapshot_preview1 poll_oneoff
func pollOneoff(in, out unsafe.Pointer, count uint32, events unsafe.Pointer) uint32

// now is the realtime clock in nanoseconds since 1970.
func now() (ns uint64) {
	clockTimeGet(0, 0, unsafe.Pointer(&ns))
	return ns
}

func random() (n uint64) {
	randomGet(unsafe.Pointer(&n), 8)
	return n
}

func sleep(seconds uint64) {
	var subscription struct {
		data      uint64
		tag       uint64
		clock     uint64
		timeout   uint64
		precision uint64
		flags     uint64
	}
	var event [4]uint64
	var n uint32
	subscription.data, subscription.clock, subscription.timeout = 7, 1, seconds*1e9
	if errno := pollOneoff(unsafe.Pointer(&subscription), unsafe.Pointer(&event), 1, unsafe.Pointer(&n)); errno != 0 || n != 1 || event[0] != 7 {
		panic("poll_oneoff")
	}
}

//go:wasmexport diff
func diff(n uint32) uint32 {
	request := boundary.Request(n)
	var results []string
	for _, r := range boundary.Resources(request) {
		results = append(results, judge(r))
	}
	return boundary.Answer(`{"results":[` + strings.Join(results, ",") + `]}`)
}

func judge(r []byte) string {
	_, observed, _ := bytes.Cut(r, []byte(`"observed":`))
	declared, _, _ := bytes.Cut(r, []byte(`"facts":`))
	decide := func(verb, code string) string {
		return `{"verb":"` + verb + `","reason":{"code":"` + code + `","text":"` + code + `"},"severity":"drift"}`
	}
	switch boundary.Field(declared, "diff") {
	case "asks":
		boundary.Ask(fileStat, `{"path":"`+boundary.Field(declared, "path")+`"}`)
	case "panics":
		panic("a bug in diff")
	case "unknown-verb":
		return decide("obliterate", "x")
	case "foreign-verb":
		return decide("install", "x")
	case "bad-severity":
		return `{"verb":"write","reason":{"code":"x","text":"x"},"severity":"fatal"}`
	case "quietly-blocked":
		return `{"blocked":"so","verb":"write","reason":{"code":"x","text":"x"},"severity":"drift"}`
	case "bad-need":
		return `{"needs":[{"kind":"planet","name":"x","text":"x"}],"verb":"write","reason":{"code":"x","text":"x"},"severity":"drift"}`
	case "remembers":
		calls++
		return `{"verb":"write","params":{"calls":` + strconv.Itoa(calls) + `},"reason":{"code":"x","text":"x"},"severity":"drift"}`
	}
	switch {
	case bytes.HasPrefix(observed, []byte("null")):
		return decide("write", "missing")
	case boundary.Field(observed, "mode") != boundary.Field(declared, "mode"):
		return decide("chmod", "mode-differs")
	case bytes.Contains(r, []byte(`"inputs":`)):
		return decide("start", "input-changes")
	}
	return "null"
}

func main() {}
