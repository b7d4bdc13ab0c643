package lock

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// Key is a minisign public key: an Ed25519 key with eight bytes by which signatures name it.
type Key struct {
	ID     [8]byte
	Public ed25519.PublicKey
}

// String gives the id as minisign prints it.
func (k Key) String() string { return keyID(k.ID) }

func keyID(id [8]byte) string {
	big := make([]byte, 8)
	for i, b := range id {
		big[7-i] = b
	}
	return strings.ToUpper(hex.EncodeToString(big))
}

// ParseKey reads the second line of a minisign.pub.
func ParseKey(text string) (Key, error) {
	var k Key
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") || len(raw) != 42 || string(raw[:2]) != "Ed" {
		return k, fmt.Errorf("%.60q is no minisign public key: give the second line of minisign.pub", text)
	}
	copy(k.ID[:], raw[2:10])
	k.Public = ed25519.PublicKey(raw[10:])
	return k, nil
}

// ErrUnsigned says that no key of the lock has made the signature.
var ErrUnsigned = errors.New("not signed by a key of " + Name)

// Verify checks a detached minisign signature of content against the keys, and gives its trusted comment. It takes both
// forms: Ed signs the content, ED its BLAKE2b-512 digest (minisign's file format).
func Verify(keys []Key, content, signature []byte) (comment string, by Key, err error) {
	lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(signature), "\r\n", "\n"), "\n"), "\n")
	const untrusted, trusted = "untrusted comment: ", "trusted comment: "
	if len(lines) != 4 || !strings.HasPrefix(lines[0], untrusted) || !strings.HasPrefix(lines[2], trusted) {
		return "", by, errors.New("it is no minisign signature: four lines, the first and the third comments")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(lines[1])
	if err != nil || len(raw) != 74 {
		return "", by, errors.New("it is no minisign signature: its second line")
	}
	global, err := base64.StdEncoding.Strict().DecodeString(lines[3])
	if err != nil || len(global) != ed25519.SignatureSize {
		return "", by, errors.New("it is no minisign signature: its fourth line")
	}
	var message []byte
	switch string(raw[:2]) {
	case "Ed":
		message = content
	case "ED":
		sum := blake2b.Sum512(content)
		message = sum[:]
	default:
		return "", by, fmt.Errorf("its algorithm %.2q is neither Ed nor ED", raw[:2])
	}
	comment = strings.TrimPrefix(lines[2], trusted)
	for _, k := range keys {
		if !bytes.Equal(k.ID[:], raw[2:10]) {
			continue
		}
		if !ed25519.Verify(k.Public, message, raw[10:]) {
			return "", k, errors.New("the signature is not that of these bytes")
		}
		if !ed25519.Verify(k.Public, append(bytes.Clone(raw[10:]), comment...), global) {
			return "", k, errors.New("its trusted comment was changed")
		}
		return comment, k, nil
	}
	var id [8]byte
	copy(id[:], raw[2:10])
	return "", by, fmt.Errorf("key %s: %w", keyID(id), ErrUnsigned)
}
