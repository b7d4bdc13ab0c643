package journal

import (
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewID makes a run id: a ULID that sorts behind the id named, also when the clock was set back in between, so that the
// order of names is the order of runs. The first run has "" behind it; random is crypto/rand when nil.
func NewID(now time.Time, random io.Reader, after string) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	ms := ulid.Timestamp(now)
	if last, err := ulid.ParseStrict(after); err == nil && last.Time() >= ms {
		ms = last.Time() + 1
	}
	id, err := ulid.New(ms, random)
	if err != nil {
		return "", fmt.Errorf("run id: %w", err)
	}
	return id.String(), nil
}
