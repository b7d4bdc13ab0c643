package plugin

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// CacheConfig says where compiled modules and traces are kept.
type CacheConfig struct {
	// Dir is the cache folder. It and its parents are verified before anything in it is used; empty means no cache.
	Dir string
}

// cache keeps native code on disk, a folder a module. The zero value keeps nothing.
//
// What it holds is run as it is, so the folder must be out of reach for anybody else (see verifyDir). Against damage
// each entry has a checksum beside it that covers every byte of it; wazero's own covers only the code.
type cache struct {
	dir string // the verified folder, empty without one
	log func(string)
	// cold is held while a module compiles.
	cold sync.Mutex
}

// compiledDir names the format: another layout of ours gets another name. wazero adds its version and architecture.
const compiledDir = "compiled-1"

// unused is how long the code of a module that nothing loads any more is kept.
const unused = 60 * 24 * time.Hour

// openCache verifies the folder and makes it where it is missing. A folder that cannot be used is no error: everything
// works without, only slower, and the log says why.
func openCache(c CacheConfig, log func(string)) *cache {
	k := &cache{log: log}
	if c.Dir == "" {
		return k
	}
	dir, err := filepath.Abs(c.Dir)
	if err == nil {
		err = prepareDir(dir)
	}
	if err != nil {
		log(fmt.Sprintf("working without the cache folder: %v", err))
		return k
	}
	k.dir = dir
	return k
}

// folder gives a folder of ours within the cache, made where it is missing; empty without a cache.
func (k *cache) folder(names ...string) string {
	dir := k.dir
	for _, name := range names {
		if dir == "" {
			return ""
		}
		dir = filepath.Join(dir, name)
		if err := ownDir(dir); err != nil {
			k.log(fmt.Sprintf("working without %s: %v", dir, err))
			return ""
		}
	}
	return dir
}

// native is a module that can be instantiated, in the runtime that holds its code.
type native struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	// disk owns the code when it came from the cache or went there.
	disk wazero.CompilationCache
}

func (n *native) close(ctx context.Context) {
	_ = n.runtime.Close(ctx)
	if n.disk != nil {
		_ = n.disk.Close(ctx)
	}
}

// compile gives a module's native code, from the cache where that can be. The entry is what tells these bytes from all others.
func (k *cache) compile(ctx context.Context, raw []byte, entry string, l Limits) (*native, error) {
	dir := k.folder(compiledDir, entry)
	if dir == "" {
		ctx, done := k.compiling(ctx)
		defer done()
		return compileIn(ctx, nil, raw, l)
	}
	if intact(dir) {
		n, err := compileWith(ctx, dir, raw, l)
		if err == nil {
			k.keep(dir)
			return n, nil
		}
		k.log(fmt.Sprintf("compiling anew: the entry in %s is unusable: %v", dir, err))
	}
	ctx, done := k.compiling(ctx)
	defer done()
	empty(dir)
	if err := writeWhole(filepath.Join(dir, sealName), nil); err != nil {
		k.log(fmt.Sprintf("cannot keep compiled code: %v", err))
		return compileIn(ctx, nil, raw, l)
	}
	n, err := compileWith(ctx, dir, raw, l)
	if err != nil {
		// The code may be fine and the disk full; if it is the module that is wrong, this fails again.
		var again error
		if n, again = compileIn(ctx, nil, raw, l); again != nil {
			return nil, again
		}
		k.log(fmt.Sprintf("cannot keep compiled code in %s: %v", dir, err))
		empty(dir)
		return n, nil
	}
	k.keep(dir)
	return n, nil
}

// compiling makes compilations take turns, each on all processors: side by side they take as long and twice the memory.
// What one has used goes back to the system before the next begins.
func (k *cache) compiling(ctx context.Context) (context.Context, func()) {
	k.cold.Lock()
	return experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), func() {
		debug.FreeOSMemory()
		k.cold.Unlock()
	}
}

// keep seals what a compilation added and notes that the folder is in use.
func (k *cache) keep(dir string) {
	if sealed(dir) {
		touch(dir)
		return
	}
	if err := seal(dir); err != nil {
		k.log(fmt.Sprintf("cannot keep compiled code in %s: %v", dir, err))
	}
	prune(filepath.Dir(dir), unused)
}

func compileWith(ctx context.Context, dir string, raw []byte, l Limits) (*native, error) {
	disk, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, err
	}
	n, err := compileIn(ctx, disk, raw, l)
	if err != nil {
		_ = disk.Close(ctx)
	}
	return n, err
}

func compileIn(ctx context.Context, disk wazero.CompilationCache, raw []byte, l Limits) (*native, error) {
	config := wazero.NewRuntimeConfig().
		WithCloseOnContextDone(true). // the only stop for a loop
		WithMemoryLimitPages(l.Pages).
		WithDebugInfoEnabled(false)
	if disk != nil {
		config = config.WithCompilationCache(disk)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	m, err := r.CompileModule(ctx, raw)
	if err != nil {
		_ = r.Close(ctx)
		return nil, err
	}
	return &native{r, m, disk}, nil
}
