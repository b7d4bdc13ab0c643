package fsys

import "io"

// ReadOnly gives a file system from which the writing half cannot be reached, not even by a type assertion.
func ReadOnly(fs ReadFS) ReadFS { return readOnly{fs} }

type readOnly struct{ fs ReadFS }

func (r readOnly) Root() (ReadDir, error) { return lookOnly(r.fs.Root()) }

// readOnlyDir passes on what looks.
type readOnlyDir struct{ d ReadDir }

func lookOnly(d ReadDir, err error) (ReadDir, error) {
	if err != nil {
		return nil, err
	}
	return readOnlyDir{d}, nil
}

func (r readOnlyDir) Stat() (Info, error)                  { return r.d.Stat() }
func (r readOnlyDir) Lstat(name string) (Info, error)      { return r.d.Lstat(name) }
func (r readOnlyDir) Readlink(name string) (string, error) { return r.d.Readlink(name) }
func (r readOnlyDir) OpenDir(name string) (ReadDir, error) { return lookOnly(r.d.OpenDir(name)) }
func (r readOnlyDir) Names() ([]string, error)             { return r.d.Names() }
func (r readOnlyDir) Empty() (bool, error)                 { return r.d.Empty() }
func (r readOnlyDir) Close() error                         { return r.d.Close() }
func (r readOnlyDir) Open(name string) (io.ReadCloser, error) {
	f, err := r.d.Open(name)
	if err != nil {
		return nil, err
	}
	return struct{ io.ReadCloser }{f}, nil
}
