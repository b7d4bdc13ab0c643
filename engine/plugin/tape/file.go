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
	"regexp"

	"github.com/klauspost/compress/zstd"

	"gyrum.ai/engine/canonical"
)

// Bounds of what Read takes and Write makes.
const (
	maxSize   = 64 << 20 // of the file, and of its text
	maxLine   = 8 << 20
	maxWindow = 8 << 20 // of the compression
)

// zstdMagic begins a Zstandard frame (RFC 8878, section 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// end is the last line.
type end struct {
	Exchanges int    `json:"exchanges"`
	SHA256    string `json:"sha256"`
}

// Write writes a tape: JSON lines, compressed by Zstandard. The first line is the header, then one line an exchange, and
// the last line has their number and the sha256 of all lines before it, so that what is cut off shows.
func (t *Tape) Write(w io.Writer) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow))
	if err != nil {
		return err
	}
	out := &lineWriter{to: z, sum: sha256.New()}
	t.lines(out)
	out.line(end{len(t.Exchanges), hex.EncodeToString(out.sum.Sum(nil))})
	if err := z.Close(); out.err == nil {
		out.err = err
	}
	return out.err
}

// WriteText writes a tape as plain JSON lines without the last one: a form that people read, compare and edit, and that
// Read takes as well.
func (t *Tape) WriteText(w io.Writer) error {
	out := &lineWriter{to: w, sum: sha256.New()}
	t.lines(out)
	return out.err
}

func (t *Tape) lines(out *lineWriter) {
	out.line(t.Header)
	for _, e := range t.Exchanges {
		out.line(e)
	}
}

type lineWriter struct {
	to   io.Writer
	sum  hash.Hash
	size int
	err  error
}

func (w *lineWriter) line(v any) {
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if w.err = enc.Encode(v); w.err != nil {
		return
	}
	if w.size += b.Len(); b.Len() > maxLine || w.size > maxSize {
		w.err = fmt.Errorf("tape: it would have more than %d bytes", maxSize)
		return
	}
	w.sum.Write(b.Bytes())
	_, w.err = w.to.Write(b.Bytes())
}

// Read reads a tape that Write or WriteText wrote, or that somebody edited. A tape of another format, and a compressed one
// that is damaged or truncated, is an error. Whatever the bytes are, it ends, in memory that the bounds above limit.
func Read(r io.Reader) (*Tape, error) {
	in := bufio.NewReader(io.LimitReader(r, maxSize))
	magic, _ := in.Peek(len(zstdMagic))
	switch {
	case len(magic) == 0:
		return nil, errors.New("tape: the file is empty")
	case string(magic) != zstdMagic:
		return finish(readLines(in, false))
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return nil, fmt.Errorf("tape: %w", err)
	}
	defer z.Close()
	return finish(readLines(io.LimitReader(z, maxSize), true))
}

func finish(t *Tape, err error) (*Tape, error) {
	if err != nil {
		return nil, fmt.Errorf("tape: %w", err)
	}
	if t.Header.Host != "" && !label.MatchString(t.Header.Host) {
		return nil, fmt.Errorf("tape: its host is named %q, and a host's name is a DNS label", t.Header.Host)
	}
	return t, nil
}

// label is a DNS label (RFC 1123), which is what a catalog's hosts are named by.
var label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// readLines reads the text. A sealed one must end with its last line; in the other, which people edit, it may be missing.
func readLines(r io.Reader, sealed bool) (*Tape, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), maxLine)
	sum := sha256.New()
	add := func(line []byte) {
		sum.Write(line)
		sum.Write([]byte{'\n'})
	}
	t := &Tape{}
	for n := 1; in.Scan(); n++ {
		line := in.Bytes()
		if !sealed && len(bytes.TrimSpace(line)) == 0 && n > 1 {
			continue
		}
		// Other readers of JSON could understand a line otherwise that is not strict; requests are compared byte for byte.
		plain, err := canonical.Transform(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if n == 1 {
			if err := t.readHeader(plain); err != nil {
				return nil, err
			}
			add(line)
			continue
		}
		last, err := t.readLine(plain)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if last != nil {
			if last.Exchanges != len(t.Exchanges) || last.SHA256 != hex.EncodeToString(sum.Sum(nil)) || in.Scan() {
				return nil, errors.New("it is damaged: its last line does not fit the others; delete that line of a tape that was edited")
			}
			return t, in.Err()
		}
		add(line)
	}
	switch err := in.Err(); {
	case err != nil:
		return nil, err
	case t.Header.Format == "":
		return nil, errors.New("it ends before its first line")
	case sealed:
		return nil, errors.New("it ends too early")
	}
	return t, nil
}

func (t *Tape) readHeader(line []byte) error {
	var format struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(line, &format); err != nil || format.Format == "" {
		return errors.New("it is no tape: its first line is no header")
	}
	if format.Format != Format {
		return fmt.Errorf("its format is %.40q; this program reads %q", format.Format, Format)
	}
	if err := strict(line, &t.Header); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	return nil
}

// readLine takes an exchange, or gives the last line.
func (t *Tape) readLine(line []byte) (*end, error) {
	var e struct {
		Exchange
		Exchanges *int   `json:"exchanges"`
		SHA256    string `json:"sha256"`
	}
	if err := strict(line, &e); err != nil {
		return nil, err
	}
	if e.Exchanges != nil {
		return &end{*e.Exchanges, e.SHA256}, nil
	}
	if e.Capability == "" || !isObject(e.Request) || !isObject(e.Reply) || e.SHA256 != "" {
		return nil, errors.New("an exchange has a capability, a request and a reply, which are objects")
	}
	t.Exchanges = append(t.Exchanges, e.Exchange)
	return nil, nil
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func strict(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}
