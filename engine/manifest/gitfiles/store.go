package gitfiles

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The kinds of objects, as packs number them.
const (
	kindCommit   = 1
	kindTree     = 2
	kindBlob     = 3
	kindTag      = 4
	kindOffDelta = 6
	kindRefDelta = 7
)

// Limits that keep a damaged repository cheap.
const (
	maxObject = 16 << 20
	maxDeltas = 60
)

var errMissing = errors.New("the object is not here")

// store reads objects, loose and packed.
type store struct {
	folders []string
	size    int // bytes of a name
	packs   []*pack
	listed  bool
}

// pack is one pack with its index.
type pack struct {
	index, data *os.File
	fanout      [256]uint32
}

// objectFolders gives a repository's object folder and those that it borrows from.
func objectFolders(common string) []string {
	out := []string{filepath.Join(common, "objects")}
	for i := 0; i < len(out) && len(out) < 8; i++ {
		raw, err := os.ReadFile(filepath.Join(out[i], "info/alternates"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(out[i], line)
			}
			out = append(out, line)
		}
	}
	return out
}

func (s *store) close() {
	for _, p := range s.packs {
		p.index.Close()
		p.data.Close()
	}
	s.packs = nil
}

// object reads one object whole.
func (s *store) object(id ID) (kind int, raw []byte, err error) {
	if !isID(string(id)) {
		return 0, nil, fmt.Errorf("%q is no object's name", id)
	}
	for _, dir := range s.folders {
		kind, raw, err := loose(filepath.Join(dir, string(id[:2]), string(id[2:])))
		if !errors.Is(err, fs.ErrNotExist) {
			return kind, raw, err
		}
	}
	return s.packed(id, 0)
}

// loose reads an object that has a file of its own.
func loose(name string) (kind int, raw []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err != nil {
		return 0, nil, err
	}
	all, err := io.ReadAll(io.LimitReader(z, maxObject))
	if err != nil {
		return 0, nil, err
	}
	head, body, ok := bytes.Cut(all, []byte{0})
	word, size, _ := strings.Cut(string(head), " ")
	if n, err := strconv.Atoi(size); !ok || err != nil || n != len(body) {
		return 0, nil, fmt.Errorf("%s is damaged", name)
	}
	kinds := map[string]int{"commit": kindCommit, "tree": kindTree, "blob": kindBlob, "tag": kindTag}
	return kinds[word], body, nil
}

// packed finds an object in the packs.
func (s *store) packed(id ID, deltas int) (kind int, raw []byte, err error) {
	if !s.listed {
		s.listed = true
		for _, dir := range s.folders {
			names, _ := filepath.Glob(filepath.Join(dir, "pack/pack-*.idx")) // an unreadable folder has no packs
			for _, name := range names {
				if p, err := openPack(name); err == nil {
					s.packs = append(s.packs, p)
				}
			}
		}
	}
	want, err := hex.DecodeString(string(id))
	if err != nil {
		return 0, nil, err
	}
	for _, p := range s.packs {
		if off, err := p.find(want); err == nil {
			return s.at(p, off, deltas)
		}
	}
	return 0, nil, fmt.Errorf("%s: %w", id, errMissing)
}

// openPack opens a pack by its index, version 2.
func openPack(index string) (*pack, error) {
	p := &pack{}
	var err error
	if p.index, err = os.Open(index); err != nil {
		return nil, err
	}
	head := make([]byte, 8+4*256)
	if _, err = io.ReadFull(p.index, head); err == nil && !bytes.Equal(head[:8], []byte("\xfftOc\x00\x00\x00\x02")) {
		err = errors.New("no index of version 2")
	}
	if err == nil {
		p.data, err = os.Open(strings.TrimSuffix(index, ".idx") + ".pack")
	}
	if err != nil {
		p.index.Close()
		return nil, err
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[8+4*i:])
	}
	return p, nil
}

// find gives the offset of an object in the pack, by bisecting the index.
func (p *pack) find(want []byte) (int64, error) {
	n := int64(len(want))
	low, high := int64(0), int64(p.fanout[want[0]])
	if want[0] > 0 {
		low = int64(p.fanout[want[0]-1])
	}
	const names = 8 + 4*256
	total := int64(p.fanout[255])
	name := make([]byte, n)
	for low < high {
		mid := (low + high) / 2
		if _, err := p.index.ReadAt(name, names+mid*n); err != nil {
			return 0, err
		}
		switch c := bytes.Compare(name, want); {
		case c < 0:
			low = mid + 1
		case c > 0:
			high = mid
		default:
			var word [8]byte
			if _, err := p.index.ReadAt(word[:4], names+total*(n+4)+mid*4); err != nil {
				return 0, err
			}
			off := binary.BigEndian.Uint32(word[:4])
			if off&(1<<31) == 0 {
				return int64(off), nil
			}
			if _, err := p.index.ReadAt(word[:], names+total*(n+8)+int64(off&^(1<<31))*8); err != nil {
				return 0, err
			}
			return int64(binary.BigEndian.Uint64(word[:]) &^ (1 << 63)), nil
		}
	}
	return 0, errMissing
}

