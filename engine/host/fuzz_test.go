package host_test

import (
	"bytes"
	"context"
	"testing"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/resource"
)

// FuzzCapabilities puts any request to any capability of either side, past the scope that bounds a plugin's. It is answered by
// a canonical JSON object or refused; nothing that could be a secret is in what comes back.
func FuzzCapabilities(f *testing.F) {
	all := host.Capabilities()
	for i, c := range all {
		for _, q := range []string{`{"path":"/etc/a"}`, `{"id":"file:/etc/a","path":"/etc/a","mode":"0644","owner":"root","group":"root","kind":"file"}`,
			`{"id":"env:/etc/e"}`, `{"name":"a","state":"absent","version":"1"}`, `{"user":"root","group":"0"}`, `{"path":"/../etc/a/"}`, `{"a":"1","b":"~"}`} {
			if i%3 == len(q)%3 || len(c.Keys) == 0 {
				f.Add(uint8(i), []byte(q))
			}
		}
	}
	secret := []byte("Vq7xPZ-token")
	declare := func(typ, key, view string) resource.Resource {
		return resource.Resource{Role: "r", Type: typ, ID: typ + ":" + key, Declared: []byte(view), View: []byte(view), Secrets: map[string]resource.SecretRef{}}
	}
	file := declare("file", "/etc/a", `{"content":{"secret_ref":"file:/s"},"group":"root","id":"file:/etc/a","mode":"0644","owner":"root","path":"/etc/a","state":"present","type":"file"}`)
	file.Secrets["content"] = resource.SecretRef{Provider: "file", Name: "/s"}
	env := declare("env", "/etc/e", `{"group":"root","id":"env:/etc/e","mode":"0640","owner":"root","path":"/etc/e","state":"present","type":"env","vars":{"A":{"secret_ref":"file:/s"}}}`)
	env.Secrets["vars.A"] = resource.SecretRef{Provider: "file", Name: "/s"}
	rs := []resource.Resource{file, env,
		declare("systemd_unit", "a.service", `{"id":"systemd_unit:a.service","name":"a.service","state":"started","type":"systemd_unit"}`),
		declare("command", "x", `{"id":"command:x","run":"true","type":"command"}`),
		declare("line", "/etc/l", `{"id":"line:/etc/l","line":"x","path":"/etc/l","type":"line"}`)}
	f.Fuzz(func(t *testing.T, which uint8, request []byte) {
		h := hosttest.NewHost()
		h.Secrets["file:/s"] = string(secret)
		h.FS.AddFile("/etc/a", string(secret), 0o644)
		h.FS.AddFile("/etc/e", "A="+string(secret)+"\nB="+string(secret)+"\n", 0o640)
		h.FS.AddFile("/etc/l", "x\n", 0o644)
		read, write := h.Configs()
		reader := host.NewReader(read, rs)
		c := all[int(which)%len(all)]
		ask := reader.Ask
		if c.Side == host.Write {
			ask = host.NewWriter(reader, write, func(string, host.Effect, error) error { return nil }).Do
		}
		reply, err := ask(context.Background(), c.Name, request)
		if err != nil {
			return
		}
		if strict, err := canonical.Transform(reply); err != nil || !bytes.Equal(strict, reply) || reply[0] != '{' {
			t.Errorf("%s: %q is answered by %q", c.Name, request, reply)
		}
		if bytes.Contains(reply, secret) {
			t.Errorf("%s: %q is answered by a secret: %q", c.Name, request, reply)
		}
	})
}
