package plugin

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sealName is the file beside a module's compiled code that lists every entry with its checksum and size. Whatever
// else lies there, or differs by a bit, is not loaded: a wrong offset in native code takes the process down.
const sealName = "seal"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entries lists the compiled files of a module's folder, relative to it and sorted; half-written ones are left out.
func entries(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() || name == sealName || strings.HasSuffix(name, ".tmp") {
			return nil
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file", path)
		}
		if info, err := d.Info(); err != nil {
			return err
		} else if owner(info) != os.Geteuid() {
			return fmt.Errorf("%s belongs to uid %d", path, owner(info)) // left from when the folder was somebody else's
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

// intact says that the folder's seal lists exactly what lies there, and that each file has its checksum.
func intact(dir string) bool {
	want, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	got, err := sum(dir)
	return err == nil && bytes.Equal(want, got)
}

// sealed says that the seal names every entry, whatever their content.
func sealed(dir string) bool {
	content, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil {
		return false
	}
	var listed []string
	for line := range strings.Lines(string(content)) {
		if parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3); len(parts) == 3 {
			listed = append(listed, parts[2])
		}
	}
	names, err := entries(dir)
	return err == nil && slices.Equal(names, listed)
}

// seal writes the checksums of what lies in the folder.
func seal(dir string) error {
	content, err := sum(dir)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, sealName), content)
}

func sum(dir string) ([]byte, error) {
	names, err := entries(dir)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, name := range names {
		crc, size, err := checksum(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%08x %d %s\n", crc, size, name)
	}
	return out.Bytes(), nil
}

func checksum(path string) (crc uint32, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	size, err = io.Copy(h, bufio.NewReaderSize(onlyReader{f}, 1<<18))
	return h.Sum32(), size, err
}

// onlyReader hides the other methods of a file, so that io.Copy uses the reader's large buffer.
type onlyReader struct{ io.Reader }

// writeWhole puts a file in place in one step. It is not synced: what is lost or torn by a power cut fails its checksum
// and is made anew.
func writeWhole(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// empty removes what lies in a folder of ours. Another process that is loading from it has the files open or read.
func empty(dir string) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		_ = os.RemoveAll(filepath.Join(dir, e.Name()))
	}
}

// touch notes that a folder or file is still in use, at most once a day.
func touch(path string) {
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
		now := time.Now()
		_ = os.Chtimes(path, now, now)
	}
}

// prune removes what lies in a folder of ours and was not used for so long.
func prune(dir string, age time.Duration) {
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
