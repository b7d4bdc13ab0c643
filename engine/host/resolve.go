package host

// Resolve gives a path with the symlinks among its parents resolved; the last element stays as it is, and so does what does not
// exist.
func (r *Reader) Resolve(p string) (string, error) { return r.tree.Resolve(p) }
