package corpus

import (
	"bytes"
	"slices"
	"testing"

	"gyrum.ai/plugins/command"
	"gyrum.ai/plugins/directory"
	"gyrum.ai/plugins/env"
	"gyrum.ai/plugins/file"
	"gyrum.ai/plugins/group"
	"gyrum.ai/plugins/guest"
	"gyrum.ai/plugins/guest/read"
	"gyrum.ai/plugins/line"
	packages "gyrum.ai/plugins/package"
	"gyrum.ai/plugins/symlink"
	"gyrum.ai/plugins/systemd_unit"
	"gyrum.ai/plugins/user"
)

// types are the deciding halves of every plugin.
var types = []struct {
	observe func(read.Host, guest.Value) guest.Observation
	diff    func(guest.Input) *guest.Decision
}{
	{command.Observe, command.Diff}, {directory.Observe, directory.Diff}, {env.Observe, env.Diff}, {file.Observe, file.Diff},
	{group.Observe, group.Diff}, {line.Observe, line.Diff}, {packages.Observe, packages.Diff}, {symlink.Observe, symlink.Diff},
	{systemdunit.Observe, systemdunit.Diff}, {user.Observe, user.Diff},
}

// FuzzPhases gives every plugin any declared record and any replies, and then its own observation. Whatever it makes of them,
// it ends, its answers are canonical JSON, and the same input gives the same answer.
func FuzzPhases(f *testing.F) {
	f.Add(uint8(3), []byte(`{"content":{"sha256":"00","size":1},"group":"root","id":"file:/a","mode":"0644","owner":"root","path":"/a","state":"present","type":"file"}`),
		[]byte(`{"exists":true,"gid":0,"group":"root","kind":"file","mode":"0600","nlink":2,"owner":"root","sha256":"11","size":3,"uid":0}`))
	f.Add(uint8(6), []byte(`{"id":"package:a","name":"a","state":"present","type":"package","version":"1"}`),
		[]byte(`{"held":true,"installed":true,"known":true,"ok":false,"order":-1,"reason":{"code":"held","text":"x"},"removes":["b"],"version":"2"}`))
	f.Add(uint8(8), []byte(`{"enabled":true,"id":"systemd_unit:a.service","name":"a.service","restart_on":["file:/a"],"state":"started","type":"systemd_unit"}`),
		[]byte(`{"active_state":"failed","freshness":"stale","inputs":["/a"],"load_state":"masked","need_daemon_reload":true,"stale_inputs":["/a"],"unit_file_state":"alias"}`))
	f.Add(uint8(2), []byte(`{"id":"env:/a","path":"/a","type":"env","vars":{"A":"1","B":{"secret_ref":"file:/b"}}}`),
		[]byte(`{"exists":true,"kind":"file","readable":true,"same":false,"unresolved":"x","vars":{"A":7,"B":null}}`))
	f.Add(uint8(0), []byte(`{"creates":"/x","id":"command:a","idempotent":false,"run":["a"],"type":"command"}`), []byte(`{"error":{"code":1,"text":[]}}`))
	f.Fuzz(func(t *testing.T, which uint8, record, reply []byte) {
		declared, err := guest.Decode(record)
		if err != nil || declared.Kind() != guest.KindObject {
			return
		}
		if v, err := guest.Decode(reply); err != nil || v.Kind() != guest.KindObject {
			return // the engine sends nothing else
		}
		typ := types[int(which)%len(types)]
		h := read.Host{Ask: func(string, []byte) []byte { return slices.Clone(reply) }}
		request := guest.Encode(guest.Object().With("resources", guest.List(declared)))
		observing := guest.Observing(func(v guest.Value) guest.Observation { return typ.observe(h, v) })
		answer := twice(t, observing, request)
		seen := answer.Get("results").Items()[0]
		twice(t, guest.Diffing(typ.diff), guest.Encode(guest.Object().With("resources", guest.List(
			guest.Object().With("declared", declared).With("observed", seen.Get("observed")).With("facts", seen.Get("facts")),
			guest.Object().With("declared", declared).With("observed", declared).With("facts", declared).With("changing", declared),
		))))
	})
}

// twice runs a phase two times and wants the same canonical answer.
func twice(t *testing.T, phase guest.Phase, request []byte) guest.Value {
	t.Helper()
	first, status := phase(request)
	second, again := phase(request)
	if status != guest.StatusAnswer || again != status || !bytes.Equal(first, second) {
		t.Fatalf("status %d, then %d:\n%s\n%s", status, again, first, second)
	}
	v, err := guest.Decode(first)
	if err != nil || !bytes.Equal(guest.Encode(v), first) {
		t.Fatalf("not canonical: %s", first)
	}
	return v
}
