package host

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host/envfile"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/resource"
)

// EnvReply is the reply to env_file. Values of secrets and of undeclared variables are not in it.
type EnvReply struct {
	StatReply
	// Vars has the declared variables that the file sets, by value, or match, differs, absent or unresolved for a secret; a
	// variable that is not declared reads present.
	Vars map[string]string `json:"vars,omitempty"`
	// Unresolved says which references to secrets lead nowhere.
	Unresolved string `json:"unresolved,omitempty"`
	// Readable says that the content could be read.
	Readable bool `json:"readable"`
	// Damage says why systemd would not read the file, or not as it looks.
	Damage string `json:"damage,omitempty"`
	// Ignored counts assignments that systemd drops for their name.
	Ignored int `json:"ignored,omitempty"`
	// Same says that the file reads back exactly as declared.
	Same bool `json:"same"`
}

// variable is a declared variable: a literal or a secret, whose reference may lead nowhere.
type variable struct {
	literal    string
	secret     *secret.Value
	unresolved error
}

// matches says whether a value is the declared one.
func (v variable) matches(value string) bool {
	switch {
	case v.unresolved != nil:
		return false
	case v.secret != nil:
		return secret.NewValue([]byte(v.secret.Variable())).Equal([]byte(value))
	}
	return v.literal == value
}

// variables gives the declared variables of an env resource with its secrets resolved, as far as they resolve.
func (r *Reader) variables(ctx context.Context, res *resource.Resource) (map[string]variable, error) {
	var d struct {
		Vars map[string]json.RawMessage `json:"vars"`
	}
	if err := json.Unmarshal(res.Declared, &d); err != nil {
		return nil, misusef("declared record of %s: %w", res.ID, err)
	}
	vars := map[string]variable{}
	for name, raw := range d.Vars {
		if ref, ok := res.Secrets["vars."+name]; ok {
			value, err := r.cfg.Secrets.Resolve(ctx, ref)
			if err == nil {
				if cerr := envfile.Check(name, value.Variable()); cerr != nil {
					err = fault.New(fault.SecretUnresolved, "secret %s: %v", ref, cerr)
				}
			}
			vars[name] = variable{secret: &value, unresolved: err}
			continue
		}
		var literal string
		if err := json.Unmarshal(raw, &literal); err != nil {
			return nil, misusef("declared record of %s: vars.%s is no string", res.ID, name)
		}
		vars[name] = variable{literal: literal}
	}
	return vars, nil
}

func (r *Reader) envFile(ctx context.Context, q idRequest) (EnvReply, error) {
	res, err := r.find(q.ID, "env")
	if err != nil {
		return EnvReply{}, misuse(err)
	}
	declared, err := r.variables(ctx, res)
	if err != nil {
		return EnvReply{}, err
	}
	p := pathOf(res)
	s, err := r.tree.Stat(p)
	if err != nil {
		return EnvReply{}, err
	}
	reply := EnvReply{Unresolved: unresolved(declared)}
	if reply.StatReply, err = r.describe(s); err != nil || s.Kind != fsys.KindFile {
		return reply, err
	}
	if len(res.Secrets) > 0 {
		reply.Size = nil // it would narrow the secret down
	}
	if s.Size > envfile.MaxSize {
		reply.Readable, reply.Damage = true, "it is larger than systemd reads (64 MiB)"
		return reply, nil
	}
	raw, err := r.tree.Read(p, envfile.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return EnvReply{Unresolved: reply.Unresolved}, nil
	case errors.Is(err, fs.ErrPermission):
		return reply, nil // what is to go need not be read
	case err != nil:
		return EnvReply{}, err
	}
	compare(&reply, envfile.Read(raw), declared)
	return reply, nil
}

// unresolved gathers why secrets do not resolve, in the order of the variables.
func unresolved(declared map[string]variable) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if err := declared[name].unresolved; err != nil && !slices.Contains(texts, err.Error()) {
			texts = append(texts, err.Error())
		}
	}
	return strings.Join(texts, "; ")
}

// compare fills in what the file holds against what is declared.
func compare(reply *EnvReply, f envfile.File, declared map[string]variable) {
	reply.Readable, reply.Damage = true, f.Damage
	if f.Ambiguous && reply.Damage == "" {
		reply.Damage = "a comment ends in a backslash, which systemd reads differently since version 254"
	}
	reply.Ignored = f.Ignored
	reply.Vars = map[string]string{}
	reply.Same = reply.Damage == "" && f.Ignored == 0 && len(f.Vars) == len(declared)
	for name, want := range declared {
		have, set := f.Vars[name]
		fits := set && want.matches(have)
		reply.Same = reply.Same && fits
		switch {
		case want.secret == nil && set:
			reply.Vars[name] = have
		case want.secret == nil:
		case want.unresolved != nil:
			reply.Vars[name] = "unresolved"
		case fits:
			reply.Vars[name] = match
		case set:
			reply.Vars[name] = differs
		default:
			reply.Vars[name] = absent
		}
	}
	for name := range f.Vars {
		if _, ok := declared[name]; !ok {
			reply.Vars[name] = present
		}
	}
}

// render gives the bytes of an env resource's file.
func (r *Reader) render(ctx context.Context, res *resource.Resource) ([]byte, error) {
	declared, err := r.variables(ctx, res)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{}
	for name, v := range declared {
		if v.unresolved != nil {
			return nil, v.unresolved
		}
		vars[name] = v.literal
		if v.secret != nil {
			vars[name] = v.secret.Variable()
		}
	}
	out, err := envfile.Write(vars)
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s: %w", pathOf(res), err)
	}
	return out, nil
}
