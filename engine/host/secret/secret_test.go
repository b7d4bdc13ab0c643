package secret_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/resource"
)

const word = "hunter2-correct-horse"

func TestValueDoesNotPrint(t *testing.T) {
	v := secret.NewValue([]byte(word))
	holder := struct {
		V secret.Value
		P *secret.Value
		M map[string]secret.Value
		u secret.Value
		p *secret.Value
		s []secret.Value
	}{v, &v, map[string]secret.Value{"k": v}, v, &v, []secret.Value{v}}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%T"} {
		fmt.Fprintf(&out, verb+"\n"+verb+"\n", v, holder)
	}
	fmt.Fprintln(&out, v, holder, errors.New(v.String()))
	raw, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(raw)
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v, "h", holder)
	for _, trace := range []string{word, fmt.Sprintf("%x", word), fmt.Sprintf("%X", word), fmt.Sprint([]byte(word))} {
		if strings.Contains(out.String(), trace) {
			t.Errorf("printed: %s", out.String())
		}
	}
}

func TestVariableLosesOneLineEnd(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", "": "", "\n": ""} {
		if got := secret.NewValue([]byte(in)).Variable(); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func resolver(fs *hosttest.FS) *secret.Resolver {
	return &secret.Resolver{Tree: files.Tree{FS: fs}}
}

func TestFile(t *testing.T) {
	const p = "/etc/gyrum/secrets/db"
	ok := func(fs *hosttest.FS) { fs.AddFile(p, word, 0o400) }
	owned := func(kind string, mode, uid uint32) fsys.Info { return fsys.Info{Kind: kind, Mode: mode, UID: uid} }
	for _, c := range []struct {
		name  string
		scene func(fs *hosttest.FS)
		text  string // of the error; empty when it resolves
	}{
		{"as it should be", ok, ""},
		{"not there", func(fs *hosttest.FS) { fs.AddDir("/etc/gyrum/secrets", 0o700, 0, 0) }, "no such file"},
		{"no folder", func(fs *hosttest.FS) {}, "no such file"},
		{"readable by the group", func(fs *hosttest.FS) { fs.AddFile(p, word, 0o640) }, "mode 0640"},
		{"readable by others", func(fs *hosttest.FS) { fs.AddFile(p, word, 0o604) }, "mode 0604"},
		{"a user's", func(fs *hosttest.FS) { fs.Add(p, owned("file", 0o400, 1000), word) }, "belongs to user 1000"},
		{"a symlink", func(fs *hosttest.FS) { ok(fs); fs.AddLink("/etc/gyrum/secrets/l", "db", 0) }, "symlink"},
		{"a directory", func(fs *hosttest.FS) { fs.AddDir(p, 0o700, 0, 0) }, "directory"},
		{"in a folder that others can write to", func(fs *hosttest.FS) { fs.AddDir("/etc/gyrum/secrets", 0o733, 0, 0); ok(fs) }, "can be written to"},
		{"in a folder of a user's folder", func(fs *hosttest.FS) { fs.AddDir("/etc/gyrum", 0o755, 1000, 0); ok(fs) }, "belongs to user 1000"},
		{"through a symlink", func(fs *hosttest.FS) {
			fs.AddFile("/srv/secrets/db", word, 0o400)
			fs.AddLink("/etc/gyrum/secrets", "/srv/secrets", 0)
		}, "symlink"},
		{"too large", func(fs *hosttest.FS) { fs.AddFile(p, strings.Repeat("x", 1<<20+1), 0o400) }, "larger"},
	} {
		fs := hosttest.NewFS(hosttest.NewPower())
		c.scene(fs)
		name := p
		if c.name == "a symlink" {
			name = "/etc/gyrum/secrets/l"
		}
		v, err := resolver(fs).Resolve(context.Background(), resource.SecretRef{Provider: "file", Name: name})
		if c.text == "" {
			if err != nil || string(v.Bytes()) != word {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		refused(t, c.name, "file:"+name, err, c.text)
	}
}

// refused looks whether an error names the reference and not the value.
func refused(t *testing.T, name, ref string, err error, text string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: resolved", name)
	case fault.Of(err).Code != fault.SecretUnresolved || !strings.Contains(err.Error(), ref) || !strings.Contains(err.Error(), text):
		t.Errorf("%s: got %v", name, err)
	case strings.Contains(err.Error(), word):
		t.Errorf("%s: the error holds the value", name)
	}
}

func TestCredential(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddFile("/run/credentials/gyrum.service/db", word, 0o400)
	r := resolver(fs)
	_, err := r.Resolve(context.Background(), resource.SecretRef{Provider: "credential", Name: "db"})
	refused(t, "no directory", "credential:db", err, "CREDENTIALS_DIRECTORY")
	r.Credentials = "/run/credentials/gyrum.service"
	if v, err := r.Resolve(context.Background(), resource.SecretRef{Provider: "credential", Name: "db"}); err != nil || string(v.Bytes()) != word {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"../db", "a/b", "", ".", "..", "none"} {
		_, err := r.Resolve(context.Background(), resource.SecretRef{Provider: "credential", Name: name})
		refused(t, "name "+name, "credential:"+name, err, "")
	}
}

func seal(t *testing.T, to age.Recipient, armored bool) []byte {
	t.Helper()
	var out bytes.Buffer
	var a = armor.NewWriter(&out)
	dst := any(&out).(interface{ Write([]byte) (int, error) })
	if armored {
		dst = a
	}
	w, err := age.Encrypt(dst, to)
	if err == nil {
		_, err = w.Write([]byte(word))
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil && armored {
		err = a.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAge(t *testing.T) {
	mine, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, mine.Recipient(), false)
	catalog := map[string][]byte{
		"secrets/db.age": sealed, "secrets/armored.age": seal(t, mine.Recipient(), true), "secrets/foreign.age": seal(t, other.Recipient(), false),
		"secrets/plain": []byte("not encrypted"), "secrets/cut.age": sealed[:len(sealed)-3],
	}
	fs := hosttest.NewFS(hosttest.NewPower())
	r := resolver(fs)
	r.Catalog = func(name string) ([]byte, error) {
		if raw, ok := catalog[name]; ok {
			return raw, nil
		}
		return nil, errors.New("no such file in the catalog")
	}
	resolve := func(name string) (secret.Value, error) {
		return r.Resolve(context.Background(), resource.SecretRef{Provider: "age", Name: name})
	}
	_, err = resolve("secrets/db.age")
	refused(t, "no identity", "age:secrets/db.age", err, "/etc/gyrum/age.key")
	fs.AddFile(secret.IdentityPath, "# made by age-keygen\n"+mine.String()+"\n", 0o644)
	_, err = resolve("secrets/db.age")
	refused(t, "open identity", "age:secrets/db.age", err, "mode 0644")
	fs.AddFile(secret.IdentityPath, "# made by age-keygen\n"+mine.String()+"\n", 0o400)
	for _, name := range []string{"secrets/db.age", "secrets/armored.age"} {
		if v, err := resolve(name); err != nil || string(v.Bytes()) != word {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"secrets/foreign.age": "not encrypted to the identity", "secrets/plain": "cannot be decrypted", "secrets/cut.age": "cannot be decrypted", "secrets/none": "no such file",
	} {
		_, err := resolve(name)
		refused(t, name, "age:"+name, err, text)
		if err != nil && strings.Contains(err.Error(), mine.String()) {
			t.Error("the error holds the identity")
		}
	}
	fs.AddFile(secret.IdentityPath, "AGE-SECRET-KEY-1DAMAGED"+word, 0o400)
	_, err = resolve("secrets/db.age")
	refused(t, "damaged identity", "age:secrets/db.age", err, "age-keygen")
}

func TestExec(t *testing.T) {
	fs := hosttest.NewFS(hosttest.NewPower())
	fs.AddFile("/etc/gyrum/secrets.d/token", "#!/bin/sh\n", 0o755)
	fs.AddFile("/etc/gyrum/secrets.d/open", "#!/bin/sh\n", 0o775)
	fs.Add("/etc/gyrum/secrets.d/users", fsys.Info{Kind: "file", Mode: 0o755, UID: 1000}, "")
	r := resolver(fs)
	runs := 0
	var fail error
	r.Run = func(_ context.Context, program string, timeout time.Duration, limit int64) ([]byte, error) {
		runs++
		if program != "/etc/gyrum/secrets.d/token" || timeout <= 0 || limit <= 0 {
			t.Errorf("ran %s", program)
		}
		return fmt.Appendf(nil, "token %d\n", runs), fail
	}
	resolve := func(name string) (secret.Value, error) {
		return r.Resolve(context.Background(), resource.SecretRef{Provider: "exec", Name: name})
	}
	fail = fault.New(fault.Failed, "ended with exit status 3")
	_, err := resolve("token")
	refused(t, "failing program", "exec:token", err, "exit status 3")
	_, err = resolve("token")
	refused(t, "failing program, asked for once more", "exec:token", err, "exit status 3")
	if runs != 1 {
		t.Errorf("a program that fails was run %d times in one look", runs)
	}
	r.Forget()
	fail = nil
	first, err := resolve("token")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := resolve("token"); err != nil || !again.Equal(first.Bytes()) || runs != 2 {
		t.Error("one run sees two values")
	}
	for name, text := range map[string]string{
		"open": "mode 0775", "users": "belongs to user 1000", "none": "no such file", "../token": "plain file name", ".hidden": "plain file name", "a/b": "plain file name",
	} {
		_, err := resolve(name)
		refused(t, name, "exec:"+name, err, text)
	}
}

func TestUnknownProvider(t *testing.T) {
	_, err := resolver(hosttest.NewFS(hosttest.NewPower())).Resolve(context.Background(), resource.SecretRef{Provider: "vault", Name: "x"})
	refused(t, "vault", "vault:x", err, "use file, credential, age or exec")
}

func TestKey(t *testing.T) {
	const dir = "/var/lib/gyrum"
	fs := hosttest.NewFS(hosttest.NewPower())
	tree := files.Tree{FS: fs}
	before := fs.Dump()
	if _, ok, err := secret.LoadKey(tree, dir); ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	if after := fs.Dump(); len(after) != len(before) {
		t.Error("looking for the key wrote something")
	}
	key, err := secret.EnsureKey(files.NewWriteTree(fs, 0), dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := tree.Stat(dir + "/digest.key"); s.Mode != 0o600 || s.Size != 32 {
		t.Errorf("mode %04o, %d bytes", s.Mode, s.Size)
	}
	again, ok, err := secret.LoadKey(tree, dir)
	if err != nil || !ok || again.Digest([]byte(word)) != key.Digest([]byte(word)) || key.Digest([]byte("x")) == key.Digest([]byte("y")) {
		t.Errorf("another key: %v, %v", ok, err)
	}
	raw, _ := fs.Content(dir + "/digest.key")
	if s := fmt.Sprintf("%v %+v %#v", key, key, key); strings.Contains(s, fmt.Sprint([]byte(raw))) || strings.Contains(s, fmt.Sprintf("%x", raw)) {
		t.Errorf("the key prints: %s", s)
	}
	fs.AddFile(dir+"/digest.key", "short", 0o600)
	if _, _, err := secret.LoadKey(tree, dir); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	fs.AddFile(dir+"/digest.key", strings.Repeat("k", 32), 0o644)
	if _, _, err := secret.LoadKey(tree, dir); err == nil {
		t.Error("a key that others can read was taken")
	}
}
