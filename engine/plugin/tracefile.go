package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
)

// A trace file holds the traces of one request: a line that names the format, the sha256 of all that follows, the key,
// and the traces, with lengths before everything. Anything that is not exactly so is as good as no file.
const traceMagic = "gyrum trace 1\n"

// Bounds of a trace file.
const (
	maxTraces     = 4
	maxTraceBytes = 8 << 20
)

var errTrace = errors.New("it is no intact trace")

// encodeTraces leaves out the last traces when the file would become too large; a trace that is too large by itself
// gives nil.
func encodeTraces(key traceKey, traces []*trace) []byte {
	var body []byte
	n := 0
	for _, t := range traces[:min(len(traces), maxTraces)] {
		one := encodeTrace(t)
		if len(body)+len(one) > maxTraceBytes {
			break
		}
		body = append(body, one...)
		n++
	}
	if n == 0 {
		return nil
	}
	return sealTrace(key, append(binary.AppendUvarint(nil, uint64(n)), body...))
}

// sealTrace puts the format, the checksum and the key before the traces.
func sealTrace(key traceKey, traces []byte) []byte {
	body := append(key[:len(key):len(key)], traces...)
	sum := sha256.Sum256(body)
	return append(append([]byte(traceMagic), sum[:]...), body...)
}

func encodeTrace(t *trace) []byte {
	b := binary.AppendUvarint(nil, uint64(len(t.calls)))
	for _, c := range t.calls {
		b = appendBytes(b, []byte(c.capability))
		b = appendBytes(b, c.request)
		b = append(b, c.reply[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(t.results)))
	for _, r := range t.results {
		b = appendBytes(b, r)
	}
	return b
}

func appendBytes(b, field []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(field))), field...)
}

// decodeTraces reads a file whose key must be this one. What it gives points into raw.
func decodeTraces(key traceKey, raw []byte) ([]*trace, error) {
	rest, ok := bytes.CutPrefix(raw, []byte(traceMagic))
	if !ok || len(rest) < sha256.Size+len(key) {
		return nil, errTrace
	}
	body := rest[sha256.Size:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], rest[:sha256.Size]) || !bytes.Equal(body[:len(key)], key[:]) {
		return nil, errTrace
	}
	d := decoder{in: body[len(key):]}
	var traces []*trace
	for range d.count(1) {
		t := &trace{}
		for range d.count(2 + sha256.Size) {
			c := tracedCall{capability: string(d.bytes()), request: d.bytes()}
			copy(c.reply[:], d.take(sha256.Size))
			t.calls = append(t.calls, c)
		}
		for range d.count(1) {
			t.results = append(t.results, json.RawMessage(d.bytes()))
		}
		traces = append(traces, t)
	}
	if d.bad || len(d.in) > 0 {
		return nil, errTrace
	}
	return traces, nil
}

// decoder reads fields with lengths before them; after the first fault it yields nothing.
type decoder struct {
	in  []byte
	bad bool
}

// count reads how many entries follow, each of at least so many bytes.
func (d *decoder) count(least int) int {
	n, size := binary.Uvarint(d.in)
	if size <= 0 || n > uint64(len(d.in)/least) {
		d.in, d.bad = nil, true
		return 0
	}
	d.in = d.in[size:]
	return int(n)
}

func (d *decoder) bytes() []byte { return d.take(d.count(1)) }

func (d *decoder) take(n int) []byte {
	if n > len(d.in) {
		d.in, d.bad = nil, true
		return nil
	}
	out := d.in[:n:n]
	d.in = d.in[n:]
	return out
}
