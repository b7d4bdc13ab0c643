package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/resource"
)

// Where secrets and what opens them lie.
const (
	ExecDir      = "/etc/gyrum/secrets.d"
	IdentityPath = "/etc/gyrum/age.key"
)

// Limits of one secret.
const (
	maxValue    = 1 << 20
	ExecTimeout = 30 * time.Second
)

// Run runs a program without arguments, with a plain environment, and gives what it printed. An error must not hold
// any of it.
type Run func(ctx context.Context, program string, timeout time.Duration, limit int64) ([]byte, error)

// Resolver resolves references. It is safe for concurrent use.
type Resolver struct {
	// Tree is the host's file system.
	Tree files.Tree
	// Owner owns the files of secrets: root.
	Owner uint32
	// Credentials is systemd's $CREDENTIALS_DIRECTORY, empty when there is none.
	Credentials string
	// Catalog reads a file of the catalog, by its path relative to the root.
	Catalog func(name string) ([]byte, error)
	// Run runs the program of an exec secret.
	Run Run

	mu sync.Mutex
	// printed holds what programs printed: one that gives a new token each time must not make one run disagree with itself.
	printed map[string]Value
	// failed holds how programs failed since the last Forget: one that hangs costs its time once, however many want its value.
	failed map[string]error
}

// Forget drops how programs failed, so that the next look runs them again. What they printed stays.
func (r *Resolver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.failed)
}

// Resolve gives the value behind a reference. Its errors name the reference and never hold a value; their code is
// secret-unresolved.
func (r *Resolver) Resolve(ctx context.Context, ref resource.SecretRef) (Value, error) {
	v, err := r.resolve(ctx, ref)
	if err != nil {
		return Value{}, &fault.Error{Code: fault.SecretUnresolved, Text: fmt.Sprintf("secret %s: %v", ref, err)}
	}
	return v, nil
}

func (r *Resolver) resolve(ctx context.Context, ref resource.SecretRef) (Value, error) {
	switch ref.Provider {
	case "file":
		raw, err := r.Tree.ReadPrivate(ref.Name, files.Private{UID: r.Owner, Deny: 0o077, Limit: maxValue})
		return NewValue(raw), err
	case "credential":
		return r.credential(ref.Name)
	case "age":
		return r.age(ref.Name)
	case "exec":
		return r.exec(ctx, ref.Name)
	}
	return Value{}, errors.New("no such provider: use file, credential, age or exec")
}

// plainName refuses what would lead out of a folder.
func plainName(name string) error {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\x00") {
		return errors.New("the name must be a plain file name, without a slash or a leading dot")
	}
	return nil
}

func (r *Resolver) credential(name string) (Value, error) {
	if err := plainName(name); err != nil {
		return Value{}, err
	}
	if r.Credentials == "" {
		return Value{}, errors.New("$CREDENTIALS_DIRECTORY is not set: run gyrum from a unit with LoadCredential=, or use another provider")
	}
	raw, err := r.Tree.Read(path.Join(r.Credentials, name), maxValue)
	return NewValue(raw), err
}

func (r *Resolver) age(name string) (Value, error) {
	key, err := r.Tree.ReadPrivate(IdentityPath, files.Private{UID: r.Owner, Deny: 0o077, Limit: maxValue})
	if err != nil {
		return Value{}, fmt.Errorf("identity: %w", err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(key))
	if err != nil {
		// The parser's own text may quote the line.
		return Value{}, fmt.Errorf("%s holds no identity that age understands: make one with age-keygen", IdentityPath)
	}
	if r.Catalog == nil {
		return Value{}, errors.New("there is no catalog to read it from")
	}
	sealed, err := r.Catalog(name)
	if err != nil {
		return Value{}, err
	}
	var in io.Reader = bytes.NewReader(sealed)
	if bytes.HasPrefix(bytes.TrimSpace(sealed), []byte(armor.Header)) {
		in = armor.NewReader(in)
	}
	open, err := age.Decrypt(in, identities...)
	var raw []byte
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(open, maxValue+1))
	}
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return Value{}, fmt.Errorf("it is not encrypted to the identity in %s", IdentityPath)
	case err != nil:
		return Value{}, fmt.Errorf("it cannot be decrypted: %w", err)
	case len(raw) > maxValue:
		return Value{}, fmt.Errorf("it is larger than %d bytes", maxValue)
	}
	return NewValue(raw), nil
}

func (r *Resolver) exec(ctx context.Context, name string) (Value, error) {
	if err := plainName(name); err != nil {
		return Value{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.printed[name]; ok {
		return v, nil
	}
	if err, ok := r.failed[name]; ok {
		return Value{}, err
	}
	program := path.Join(ExecDir, name)
	if err := r.Tree.CheckPrivate(program, files.Private{UID: r.Owner, Deny: 0o022}); err != nil {
		return Value{}, err
	}
	if r.Run == nil {
		return Value{}, errors.New("programs are not run here")
	}
	raw, err := r.Run(ctx, program, ExecTimeout, maxValue)
	if err != nil {
		if ctx.Err() == nil {
			if r.failed == nil {
				r.failed = map[string]error{}
			}
			r.failed[name] = err
		}
		return Value{}, err
	}
	if r.printed == nil {
		r.printed = map[string]Value{}
	}
	r.printed[name] = NewValue(raw)
	return NewValue(raw), nil
}
