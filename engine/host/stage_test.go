package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gyrum.ai/engine/canonical"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/host/account"
	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/files"
	"gyrum.ai/engine/host/hosttest"
	"gyrum.ai/engine/host/secret"
	"gyrum.ai/engine/resource"
)

// stage is a model host with one reader and one writer, and a log of what the other parts were told.
type stage struct {
	t       *testing.T
	power   *hosttest.Power
	fs      *hosttest.FS
	secrets vault
	units   *unitLog
	effects []string
	stop    error // returned to an effect before it happens
	r       *host.Reader
	w       *host.Writer
}

// vault resolves the references that it holds.
type vault map[string]string

func (v vault) Resolve(_ context.Context, ref resource.SecretRef) (secret.Value, error) {
	raw, ok := v[ref.String()]
	if !ok {
		return secret.Value{}, fault.New(fault.SecretUnresolved, "secret %s: not there", ref)
	}
	return secret.NewValue([]byte(raw)), nil
}

func (v vault) Forget() {}

// unitLog stands for systemd; it logs what it is told and knows some failed units.
type unitLog struct {
	power  *hosttest.Power
	calls  []string
	failed []string
	query  host.UnitQuery
	err    error
	// aliases leads from a unit's other name to its real one.
	aliases map[string]string
	// remember is called for each record that is asked for.
	remember func(unit string) error
}

func (u *unitLog) told(format string, args ...any) error {
	if err := u.power.Effect(); err != nil {
		return err
	}
	u.calls = append(u.calls, fmt.Sprintf(format, args...))
	return u.err
}

func (u *unitLog) Unit(_ context.Context, q host.UnitQuery) (host.UnitState, error) {
	u.query = q
	return host.UnitState{LoadState: "loaded", AliasOf: u.aliases[q.Name]}, u.err
}
func (u *unitLog) Forget()                                   {}
func (u *unitLog) Start(_ context.Context, n string) error   { return u.told("start %s", n) }
func (u *unitLog) Stop(_ context.Context, n string) error    { return u.told("stop %s", n) }
func (u *unitLog) Restart(_ context.Context, n string) error { return u.told("restart %s", n) }
func (u *unitLog) Enable(_ context.Context, n string) error  { return u.told("enable %s", n) }
func (u *unitLog) Disable(_ context.Context, n string) error { return u.told("disable %s", n) }
func (u *unitLog) Witness(context.Context) int64             { return 0 }
func (u *unitLog) Appeared(string, int64)                    {}
func (u *unitLog) Reload(context.Context) error              { return u.told("reload") }
func (u *unitLog) ResetFailed(_ context.Context, n string) error {
	u.failed = slices.DeleteFunc(u.failed, func(f string) bool { return f == n })
	return u.told("reset-failed %s", n)
}
func (u *unitLog) Failed(_ context.Context, n string) ([]string, error) {
	var out []string
	for _, f := range u.failed {
		if f == n || strings.Contains(n, "@.") && strings.HasPrefix(f, n[:strings.IndexByte(n, '@')+1]) {
			out = append(out, f)
		}
	}
	return out, nil
}
func (u *unitLog) Remember(_ context.Context, q host.UnitQuery) error {
	u.query = q
	if u.remember != nil {
		return u.remember(q.Name)
	}
	return nil
}

// packageLog stands for dpkg and apt.
type packageLog struct{ err error }

func (packageLog) Package(context.Context, string) (host.PackageState, error) {
	return host.PackageState{Known: true}, nil
}
func (packageLog) Compare(a, b string) (int, error) { return strings.Compare(a, b), nil }
func (packageLog) Simulate(context.Context, host.PackageChange) (host.PackageSimulation, error) {
	return host.PackageSimulation{OK: true}, nil
}
func (packageLog) Forget() {}
func (p packageLog) Install(_ context.Context, name, version string, _ bool, leaving ...string) ([]string, error) {
	return append([]string{name + "=" + version}, leaving...), p.err
}
func (p packageLog) Remove(_ context.Context, name string, leaving ...string) ([]string, error) {
	return append([]string{name}, leaving...), p.err
}

// commandLog runs nothing and answers with the outcome that it is given.
type commandLog struct {
	spec    host.CommandSpec
	outcome host.CommandOutcome
	err     error
}

