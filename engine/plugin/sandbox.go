package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"gyrum.ai/engine/host"
)

// sandbox is one module of one plugin with a runtime of its own, in which nothing exists but the boundary and the
// capabilities that the manifest grants. It is loaded once, when it is first needed, and makes one instance a call.
type sandbox struct {
	manifest *Manifest
	phase    Phase
	modules  fs.FS
	cache    *cache
	memories *memories
	limits   Limits
	// own says that the module is the program's own: it is compiled as it is.
	own bool

	hash   sync.Once
	digest string
	hashed error

	load   sync.Once
	native *native
	failed error
	// loaded says that the native code is there; it may be asked while the module loads.
	loaded atomic.Bool
}

func (s *sandbox) file() string { return s.manifest.Type + "." + string(s.phase) + ".wasm" }

// identity gives the module's digest: what the manifest says, which loading verifies, or else what the bytes say.
func (s *sandbox) identity() (string, error) {
	s.hash.Do(func() {
		if s.digest = s.manifest.Digests[s.phase]; s.digest != "" {
			return
		}
		var raw []byte
		if raw, s.hashed = fs.ReadFile(s.modules, s.file()); s.hashed == nil {
			s.digest = digestOf(raw)
		}
	})
	return s.digest, s.hashed
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// broken makes the error for a fault of this module.
func (s *sandbox) broken(cause string, log []byte) *Broken {
	digest, _ := s.identity()
	return &Broken{Type: s.manifest.Type, Phase: s.phase, Digest: digest, Cause: cause, Log: strings.ToValidUTF8(string(log), "?")}
}

// ready loads the module unless that was done; every caller gets the same outcome.
func (s *sandbox) ready() error {
	s.load.Do(func() {
		if err := s.open(); err != nil {
			s.failed = s.broken(CauseUnloadable+": "+err.Error(), nil)
		}
	})
	return s.failed
}

func (s *sandbox) open() error {
	raw, err := fs.ReadFile(s.modules, s.file())
	if err != nil {
		return err
	}
	digest := digestOf(raw)
	shape, err := s.judge(raw, digest)
	if err != nil {
		return err
	}
	entry := strings.TrimPrefix(digest, "sha256:")
	if !s.own {
		if raw, err = withBrakes(raw, shape); err != nil {
			return err
		}
		entry += "-" + braking
	}
	// Loading serves the whole process, so it does not end with the caller that happened to come first.
	ctx := context.Background()
	n, err := s.cache.compile(ctx, raw, entry, s.limits)
	if err != nil {
		return err
	}
	if err := s.populate(ctx, n.runtime); err != nil {
		n.close(ctx)
		return err
	}
	s.native = n
	s.loaded.Store(true)
	return nil
}

// judge holds a module's bytes against the manifest before anything compiles them. The outside comes back, when it can
// be read, whatever the verdict.
func (s *sandbox) judge(raw []byte, digest string) (*outside, error) {
	shape, err := parseOutside(raw)
	if err != nil {
		return nil, err
	}
	want, err := s.identity()
	if err != nil {
		return shape, err
	}
	if digest != want {
		return shape, fmt.Errorf("its digest is %s and not %s as the manifest says; build the modules anew", digest, want)
	}
	return shape, checkOutside(shape, s.manifest, s.phase)
}

// close frees the native code.
func (s *sandbox) close(ctx context.Context) {
	if s.native != nil {
		s.native.close(ctx)
	}
}

// populate makes what the module may import, and nothing else.
func (s *sandbox) populate(ctx context.Context, r wazero.Runtime) error {
	define := func(b wazero.HostModuleBuilder, name, signature string, f func(ctx context.Context, c *call, m api.Module, stack []uint64)) {
		params, results := parseSignature(signature)
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			c := ctx.Value(callKey{}).(*call)
			if err := ctx.Err(); err != nil {
				c.trap(err) // what only calls does not come by where the runtime looks
			}
			f(ctx, c, m, stack)
		}), params, results).Export(name)
	}
	calls := r.NewHostModuleBuilder(moduleCall)
	define(calls, "input", callSignatures["input"], func(_ context.Context, c *call, m api.Module, a []uint64) { c.input(m, uint32(a[0])) })
	define(calls, "output", callSignatures["output"], func(_ context.Context, c *call, m api.Module, a []uint64) { c.output(m, uint32(a[0]), uint32(a[1])) })
	define(calls, "take", callSignatures["take"], func(_ context.Context, c *call, m api.Module, a []uint64) { c.take(m, uint32(a[0])) })

	stub := r.NewHostModuleBuilder(moduleWASI)
	for name, signature := range wasiSignatures {
		define(stub, name, signature, func(_ context.Context, c *call, m api.Module, a []uint64) {
			errno, err := c.wasi.call(name, m.Memory(), a)
			if err != nil {
				c.trap(err)
			}
			if len(a) > 0 {
				a[0] = uint64(errno)
			}
		})
	}
	builders := []wazero.HostModuleBuilder{calls, stub}
	for _, side := range []host.Side{host.Read, host.Write} {
		if side == host.Write && s.phase == ObservePhase {
			continue // no module gyrum:write exists where a plugin only observes
		}
		b := r.NewHostModuleBuilder("gyrum:" + string(side))
		for name := range s.manifest.grants(s.phase) {
			if capabilities[name].Side != side {
				continue
			}
			define(b, name, capabilitySignature, func(ctx context.Context, c *call, m api.Module, a []uint64) {
				a[0] = uint64(c.ask(ctx, m, name, uint32(a[0]), uint32(a[1])))
			})
		}
		builders = append(builders, b)
	}
	for _, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// parseSignature turns "(i32, i64) -> i32" into wazero's types.
