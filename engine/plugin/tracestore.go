package plugin

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// traceStore keeps traces on disk, a file a request, in a folder a type. It is as disposable as all of the cache, and
// protected like it: who could write there could have a drifted resource called in sync.
type traceStore struct {
	cache   *cache
	writing sync.WaitGroup
	mu      sync.Mutex // one writer at a time
}

// tracesDir names the format: another layout gets another name.
const tracesDir = "traces-1"

// Bounds of a type's folder.
const (
	maxTraceFiles  = 128
	maxTraceFolder = 64 << 20
)

// module is the beginning of the names of a module's traces.
func (s *traceStore) module(box *sandbox) string {
	digest, _ := box.identity()
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(16, len(digest))]
}

func (s *traceStore) file(box *sandbox, key traceKey) string {
	dir := s.cache.folder(tracesDir, box.manifest.Type)
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, s.module(box)+"-"+hex.EncodeToString(key[:16]))
}

// any says whether there are traces of a module, so that it may not be needed.
func (s *traceStore) any(box *sandbox) bool {
	dir := s.cache.folder(tracesDir, box.manifest.Type)
	if dir == "" {
		return false
	}
	list, _ := os.ReadDir(dir)
	prefix := s.module(box) + "-"
	return slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), prefix) })
}

// load gives the traces of a request, none when there are none or they are damaged.
func (s *traceStore) load(box *sandbox, key traceKey) []*trace {
	path := s.file(box, key)
	if path == "" {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	traces, err := decodeTraces(key, raw)
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	touch(path)
	return traces
}

// keep writes a new trace of a request before the known ones, in the background.
func (s *traceStore) keep(box *sandbox, key traceKey, fresh *trace, known []*trace) {
	s.writing.Go(func() {
		path := s.file(box, key)
		again := encodeTrace(fresh)
		known = slices.DeleteFunc(slices.Clone(known), func(t *trace) bool { return bytes.Equal(encodeTrace(t), again) })
		content := encodeTraces(key, append([]*trace{fresh}, known...))
		if path == "" || content == nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if err := writeWhole(path, content); err != nil {
			s.cache.log(fmt.Sprintf("cannot keep a trace: %v", err))
			return
		}
		shrink(filepath.Dir(path), maxTraceFiles, maxTraceFolder)
	})
}

// shrink removes the files of a folder that were not used for the longest time, until the rest is within the bounds.
func shrink(dir string, files int, size int64) {
	list, _ := os.ReadDir(dir)
	var infos []os.FileInfo
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range infos {
		if size -= info.Size(); i >= files || size < 0 {
			_ = os.Remove(filepath.Join(dir, info.Name()))
		}
	}
}
