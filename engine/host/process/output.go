package process

import (
	"unicode/utf8"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host"
)

// keep is how many bytes of a stream's beginning, and of its end, are recorded.
const keep = 8 << 10

// Output keeps the head and the tail of what is written to it and counts the rest. The zero value is ready. It is an
// io.Writer that never fails, so that a program which prints without end is neither stopped nor stored.
type Output struct {
	head, tail []byte
	total      int64
}

// Write takes all of p.
func (o *Output) Write(p []byte) (int, error) {
	n := len(p)
	o.total += int64(n)
	if room := keep - len(o.head); room > 0 {
		take := min(room, len(p))
		o.head = append(o.head, p[:take]...)
		p = p[take:]
	}
	o.tail = append(o.tail, p...)
	if len(o.tail) > 2*keep {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-keep:]...)
	}
	return n, nil
}

// Record gives the stream as a report has it. A character that the bound cuts through is left out.
func (o *Output) Record() host.CommandOutput {
	tail := o.tail[max(0, len(o.tail)-keep):]
	head := o.head
	if o.total > keep+int64(len(tail)) { // something between head and tail is missing
		head = trimEnd(head)
		for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
			tail = tail[1:]
		}
		return host.CommandOutput{Head: canonical.Text(string(head)), Tail: canonical.Text(string(tail)), Bytes: o.total}
	}
	if !utf8.Valid(head) || !utf8.Valid(tail) { // the seam may cut a character in two
		n := len(trimEnd(head))
		head, tail = head[:n:n], append(append([]byte(nil), head[n:]...), tail...)
	}
	return host.CommandOutput{Head: canonical.Text(string(head)), Tail: canonical.Text(string(tail)), Bytes: o.total}
}

// End gives at most n bytes of the end, for an error text.
func (o *Output) End(n int) string {
	all := append(append([]byte(nil), o.head...), o.tail...)
	if len(all) > n {
		all = all[len(all)-n:]
		for len(all) > 0 && !utf8.RuneStart(all[0]) {
			all = all[1:]
		}
	}
	return canonical.Text(string(all))
}

// trimEnd drops a character that is cut off at the end.
func trimEnd(b []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			return b
		}
	}
	return b
}
