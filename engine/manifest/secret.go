package manifest

import (
	"strings"
	"sync"
)

// notPrinted stands in messages for what may be a secret.
const notPrinted = "(not printed)"

// shapes are R11's shapes of secrets, those that the value of any variable is refused for.
var shapes = sync.OnceValue(func() []*pattern {
	var out []*pattern
	vars := definitions.typ("env").field("vars").Alts[0]
	for i := range vars.Labels {
		for _, a := range vars.Labels[i].Alts {
			if a.Def != "Value" {
				continue
			}
			for _, p := range a.Reject {
				if !p.match("\x00") { // characters that no variable can hold
					out = append(out, p)
				}
			}
			return out
		}
	}
	return out
})

// secretShaped says whether there is something in a text that has the shape of a secret.
func secretShaped(s string) bool {
	for _, p := range shapes() {
		if p.match(s) {
			return true
		}
	}
	return false
}

// Conceal takes what has the shape of a secret (R11) out of a message. Of a private key, which only its header tells,
// nothing that follows is left.
func Conceal(message string) string {
	for _, p := range shapes() {
		if !p.match(message) {
			continue
		}
		message = p.re.ReplaceAllStringFunc(message, func(found string) string {
			if strings.HasPrefix(found, "-----BEGIN") {
				return notPrinted + "\x00"
			}
			return notPrinted
		})
		message, _, _ = strings.Cut(message, "\x00")
	}
	return message
}
