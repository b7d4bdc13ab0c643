// Package needles lists the forms in which a secret could be found where it must not be. It knows nothing of where to look.
package needles

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Needles are byte strings by the name of their form.
type Needles map[string][]byte

// Of gives the value itself, encoded, and digested, with and without the line end that a file of it may have.
func Of(value string) Needles {
	n := Digests(value)
	n["plain"] = []byte(value)
	n["url"] = []byte(url.QueryEscape(value))
	n["hex"] = []byte(hex.EncodeToString([]byte(value)))
	n["HEX"] = bytes.ToUpper(n["hex"])
	// Within a longer text, the encoding of the value depends on where it begins.
	for shift := range 3 {
		text := append(bytes.Repeat([]byte{'x'}, shift), value...)
		text = text[:len(text)/3*3]
		encoded := base64.StdEncoding.EncodeToString(text)
		n[fmt.Sprintf("base64 after %d", shift)] = []byte(encoded[[]int{0, 2, 3}[shift]:])
		n[fmt.Sprintf("base64url after %d", shift)] = []byte(strings.NewReplacer("+", "-", "/", "_").Replace(encoded)[[]int{0, 2, 3}[shift]:])
	}
	return n
}

// Digests gives only the plain digests, for a value that is too short to be looked for itself.
func Digests(value string) Needles {
	n := Needles{}
	for end, text := range map[string]string{"": value, " of a line": value + "\n"} {
		s256, s1, m := sha256.Sum256([]byte(text)), sha1.Sum([]byte(text)), md5.Sum([]byte(text))
		for name, sum := range map[string][]byte{"sha256": s256[:], "sha1": s1[:], "md5": m[:]} {
			n[name+end] = []byte(hex.EncodeToString(sum))
			n[name+end+" in base64"] = []byte(base64.RawStdEncoding.EncodeToString(sum))
			n[name+end+" raw"] = sum
		}
	}
	return n
}

// In lists the forms that a haystack has, sorted.
func (n Needles) In(haystack []byte) []string {
	var found []string
	for _, form := range slices.Sorted(maps.Keys(n)) {
		if bytes.Contains(haystack, n[form]) {
			found = append(found, form)
		}
	}
	return found
}
