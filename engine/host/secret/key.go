package secret

import (
	"crypto/rand"
	"path"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
)

// keyFile is where the key lies in the state folder.
const keyFile = "digest.key"

// LoadKey reads the key of a state folder. There is none before the first apply, and for those who may not read it.
func LoadKey(tree files.Tree, stateDir string) (Key, bool, error) {
	p := path.Join(stateDir, keyFile)
	s, err := tree.Stat(p)
	if err != nil {
		if fault.Of(err).Code == fault.PermissionDenied {
			return Key{}, false, nil
		}
		return Key{}, false, err
	}
	if !s.Exists {
		return Key{}, false, nil
	}
	if s.Kind != fsys.KindFile || s.UID != 0 && s.UID != tree.Self || s.Mode&0o077 != 0 {
		return Key{}, false, fault.New(fault.UnsafePath, "%s is a %s of user %d with mode %04o: it must be a file that its owner alone can read", p, s.Kind, s.UID, s.Mode)
	}
	raw, err := tree.Read(p, keySize)
	switch {
	case err != nil && fault.Of(err).Code == fault.PermissionDenied:
		return Key{}, false, nil
	case err != nil:
		return Key{}, false, err
	case len(raw) != keySize:
		return Key{}, false, fault.New(fault.Invalid, "%s is damaged: it has %d bytes instead of %d; remove it, and the next apply makes a new one", p, len(raw), keySize)
	}
	return Key{NewValue(raw)}, true, nil
}

// EnsureKey is LoadKey for an apply, which makes the key when there is none.
func EnsureKey(tree files.WriteTree, stateDir string) (Key, error) {
	key, ok, err := LoadKey(tree.Tree, stateDir)
	if err != nil || ok {
		return key, err
	}
	raw := make([]byte, keySize)
	rand.Read(raw) // never fails (crypto/rand)
	if err := tree.MakeOwn(stateDir); err != nil {
		return Key{}, err
	}
	owner, err := tree.Stat(stateDir)
	if err != nil {
		return Key{}, err
	}
	if err := tree.Replace(path.Join(stateDir, keyFile), raw, files.Owner{Mode: 0o600, UID: tree.Self, GID: owner.GID}); err != nil {
		return Key{}, err
	}
	return Key{NewValue(raw)}, nil
}