func (c *commandLog) Run(_ context.Context, spec host.CommandSpec) (host.CommandOutcome, error) {
	c.spec = spec
	return c.outcome, c.err
}

func newStage(t *testing.T, resources ...resource.Resource) *stage {
	power := hosttest.NewPower()
	s := &stage{t: t, power: power, fs: hosttest.NewFS(power), secrets: vault{}, units: &unitLog{power: power}}
	s.fs.AddFile("/etc/passwd", "root:x:0:0:::\nwww-data:x:33:33:::\n", 0o644)
	s.fs.AddFile("/etc/group", "root:x:0:\nwww-data:x:33:\n", 0o644)
	s.begin(resources...)
	return s
}

// begin makes a new reader and writer on the same host, as the next run would.
func (s *stage) begin(resources ...resource.Resource) {
	s.r = host.NewReader(host.ReadConfig{
		FS: s.fs, StateDir: "/var/lib/gyrum", Accounts: account.New(files.Tree{FS: s.fs}, nil), Packages: packageLog{}, Units: s.units, Secrets: s.secrets,
	}, resources)
	s.write(host.WriteConfig{})
}

// write makes the writer with some of its parts replaced.
func (s *stage) write(cfg host.WriteConfig) {
	cfg.FS, cfg.Units = s.fs, s.units
	if cfg.Packages == nil {
		cfg.Packages = packageLog{}
	}
	cfg.CommandEnv = func(declared map[string]string) []string {
		env := []string{"PATH=/bin"}
		for k, v := range declared {
			env = append(env, k+"="+v)
		}
		return env
	}
	s.w = host.NewWriter(s.r, cfg, func(phase string, e host.Effect, err error) error {
		s.effects = append(s.effects, fmt.Sprintf("%s %s %s %s %v", phase, e.Name, e.Target, e.Resource, err))
		if phase == "before" {
			return s.stop
		}
		return nil
	})
}

// declare makes a resource from its declared record; secrets are found where a secret_ref stands.
func declare(record string) resource.Resource {
	var d map[string]any
	if err := json.Unmarshal([]byte(record), &d); err != nil {
		panic(err)
	}
	raw, err := canonical.Transform([]byte(record))
	if err != nil {
		panic(err)
	}
	r := resource.Resource{Role: "host", Type: d["type"].(string), ID: d["id"].(string), Declared: raw, Secrets: map[string]resource.SecretRef{}}
	refs := map[string]any{"content": d["content"]}
	if vars, ok := d["vars"].(map[string]any); ok {
		for k, v := range vars {
			refs["vars."+k] = v
		}
	}
	for field, v := range refs {
		if m, ok := v.(map[string]any); ok {
			provider, name, _ := strings.Cut(m["secret_ref"].(string), ":")
			r.Secrets[field] = resource.SecretRef{Provider: provider, Name: name}
		}
	}
	if text, ok := d["content"].(string); ok {
		r.Content = &resource.Content{
			SHA256: strings.TrimPrefix(canonical.Digest([]byte(text)), "sha256:"), Size: int64(len(text)),
			Open: func() ([]byte, error) { return []byte(text), nil },
		}
	}
	return r
}

// ask and do put one request and give the reply as text.
func (s *stage) ask(capability, request string) string {
	s.t.Helper()
	raw, err := s.r.Ask(context.Background(), capability, []byte(request))
	return s.reply(capability, raw, err)
}

func (s *stage) do(capability, request string) string {
	s.t.Helper()
	raw, err := s.w.Do(context.Background(), capability, []byte(request))
	return s.reply(capability, raw, err)
}

func (s *stage) reply(capability string, raw []byte, err error) string {
	s.t.Helper()
	if err != nil {
		return "misuse: " + err.Error()
	}
	if again, err := canonical.Transform(raw); err != nil || string(again) != string(raw) {
		s.t.Errorf("%s: the reply is not canonical: %s, %v", capability, raw, err)
	}
	return string(raw)
}

func (s *stage) want(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("got  %s\nwant %s", got, want)
	}
}

func (s *stage) holds(got string, parts ...string) {
	s.t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			s.t.Errorf("%s\nlacks %s", got, p)
		}
	}
}

var errInjected = errors.New("injected")
