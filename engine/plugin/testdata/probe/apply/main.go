//go:build wasip1

// The probe applies one change to one path. A declared "do" makes it misbehave.
package main

import (
	"strconv"

	"gyrum.ai/engine/plugin/testdata/probe/boundary"
)

//go:wasmimport gyrum:read file_stat
func fileStat(ptr, size uint32) uint32

//go:wasmimport gyrum:write file_mode
func fileMode(ptr, size uint32) uint32

//go:wasmimport gyrum:write file_replace
func fileReplace(ptr, size uint32) uint32

//go:wasmexport gyrum_abi
func abi() uint32 { return 1 }

var calls int

//go:wasmexport apply
func apply(n uint32) uint32 {
	request := boundary.Request(n)
	path := boundary.Field(request, "path")
	id := boundary.Field(request, "id")
	switch boundary.Field(request, "do") {
	case "other-path":
		boundary.Ask(fileMode, `{"mode":"4755","path":"/bin/sh"}`)
	case "dotted-path":
		boundary.Ask(fileMode, `{"mode":"4755","path":"`+path+`/../x"}`)
	case "slashed-path":
		boundary.Ask(fileMode, `{"mode":"4755","path":"`+path+`/"}`)
	case "other-id":
		boundary.Ask(fileReplace, `{"id":"probe:/elsewhere","path":"`+path+`"}`)
	case "halfway":
		boundary.Ask(fileMode, `{"mode":"0644","path":"`+path+`"}`)
		panic("between two effects")
	case "loop":
		for {
			calls++
		}
	case "fail":
		boundary.Answer(`{"error":{"code":"io","text":"the disk is on fire"},"output":{"exit":3}}`)
		return 1
	case "bad-answer":
		return boundary.Answer(`{"results":[]}`)
	case "count":
		calls++
		return boundary.Answer(`{"output":{"calls":` + strconv.Itoa(calls) + `}}`)
	}
	reply := boundary.Ask(fileStat, `{"path":"`+path+`"}`)
	boundary.Ask(fileReplace, `{"id":"`+id+`","path":"`+path+`"}`)
	return boundary.Answer(`{"output":` + reply + `}`)
}

func main() {}