// at reads the object at an offset and applies the deltas it is made of.
func (s *store) at(p *pack, off int64, deltas int) (kind int, raw []byte, err error) {
	if deltas > maxDeltas {
		return 0, nil, errors.New("a chain of deltas that is too long")
	}
	head := make([]byte, 64)
	n, err := p.data.ReadAt(head, off)
	if err != nil && err != io.EOF {
		return 0, nil, err
	}
	r := &reader{b: head[:n]}
	c := r.byte()
	kind = int(c>>4) & 7
	size := int64(c & 15)
	for shift := uint(4); c&0x80 != 0 && shift < 60; shift += 7 {
		c = r.byte()
		size |= int64(c&0x7f) << shift
	}
	base := func() (int, []byte, error) { return 0, nil, nil }
	switch kind {
	case kindOffDelta:
		c = r.byte()
		back := int64(c & 0x7f)
		for c&0x80 != 0 && back < 1<<55 {
			c = r.byte()
			back = (back+1)<<7 | int64(c&0x7f)
		}
		if back <= 0 || back > off {
			return 0, nil, errors.New("a damaged delta")
		}
		base = func() (int, []byte, error) { return s.at(p, off-back, deltas+1) }
	case kindRefDelta:
		id := ID(hex.EncodeToString(r.take(s.size)))
		base = func() (int, []byte, error) { return s.packed(id, deltas+1) }
	}
	if r.failed || size > maxObject {
		return 0, nil, errors.New("a damaged pack")
	}
	z, err := zlib.NewReader(io.NewSectionReader(p.data, off+int64(r.at), 1<<40))
	if err != nil {
		return 0, nil, err
	}
	raw = make([]byte, size)
	if _, err := io.ReadFull(z, raw); err != nil {
		return 0, nil, err
	}
	if kind != kindOffDelta && kind != kindRefDelta {
		return kind, raw, nil
	}
	kind, from, err := base()
	if err != nil {
		return 0, nil, err
	}
	raw, err = applyDelta(from, raw)
	return kind, raw, err
}

// applyDelta makes an object of a base and the instructions to copy from it and to insert.
func applyDelta(from, delta []byte) ([]byte, error) {
	r := &reader{b: delta}
	if r.varint() != int64(len(from)) {
		return nil, errors.New("a delta for another base")
	}
	size := r.varint()
	if r.failed || size > maxObject {
		return nil, errors.New("a damaged delta")
	}
	out := make([]byte, 0, size)
	for r.at < len(r.b) && !r.failed {
		op := r.byte()
		if op&0x80 == 0 {
			if op == 0 {
				return nil, errors.New("a damaged delta")
			}
			out = append(out, r.take(int(op))...)
			continue
		}
		var off, n int64
		for i := range 4 {
			if op&(1<<i) != 0 {
				off |= int64(r.byte()) << (8 * i)
			}
		}
		for i := range 3 {
			if op&(0x10<<i) != 0 {
				n |= int64(r.byte()) << (8 * i)
			}
		}
		if n == 0 {
			n = 0x10000
		}
		if off+n > int64(len(from)) || int64(len(out))+n > size {
			return nil, errors.New("a damaged delta")
		}
		out = append(out, from[off:off+n]...)
	}
	if r.failed || int64(len(out)) != size {
		return nil, errors.New("a damaged delta")
	}
	return out, nil
}

// parseTree gives the names in a tree.
func (s *store) parseTree(raw []byte) (map[string]entry, error) {
	t := map[string]entry{}
	for len(raw) > 0 {
		mode, rest, ok := bytes.Cut(raw, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < s.size {
			return nil, errors.New("a damaged tree")
		}
		t[string(name)] = entry{id: ID(hex.EncodeToString(rest[:s.size])), dir: string(mode) == "40000"}
		raw = rest[s.size:]
	}
	return t, nil
}

// reader reads bytes and remembers when there were none left.
type reader struct {
	b      []byte
	at     int
	failed bool
}

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.failed = true
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) take(n int) []byte {
	if r.at+n > len(r.b) {
		r.failed = true
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) varint() int64 {
	var v int64
	for shift := uint(0); shift < 60; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			return v
		}
	}
	r.failed = true
	return 0
}