func parseSignature(s string) (params, results []api.ValueType) {
	list := func(s string) (out []api.ValueType) {
		for _, name := range valuesOf(s) {
			t := api.ValueTypeI32
			if name == "i64" {
				t = api.ValueTypeI64
			}
			out = append(out, t)
		}
		return out
	}
	in, out, _ := strings.Cut(s, "->")
	return list(in), list(out)
}

// valuesOf splits "(i32, i64)" into its names.
func valuesOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("(), ", r) })
}

// run makes one instance, gives it one request and takes its answer. The status is 0 or 1; any other outcome is an
// error: *Broken, or the context's. The time that the guest used comes back in any case.
func (s *sandbox) run(ctx context.Context, export string, request []byte, talk *dialogue, b *budget, limit time.Duration) (status uint32, answer []byte, used time.Duration, err error) {
	if err := s.ready(); err != nil {
		return 0, nil, 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, nil, 0, err
	}
	c := &call{request: request, talk: talk, budget: b, wasi: newWASI(s.limits), watch: startWatch(ctx, limit)}
	status, err = s.drive(context.WithValue(c.watch.inner, callKey{}, c), export, uint64(len(request)))
	used = c.watch.stop(limit)
	switch {
	case ctx.Err() != nil:
		return 0, nil, used, ctx.Err()
	case c.watch.spent.Load():
		return 0, nil, used, s.broken(fmt.Sprintf("%s its %v", CauseTime, limit), c.wasi.log.text)
	case c.fault != nil:
		return 0, nil, used, s.broken(c.fault.Error(), c.wasi.log.text)
	case err != nil:
		return 0, nil, used, s.broken(plainTrap(err), c.wasi.log.text)
	case status > 1:
		return 0, nil, used, s.broken(fmt.Sprintf("%s returned the status %d; there are 0 and 1", export, status), c.wasi.log.text)
	case !c.answered:
		return 0, nil, used, s.broken(export+" returned without an answer", c.wasi.log.text)
	}
	return status, c.answer, used, nil
}

type inspectKey struct{}

// Inspect has see look at the whole memory of each instance that is run under the context, when it ends however it ends, for
// tests of what a plugin must never have held. The bytes are valid during the call only; several instances may end at once.
func Inspect(ctx context.Context, see func(memory []byte)) context.Context {
	return context.WithValue(ctx, inspectKey{}, see)
}

// drive starts an instance and calls one of its functions. The instance is used for nothing else.
func (s *sandbox) drive(ctx context.Context, export string, arg uint64) (status uint32, err error) {
	lent := &lease{from: s.memories}
	defer lent.end(ctx)
	ctx = experimental.WithMemoryAllocator(ctx, lent)
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions(startExport)
	m, err := s.native.runtime.InstantiateModule(ctx, s.native.module, config)
	if err != nil {
		return 0, err
	}
	defer m.Close(context.WithoutCancel(ctx))
	if r, err := m.ExportedFunction("gyrum_abi").Call(ctx); err != nil {
		return 0, err
	} else if uint32(r[0]) != ABI {
		return 0, fmt.Errorf("it speaks version %d of the boundary; this gyrum speaks %d", uint32(r[0]), ABI)
	}
	r, err := m.ExportedFunction(export).Call(ctx, arg)
	if err != nil {
		return 0, err
	}
	return uint32(r[0]), nil
}

// plainTrap says in a line what stopped a guest.
func plainTrap(err error) string {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf("it was closed with exit code %d", exit.ExitCode())
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return "it trapped: " + text
}
