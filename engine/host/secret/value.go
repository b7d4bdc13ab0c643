// Package secret resolves references to secrets and keeps the values from being printed. A value is held in a type that
// every way of printing redacts; what is stored of it is a keyed digest.
//
// It knows no resources and no plugins.
package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// redacted is what every printed value reads.
const redacted = "[secret]"

// Value is the value of a secret. It does not print, not even from within an unexported field of another type, where
// package fmt calls no method: what it would print there is the address of a function.
type Value struct{ reveal func() []byte }

// NewValue holds the bytes.
func NewValue(raw []byte) Value { return Value{func() []byte { return raw }} }

// Bytes gives the exact bytes, as a file is to hold them; none for the zero value.
func (v Value) Bytes() []byte {
	if v.reveal == nil {
		return nil
	}
	return v.reveal()
}

// Variable gives the value as a variable is to hold it: without the one line end that editors and echo leave.
func (v Value) Variable() string {
	s := strings.TrimSuffix(string(v.Bytes()), "\n")
	return strings.TrimSuffix(s, "\r")
}

// Equal compares in a time that does not depend on where the difference is.
func (v Value) Equal(other []byte) bool { return subtle.ConstantTimeCompare(v.Bytes(), other) == 1 }

// String redacts.
func (Value) String() string { return redacted }

// GoString redacts.
func (Value) GoString() string { return redacted }

// Format redacts, whatever the verb.
func (Value) Format(s fmt.State, _ rune) { fmt.Fprint(s, redacted) }

// MarshalJSON redacts.
func (Value) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText redacts.
func (Value) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// keySize is the size of a key in bytes.
const keySize = 32

// Key keys the digests of what holds a secret, so that a short one cannot be guessed from its digest. It does not print.
type Key struct{ raw Value }

// NewHash begins a keyed digest.
func (k Key) NewHash() hash.Hash { return hmac.New(sha256.New, k.raw.Bytes()) }

// Digest gives the keyed digest of bytes.
func (k Key) Digest(raw []byte) string {
	h := k.NewHash()
	h.Write(raw)
	return Sum(h)
}

// Sum gives the digest that a hash of NewHash has come to, as it is stored.
func Sum(h hash.Hash) string { return "hmac-sha256:" + hex.EncodeToString(h.Sum(nil)) }
