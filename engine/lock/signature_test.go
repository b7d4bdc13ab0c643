package lock

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
)

// Made by minisign itself, with its own test key, of a file that holds "test"; the second with -H.
const (
	realKey  = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	realFile = "test"
	realSig  = "untrusted comment: signature from minisign secret key\n" +
		"RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=\n" +
		"trusted comment: timestamp:1555779966\tfile:test\n" +
		"QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==\n"
	realHashed = "untrusted comment: signature from minisign secret key\n" +
		"RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n" +
		"trusted comment: timestamp:1556193335\tfile:test\n" +
		"y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==\n"
)

func TestSignaturesOfMinisign(t *testing.T) {
	k, err := ParseKey(realKey)
	if err != nil {
		t.Fatal(err)
	}
	if k.String() != "E7620F1842B4E81F" {
		t.Errorf("id %s", k)
	}
	for name, sig := range map[string]string{"Ed": realSig, "ED": realHashed} {
		comment, by, err := Verify([]Key{k}, []byte(realFile), []byte(sig))
		if err != nil || !strings.Contains(comment, "file:test") || by.ID != k.ID {
			t.Errorf("%s: %q %v", name, comment, err)
		}
		if _, _, err := Verify([]Key{k}, []byte("tesT"), []byte(sig)); err == nil {
			t.Errorf("%s: other bytes were taken", name)
		}
		if _, _, err := Verify(nil, []byte(realFile), []byte(sig)); !errors.Is(err, ErrUnsigned) || !strings.Contains(err.Error(), "E7620F1842B4E81F") {
			t.Errorf("%s without a key: %v", name, err)
		}
		changed := strings.Replace(sig, "file:test", "file:best", 1)
		if _, _, err := Verify([]Key{k}, []byte(realFile), []byte(changed)); err == nil || !strings.Contains(err.Error(), "comment") {
			t.Errorf("%s: another comment: %v", name, err)
		}
	}
}

// sign makes a signature as minisign does.
func sign(key ed25519.PrivateKey, id string, algorithm string, content []byte) (public, signature string) {
	message := content
	if algorithm == "ED" {
		sum := blake2b.Sum512(content)
		message = sum[:]
	}
	sig := ed25519.Sign(key, message)
	const comment = "made by a test"
	global := ed25519.Sign(key, append(append([]byte{}, sig...), comment...))
	b64 := base64.StdEncoding.EncodeToString
	public = b64(append([]byte("Ed"+id), key.Public().(ed25519.PublicKey)...))
	return public, "untrusted comment: x\n" + b64(append([]byte(algorithm+id), sig...)) + "\ntrusted comment: " + comment + "\n" + b64(global) + "\n"
}

func TestOtherSignatures(t *testing.T) {
	seed := make([]byte, ed25519.SeedSize)
	key := ed25519.NewKeyFromSeed(seed)
	seed[0] = 1
	other := ed25519.NewKeyFromSeed(seed)
	content := []byte("\x00asm and more")
	public, sig := sign(key, "12345678", "ED", content)
	_, forged := sign(other, "12345678", "ED", content) // another key that claims the same id
	k, err := ParseKey(public)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Verify([]Key{k}, content, []byte(sig)); err != nil {
		t.Error(err)
	}
	if _, _, err := Verify([]Key{k}, content, []byte(strings.ReplaceAll(sig, "\n", "\r\n"))); err != nil {
		t.Errorf("with CRLF: %v", err)
	}
	lines := strings.Split(sig, "\n")
	for name, bad := range map[string]string{
		"forged": forged, "empty": "", "three lines": strings.Join(lines[:3], "\n"), "five lines": sig + "x\n",
		"no base64": strings.Replace(sig, lines[1], "!", 1), "short": strings.Replace(sig, lines[1], "RWQf", 1),
		"another algorithm": strings.Replace(sig, lines[1], base64.StdEncoding.EncodeToString(append([]byte("XX12345678"), make([]byte, 64)...)), 1),
		"no global":         strings.Replace(sig, lines[3], "", 1), "comments swapped": strings.Replace(sig, "untrusted comment: ", "trusted comment: ", 1),
	} {
		if _, _, err := Verify([]Key{k}, content, []byte(bad)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for _, bad := range []string{"", "x", realKey[:20], "RUQf" + realKey[4:], realKey + "\n", "untrusted comment: minisign public key\n" + realKey} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("the key %q was taken", bad)
		}
	}
}
