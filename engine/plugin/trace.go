package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"sync"

	"gyrum.ai/engine/canonical"
)

// A trace remembers a decision, never an observation. A guest is deterministic: the same module, request and replies
// give the same answer. So a trace keeps what was asked, the digests of what the host replied, and the answer. When
// the same request comes again, the questions are put to the host again, in the same order, and only when every reply
// is what it was does the answer stand; then no module is loaded at all. A diff asks nothing, so its trace has no
// questions.
type trace struct {
	calls   []tracedCall
	results []json.RawMessage
}

type tracedCall struct {
	capability string
	request    []byte
	reply      [sha256.Size]byte
}

// traceRecorder takes a trace down while a guest runs.
type traceRecorder struct{ trace trace }

func (r *traceRecorder) record(e exchange) {
	r.trace.calls = append(r.trace.calls, tracedCall{e.capability, e.request, sha256.Sum256(e.reply)})
}

// walk puts a trace's questions to the host. There may be several traces of one request, which part at a reply. It
// gives the one that the host agrees with, nil when there is none, and all exchanges that were made.
func walk(ctx context.Context, traces []*trace, d *dialogue) (hit *trace, made []exchange, err error) {
	for i := 0; len(traces) > 0; i++ {
		first := traces[0]
		if i == len(first.calls) {
			return first, made, nil
		}
		if d == nil {
			return nil, nil, nil // questions where there must be none
		}
		c := first.calls[i]
		reply, err := d.put(ctx, c.capability, c.request)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			return nil, made, nil // the guest shall ask for itself and be blamed
		}
		made = append(made, exchange{c.capability, c.request, reply})
		digest := sha256.Sum256(reply)
		var agreeing []*trace
		for _, t := range traces {
			if i < len(t.calls) && t.calls[i].reply == digest && t.calls[i].capability == c.capability && string(t.calls[i].request) == string(c.request) {
				agreeing = append(agreeing, t)
			}
		}
		traces = agreeing
	}
	return nil, made, nil
}

// traceKey is over everything that an answer depends on besides the host's replies.
type traceKey [sha256.Size]byte

// engineBuild changes with whatever of the engine an answer passes through: the revision of this package's rules (the
// WASI stub, the scope check, the reading of answers), which is counted up by hand, and the build.
var engineBuild = sync.OnceValue(func() string {
	const rules = "2"
	var b strings.Builder
	b.WriteString(rules)
	if info, ok := debug.ReadBuildInfo(); ok {
		b.WriteString(" " + info.GoVersion + " " + info.Main.Version)
		for _, s := range info.Settings {
			if strings.HasPrefix(s.Key, "vcs.") {
				b.WriteString(" " + s.Value)
			}
		}
	}
	return b.String()
})

// errUntraceable says that a request has no key.
var errUntraceable = errors.New("the module has no digest")

func (s *sandbox) traceKey(export string, request []byte) (traceKey, error) {
	prefix, err := s.traceBasis()
	if err != nil {
		return traceKey{}, err
	}
	h := sha256.New()
	h.Write(prefix)
	h.Write([]byte(export + "\x00"))
	h.Write(request)
	var k traceKey
	h.Sum(k[:0])
	return k, nil
}

// traceBasis is the digest of what all requests to a module have in common.
func (s *sandbox) traceBasis() ([]byte, error) {
	digest, err := s.identity()
	if err != nil || digest == "" {
		return nil, errUntraceable
	}
	basis, err := canonical.Marshal(struct {
		Boundary, Engine, Module string
		Manifest                 *Manifest
		Limits                   Limits
	}{Boundary, engineBuild(), digest, s.manifest, s.limits})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(basis)
	return sum[:], nil
}
