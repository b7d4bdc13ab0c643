package tape

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Bounds of what Read takes.
const (
	maxSize = 512 << 20 // of the text
	maxLine = 8 << 20
)

// end is the last line.
type end struct {
	Exchanges int    `json:"exchanges"`
	SHA256    string `json:"sha256"`
}

// Write writes a tape: JSON lines, compressed by Zstandard. The first line is the header, then one line an exchange, and
// the last line has their number and the sha256 of all lines before it, so that what is cut off shows.
func (t *Tape) Write(w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	out := &lineWriter{to: z, sum: sha256.New()}
	out.line(t.Header)
	for _, e := range t.Exchanges {
		out.line(e)
	}
	out.line(end{len(t.Exchanges), hex.EncodeToString(out.sum.Sum(nil))})
	if err := z.Close(); out.err == nil {
		out.err = err
	}
	return out.err
}

type lineWriter struct {
	to  io.Writer
	sum hash.Hash
	err error
}

func (w *lineWriter) line(v any) {
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if w.err = enc.Encode(v); w.err == nil {
		w.sum.Write(b.Bytes())
		_, w.err = w.to.Write(b.Bytes())
	}
}

// Read reads a tape that Write wrote. A tape of another format, a damaged or a truncated one is an error.
func Read(r io.Reader) (*Tape, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20), zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	in := bufio.NewScanner(io.LimitReader(z, maxSize))
	in.Buffer(make([]byte, 0, 1<<16), maxLine)
	t, err := readLines(in)
	if err != nil {
		return nil, fmt.Errorf("tape: %w", err)
	}
	return t, nil
}

func readLines(in *bufio.Scanner) (*Tape, error) {
	sum := sha256.New()
	next := func() ([]byte, error) {
		if !in.Scan() {
			if err := in.Err(); err != nil {
				return nil, err
			}
			return nil, errors.New("it ends too early")
		}
		return bytes.Clone(in.Bytes()), nil
	}
	add := func(line []byte) {
		sum.Write(line)
		sum.Write([]byte{'\n'})
	}
	first, err := next()
	if err != nil {
		return nil, err
	}
	t := &Tape{}
	if err := json.Unmarshal(first, &t.Header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if t.Header.Format != Format {
		return nil, fmt.Errorf("its format is %q; this program reads %q", t.Header.Format, Format)
	}
	add(first)
	for {
		line, err := next()
		if err != nil {
			return nil, err
		}
		var e struct {
			Exchange
			Exchanges *int   `json:"exchanges"`
			SHA256    string `json:"sha256"`
		}
		if err := strict(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(t.Exchanges)+2, err)
		}
		if e.Exchanges != nil {
			if *e.Exchanges != len(t.Exchanges) || e.SHA256 != hex.EncodeToString(sum.Sum(nil)) || in.Scan() {
				return nil, errors.New("it is damaged: its last line does not fit")
			}
			return t, in.Err()
		}
		if e.Capability == "" || len(e.Request) == 0 || len(e.Reply) == 0 {
			return nil, fmt.Errorf("line %d is no exchange", len(t.Exchanges)+2)
		}
		add(line)
		t.Exchanges = append(t.Exchanges, e.Exchange)
	}
}

func strict(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
