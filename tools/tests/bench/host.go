package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gyrum.ai/tools/tests/realhost"
)

// bench is the host that everything is measured on.
type bench struct {
	*realhost.Host
	session *session
	catalog string
}

// peer is how cf-agent judges a policy without changing anything.
var peer = []string{"cf-agent", "--no-lock", "--dry-run", "--file"}

func boot(s *session, binary string) *bench {
	recipe := realhost.Base()
	recipe.Include = append(recipe.Include, "cfengine3")
	program, catalog := s.TempDir(), s.TempDir()
	for name, from := range map[string]string{"gyrum": binary, "bench": "/proc/self/exe"} {
		raw, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(program, name), raw, 0o755)
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	b := &bench{session: s, catalog: catalog}
	b.put("hosts/t.yaml", "name: t\nroles: [t]\n")
	b.Host = realhost.Boot(s, realhost.Options{Recipe: &recipe, Hostname: "t", Binds: []realhost.Bind{
		{Outside: program, Inside: "/opt/gyrum"}, {Outside: catalog, Inside: "/c"},
	}})
	b.Shell("systemctl disable -q --now cfengine3 2>/dev/null || true")
	return b
}

func (b *bench) put(name, text string) {
	path := filepath.Join(b.catalog, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.session.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.session.Fatal(err)
	}
}

// policy is one state of the host, said to both programs.
type policy struct {
	role, promises string
}

// compare brings the host to the policy and measures how long each program takes to find that nothing is to be done.
func (b *bench) compare(title string, rounds int, p policy) {
	b.put("host-roles/t.yaml", "role: t\nversion: 1\ndescription: the policy that is measured\nresources:\n"+p.role)
	b.Write("/etc/bench.cf", "body common control { bundlesequence => { \"main\" }; }\n"+bodies+"bundle agent main {\n"+p.promises+"}\n")
	b.Shell("chmod 600 /etc/bench.cf")
	check := []string{"gyrum", "check", "--catalog", "/c", "--host", "t", "-o", "json"}
	if r := b.Run("gyrum", "apply", "--auto-confirm", "--catalog", "/c", "--host", "t"); r.Code != 0 {
		b.session.Fatalf("gyrum does not reach the policy: %s", r)
	}
	agent := append(append([]string(nil), peer...), "/etc/bench.cf")
	if r := b.Run(agent...); r.Code != 0 || strings.Contains(r.Stdout+r.Stderr, "warning") || strings.Contains(r.Stdout+r.Stderr, "error") {
		b.session.Fatalf("cf-agent does not find the same state in order: %s", r)
	}
	figures := b.measure(jobs{Rounds: rounds, Jobs: []job{
		{Name: "cf-agent dry run", Command: agent},
		{Name: "gyrum check, warm", Command: check},
		{Name: "gyrum check, no traces", Command: check, Prepare: "rm -rf /var/cache/gyrum/traces*"},
		{Name: "gyrum check, empty cache", Command: check, Prepare: "rm -rf /var/cache/gyrum"},
		{Name: "gyrum check, --no-cache", Command: append(check, "--no-cache")},
	}})
	show(title, rounds, figures)
}

// show prints a table.
func show(title string, rounds int, figures []figure) {
	fmt.Printf("%s (medians of %d)\n", title, rounds)
	for _, f := range figures {
		fmt.Printf("  %-26s %8.3f s %6.2f times  %8.3f s of computing %6.2f times  %7.1f MiB\n",
			f.Name, f.Wall.Seconds(), f.WallTimes, f.Computing.Seconds(), f.ComputingTimes, float64(f.Peak)/(1<<20))
	}
}

// measure hands the jobs to this program's copy within the host.
func (b *bench) measure(j jobs) []figure {
	raw, err := json.Marshal(j)
	if err != nil {
		b.session.Fatal(err)
	}
	begun := time.Now()
	r := b.RunWith(nil, string(raw), "bench", "-measure")
	var figures []figure
	if err := json.Unmarshal([]byte(r.Stdout), &figures); err != nil || r.Code != 0 {
		b.session.Fatalf("after %v: %v\n%s", time.Since(begun), err, r)
	}
	return figures
}
