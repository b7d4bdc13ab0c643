package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gyrum.ai/engine"
	"gyrum.ai/engine/lock"
	"gyrum.ai/engine/manifest"
	"gyrum.ai/engine/own"
	"gyrum.ai/engine/plugin"
)

func newLockCmd(p *program) *cobra.Command {
	var check, add bool
	var keys []string
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Write gyrum.lock: which plugins the catalog accepts, and what they may do",
		Long: `lock writes down in the catalog, for each resource type, the digests of both modules
and the capabilities of each phase. From then on check and apply refuse a plugin
that is another, or that wants a capability more, and say which. Without a
gyrum.lock gyrum's own plugins are accepted, and no others.

The catalog's own types, in plugins/x_<type>/, are used only when they are in it. lock
reads their modules, and refuses one that is not as plugin.json says.

Each change is named. Look at it before you commit the file:
"gyrum plugin inspect TYPE" shows what a plugin can reach.

Exit codes: 0 written or up to date, 1 --check found it out of date.`,
		Example: `  gyrum lock
  gyrum lock --add          # while hosts still run the version before
  gyrum lock --check        # in CI`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return p.lock(check, add, keys) },
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "write nothing, and fail when something would change")
	f.BoolVar(&add, "add", false, "keep accepting what was accepted before")
	f.StringArrayVar(&keys, "key", nil, "require that the catalog's own modules are signed by this minisign public `KEY` (may be given again)")
	return cmd
}

func (p *program) lock(check, add bool, keys []string) error {
	catalog, err := manifest.Open(p.flags.catalog) // a folder that is none gets no lock
	if err != nil {
		return err
	}
	defer catalog.Close()
	store, types, err := p.plugins()
	if err != nil {
		return err
	}
	defer store.Close()
	if types == nil {
		return fmt.Errorf("the catalog %s cannot be opened; name one with --catalog", p.flags.catalog)
	}
	defer types.Close()
	if types.LockError != nil && (check || add) {
		return fmt.Errorf("%s cannot be read: %w", lock.Name, types.LockError)
	}
	if len(store.Types()) == 0 {
		return plugin.ErrNoPlugin
	}
	if err := unchanged(types); err != nil {
		return err
	}
	now := lock.Make(store.Types(), types.Lock, add || check)
	if check && types.Lock != nil {
		// What is accepted besides is no matter, but each plugin of today has to be.
		now = lock.Make(nil, types.Lock, true)
		for _, info := range store.Types() {
			if len(types.Lock.Judge(info)) > 0 {
				now = lock.Make(store.Types(), types.Lock, false)
			}
		}
	}
	for _, k := range keys {
		if _, err := lock.ParseKey(k); err != nil {
			return usage("--key: %w", err)
		}
		if !slices.Contains(now.Keys, k) {
			now.Keys = append(now.Keys, k)
		}
	}
	changes := lock.Changes(types.Lock, now)
	for _, line := range changes {
		fmt.Fprintln(p.out, line)
	}
	text := now.Format()
	file := filepath.Join(p.flags.catalog, lock.Name)
	var have []byte
	info, err := os.Stat(file)
	if err == nil && info.Mode().IsRegular() { // a named pipe would keep us waiting, and is replaced
		have, err = os.ReadFile(file)
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && (bytes.Equal(have, text) || check && len(changes) == 0):
		p.say("%s is up to date", file)
		return nil
	case check:
		return &exit{engine.ExitError, fmt.Errorf("%s is out of date: run gyrum lock", file)}
	}
	if err := writeFile(file, text); err != nil {
		return err
	}
	p.say("wrote %s: %s", file, plural(len(now.Plugins), "plugin"))
	return nil
}

// unchanged refuses own types whose modules are not those of the digests that would be pinned.
func unchanged(types *own.Catalog) error {
	var wrong []string
	for _, t := range types.Types {
		for _, p := range t.Changed() {
			wrong = append(wrong, p.File+": "+p.Text)
		}
	}
	if len(wrong) > 0 {
		return &exit{engine.ExitError, errors.New(strings.Join(wrong, "\n"))}
	}
	return nil
}

// writeFile replaces a file of the catalog in one step.
func writeFile(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".gyrum-lock-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
