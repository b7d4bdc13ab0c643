package dpkg

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gyrum.ai/engine/host/fault"
	"gyrum.ai/engine/host/process"
)

// Codes of a simulation's reason beyond those of package fault.
const (
	// Broken: apt finds no consistent set of packages with the change.
	Broken = "broken"
	// ListsMissing: the package lists know nothing of it, and they were never fetched or are older than the host's sources;
	// an apply fetches them.
	ListsMissing = "lists-missing"
)

// aptTimeout ends an apt that hangs, in a maintainer script say. Ending dpkg half way is bad, hanging for ever is worse.
const aptTimeout = time.Hour

// readOnly switches off what apt would write even while it simulates: its two binary caches and the planner's log.
var readOnly = []string{
	"-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Log::Planner=", "-o", "Dir::Log::Solver=",
}

// plain makes apt do what is asked and nothing that a configuration file adds: remove is not purge, nothing is
// removed along, no terminal is pretended. Whether recommended packages come along stays the host's setting.
var plain = []string{
	"-q", "-o", "APT::Get::Purge=false", "-o", "APT::Get::AutomaticRemove=false", "-o", "APT::Color=0", "-o", "Dpkg::Use-Pty=0",
	"-o", "APT::Get::Show-User-Simulation-Note=false",
}

// unattended answers every question in advance: of a changed configuration file the host's version stays.
var unattended = []string{
	"-y", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold",
}

// environment is what apt, dpkg and the maintainer scripts get. Proxies and apt's own variable are passed on.
func environment() []string {
	return append(process.Tool(adminVariable, "APT_CONFIG", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "TMPDIR"),
		"DEBIAN_FRONTEND=noninteractive", "DEBIAN_PRIORITY=critical", "DEBCONF_NONINTERACTIVE_SEEN=true",
		"APT_LISTCHANGES_FRONTEND=none", "APT_LISTBUGS_FRONTEND=none", "NEEDRESTART_MODE=l", "UCF_FORCE_CONFFOLD=1")
}

// answer is what a run of a tool gave.
type answer struct {
	exit   int
	signal string
	out    string // whole standard output of a simulation, else empty
	err    string // the end of what was said, for errors
}

// run runs apt-get, apt-cache or dpkg. Whole output is kept only where it will be parsed.
func run(ctx context.Context, parse bool, argv ...string) (answer, error) {
	var out bytes.Buffer
	var said process.Output
	spec := process.Spec{Argv: argv, Env: environment(), Timeout: aptTimeout, Stdout: &said, Stderr: &said}
	if parse {
		var errs process.Output
		spec.Stdout, spec.Stderr = &out, &errs
		end, err := process.Run(ctx, spec)
		return answer{end.Exit, end.Signal, out.String(), errs.End(4000)}, missing(argv[0], err)
	}
	end, err := process.Run(ctx, spec)
	a := answer{exit: end.Exit, signal: end.Signal, err: said.End(4000)}
	if err == nil && end.TimedOut {
		return a, fault.New(fault.Timeout, "%s did not end within %v and was ended: %s", argv[0], aptTimeout, lastLines(a.err))
	}
	return a, missing(argv[0], err)
}

func missing(tool string, err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.Unavailable, "%s cannot be run: %w", tool, err)
}

// aptOptions are those of every apt call; a made-up dpkg database is shown to apt too.
func aptOptions(more ...[]string) []string {
	opts := append([]string(nil), plain...)
	if d := os.Getenv(adminVariable); d != "" {
		opts = append(opts, "-o", "Dir::State::status="+filepath.Join(d, "status"))
	}
	for _, m := range more {
		opts = append(opts, m...)
	}
	return opts
}

// locked tells from apt's or dpkg's words that somebody else holds a lock. apt waits for dpkg's locks by itself, for
// those of the lists and the archives it does not.
func locked(words string) bool {
	for _, w := range []string{"Could not get lock", "Unable to acquire the dpkg frontend lock", "Unable to lock", "lock is locked by another process", "is locked by another process", "lock was locked by another process"} {
		if strings.Contains(words, w) {
			return true
		}
	}
	return false
}

// change runs a changing apt-get or dpkg and waits for locks, with a bound.
func (m *Manager) change(ctx context.Context, argv ...string) (answer, error) {
	deadline := time.Now().Add(m.lockTimeout())
	for {
		a, err := run(ctx, false, argv...)
		if err != nil || a.exit == 0 || !locked(a.err) {
			return a, err
		}
		if time.Until(deadline) < time.Second {
			return a, fault.New(fault.Busy, "another process uses apt or dpkg and kept its lock for %v: %s", m.lockTimeout(), complaints(a.err))
		}
		select {
		case <-ctx.Done():
			return a, fault.New(fault.CodeOf(ctx.Err()), "waiting for apt's lock: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// complaints gives apt's and dpkg's errors without what they say on the way; all of it when there is none.
func complaints(words string) string {
	var errs []string
	for line := range strings.Lines(words) {
		if strings.HasPrefix(line, "E: ") || strings.HasPrefix(line, "dpkg: error") {
			errs = append(errs, line)
		}
	}
	if len(errs) == 0 {
		return lastLines(words)
	}
	return lastLines(strings.Join(errs, ""))
}

// progress is what apt and dpkg say on the way, whatever comes of it.
var progress = regexp.MustCompile(`^(Reading |Building |After this operation|Need to get |Get:|Fetched |\(Reading database|Selecting previously |` +
	`Preparing to |debconf: delaying |\d+ upgraded, |\d+ not fully |dpkg: too many errors|Processing was halted|.* is already the newest version)`)

// failure gives the end of what was said by a change that failed, without the progress before it, and where the rest is.
func failure(words string) string {
	var said strings.Builder
	for line := range strings.Lines(words) {
		if !progress.MatchString(line) {
			said.WriteString(line)
		}
	}
	return lastLines(said.String()) + "; /var/log/apt/term.log has all of it: mend what failed there and apply again"
}

// seconds writes a duration as apt takes it.
func seconds(d time.Duration) string { return strconv.Itoa(int(d.Round(time.Second) / time.Second)) }

// refresh fetches the package lists, once in a run.
func (m *Manager) refresh(ctx context.Context) error {
	m.refreshed, m.simulated = true, nil
	a, err := m.change(ctx, append(append([]string{"apt-get"}, aptOptions()...), "update")...)
	if err != nil {
		return err
	}
	if a.exit != 0 {
		return fault.New(fault.NotAvailable, "the package lists cannot be fetched: %s", complaints(a.err))
	}
	return nil
}

// Where apt keeps its lists and its sources, as Debian configures it.
const (
	listsDir   = "/var/lib/apt/lists"
	sourcesDir = "/etc/apt"
)

// haveLists says whether any package list was ever fetched.
func haveLists() bool {
	lists, err := filepath.Glob(filepath.Join(listsDir, "*Packages*"))
	return err == nil && len(lists) > 0
}

// sourcesChanged says whether a source was added or changed since the lists were last fetched.
func sourcesChanged() bool {
	lists, err := os.Stat(listsDir)
	if err != nil {
		return true
	}
	sources, _ := filepath.Glob(filepath.Join(sourcesDir, "sources.list.d", "*"))
	for _, s := range append(sources, filepath.Join(sourcesDir, "sources.list")) {
		if st, err := os.Stat(s); err == nil && st.ModTime().After(lists.ModTime()) {
			return true
		}
	}
	return false
}
