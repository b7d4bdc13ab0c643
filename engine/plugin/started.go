package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Started is what the start of a module leaves in an instance.
type Started struct {
	Memory []byte
	// Globals are the values of the exported globals that were named, in that order, as wazero encodes them.
	Globals []uint64
}

// Start runs a module's _initialize as every instance here begins, with the same environment and random numbers, and gives
// what came of it. It is for builds that ship a module as its start leaves it: each instance then has behind it what Start did,
// and its clock goes on from a later time. Nothing can be asked of a host meanwhile; what tries fails. So does a module with an
// instruction that changes a table: what a start leaves there is not in Started.
func Start(ctx context.Context, raw []byte, globals ...string) (*Started, error) {
	shape, err := parseOutside(raw)
	if err != nil {
		return nil, err
	}
	b := &braker{}
	switch raw, err = b.module(raw, shape); {
	case err != nil:
		return nil, err
	case b.tables:
		return nil, errors.New("it changes a table, which a module that is built started does not have as its start left it")
	}
	limits := DefaultLimits()
	n, err := new(cache).compile(ctx, raw, "", limits)
	if err != nil {
		return nil, err
	}
	defer n.close(ctx)
	if err := populateForStart(ctx, n.runtime, shape.imports); err != nil {
		return nil, err
	}
	c := &call{budget: limits.budget(1), wasi: newWASI(limits), watch: startWatch(ctx, limits.Time)}
	defer c.watch.stop(limits.Time)
	later := c.wasi.now
	c.wasi.now = 0
	inner := context.WithValue(c.watch.inner, callKey{}, c)
	m, err := n.runtime.InstantiateModule(inner, n.module, wazero.NewModuleConfig().WithName("").WithStartFunctions(startExport))
	switch {
	case c.fault != nil:
		return nil, fmt.Errorf("while it starts %w", c.fault)
	case err != nil:
		return nil, fmt.Errorf("while it starts: %s", plainTrap(err))
	case c.wasi.now >= later:
		return nil, fmt.Errorf("while it starts it waits so long that the clock of its instances would go back")
	}
	defer func() { _ = m.Close(ctx) }()
	s := &Started{}
	view, _ := m.Memory().Read(0, m.Memory().Size())
	s.Memory = append(s.Memory, view...)
	for _, name := range globals {
		g := m.ExportedGlobal(name)
		if g == nil {
			return nil, fmt.Errorf("it exports no global %s", name)
		}
		s.Globals = append(s.Globals, g.Get())
	}
	return s, nil
}

// populateForStart makes what the module imports: what it is told about its surroundings, and nothing that answers.
func populateForStart(ctx context.Context, r wazero.Runtime, imports []Import) error {
	spaces := map[string]wazero.HostModuleBuilder{}
	for _, im := range imports {
		b := spaces[im.Module]
		if b == nil {
			b = r.NewHostModuleBuilder(im.Module)
			spaces[im.Module] = b
		}
		params, results := parseSignature(im.Signature)
		b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, a []uint64) {
			c := ctx.Value(callKey{}).(*call)
			if im.Module != moduleWASI || wasiSignatures[im.Name] != im.Signature {
				c.trap(fmt.Errorf("it calls %s.%s, and there is nobody to answer", im.Module, im.Name))
			}
			errno, err := c.wasi.call(im.Name, m.Memory(), a)
			if err != nil {
				c.trap(err)
			}
			if len(a) > 0 {
				a[0] = uint64(errno)
			}
		}), params, results).Export(im.Name)
	}
	for _, b := range spaces {
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}
