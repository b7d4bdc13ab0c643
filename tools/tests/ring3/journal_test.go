package ring3

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// call is a system call that strace saw: where it began and where it had returned, as positions in the whole trace.
type call struct {
	name, text string
	begin, end int
}

var resumed = regexp.MustCompile(`^<\.\.\. (\w+) resumed>`)

// calls reads what strace -f -o wrote; a call that others came between is put together.
func calls(trace string) []call {
	var all []call
	open := map[string]int{}
	for at, line := range strings.Split(trace, "\n") {
		thread, text, _ := strings.Cut(line, " ")
		text = strings.TrimSpace(text)
		if found := resumed.FindString(text); found != "" {
			if i, begun := open[thread]; begun {
				all[i].end, all[i].text = at, all[i].text+strings.TrimPrefix(text, found)
			}
			continue
		}
		name, _, isCall := strings.Cut(text, "(")
		if !isCall {
			continue
		}
		all = append(all, call{name, text, at, at})
		if strings.HasSuffix(text, "<unfinished ...>") {
			open[thread] = len(all) - 1
		}
	}
	return all
}

// TestIntentThenEffectThenOutcome reads from strace what no crash of a host with a working page cache can show: for each
// item the intent is on disk before the first effect, the new file is on disk before it gets its name, the folder after
// that, and then the outcome.
func TestIntentThenEffectThenOutcome(t *testing.T) {
	m := boot(t)
	m.Shell("mkdir /etc/d; echo old >/etc/d/two")
	m.resources(`
		- {type: file, path: /etc/d/one, content: "1"}
		- {type: file, path: /etc/d/two, content: "2"}
		- {type: env, path: /etc/d/three, vars: {A: "3"}}
		- {type: file, path: /etc/d/four, content: "4"}
	`)
	r := m.Run(append([]string{"strace", "-f", "-y", "-s", "65536", "-o", "/run/trace", "-e", "trace=fsync,fdatasync,write,pwrite64,openat,openat2,renameat,renameat2,rename", "-e", "signal=none"},
		command("apply", "--auto-confirm")...)...)
	if r.Code != 0 {
		t.Fatalf("apply: %s", r)
	}
	all := calls(m.Shell("cat /run/trace"))
	// next finds the first matching call that begins once the position is passed.
	next := func(what string, from int, match func(call) bool) int {
		i := slices.IndexFunc(all, func(c call) bool { return c.begin > from && match(c) })
		if i < 0 {
			t.Fatalf("there is no %s behind line %d of the trace", what, from)
		}
		return all[i].end
	}
	synced := func(path string) func(call) bool {
		return func(c call) bool {
			return (c.name == "fsync" || c.name == "fdatasync") && strings.Contains(c.text, "<"+path) && strings.Contains(c.text, "= 0")
		}
	}
	record := func(kind, id string) func(call) bool {
		return func(c call) bool {
			return c.name == "write" && strings.Contains(c.text, `\"kind\":\"`+kind+`\"`) && strings.Contains(c.text, `\"resource\":\"`+id+`\"`)
		}
	}
	const journal = "/var/lib/gyrum/runs/"
	at := 0
	for _, name := range []string{"one", "two", "three", "four"} {
		id := "file:/etc/d/" + name
		if name == "three" {
			id = "env:/etc/d/three"
		}
		intended := next("intent of "+id, at, record("intent", id))
		intended = next("fsync of the intent of "+id, intended, synced(journal))
		first := next("temporary file of "+id, at, func(c call) bool {
			return strings.HasPrefix(c.name, "openat") && strings.Contains(c.text, "</etc/d>") && strings.Contains(c.text, "O_CREAT")
		})
		if first < intended {
			t.Errorf("%s: the effect begins at line %d of the trace, and its intent is on disk at line %d", id, first, intended)
		}
		written := next("fsync of the new "+id, first, synced("/etc/d/."))
		named := next("rename of "+id, written, func(c call) bool {
			return strings.HasPrefix(c.name, "rename") && strings.Contains(c.text, `"`+name+`"`)
		})
		durable := next("fsync of the folder of "+id, named, synced("/etc/d>"))
		told := next("outcome of "+id, durable, record("outcome", id))
		at = next("fsync of the outcome of "+id, told, synced(journal))
	}
}

// TestAPlanFileConfirmsThatPlanOnce: a saved report is the approval of exactly what it says, and of one execution.
func TestAPlanFileConfirmsThatPlanOnce(t *testing.T) {
	m := boot(t)
	m.resources(`
		- {type: file, path: /etc/one, content: "1"}
		- {type: file, path: /etc/two, content: "2"}
	`)
	save := func() {
		if r := m.Try("gyrum check --catalog /c --host t -o json >/root/plan.json"); r.Code != 2 {
			t.Fatalf("check: %s", r)
		}
	}
	save()
	if o := m.gyrum("apply", "--plan", "/root/plan.json"); o.code != 0 || o.done() != "write file:/etc/one, write file:/etc/two" {
		t.Errorf("apply of the plan: %s", o)
	}
	m.Shell("rm /etc/one /etc/two") // the host is where the plan was made, and the approval is spent
	if o := m.gyrum("apply", "--plan", "/root/plan.json"); o.code != 3 || len(o.reports) != 1 || o.drifted() != "write file:/etc/one, write file:/etc/two" {
		t.Errorf("the approval was good twice: %s", o)
	}
	save()
	m.Shell("echo theirs >/etc/two")
	before := m.Snapshot("/etc", "/var/lib/gyrum")
	moved := m.gyrum("apply", "--plan", "/root/plan.json")
	if moved.code != 3 || len(moved.reports) != 1 || moved.find("file:/etc/two").Reason.Code != "content-differs" {
		t.Errorf("the host moved: %s", moved)
	}
	if changes := before.Changes(m.Snapshot("/etc", "/var/lib/gyrum")); len(changes) > 0 {
		t.Errorf("a refused plan changed %v", changes)
	}
	if o := m.gyrum("apply", "--confirm-plan", moved.last().PlanHash); o.code != 0 {
		t.Errorf("the fresh plan: %s", o)
	}
	m.Shell("rm /etc/one")
	if r := m.Try("gyrum check --catalog /c --host t -o json | gyrum apply --catalog /c --host t --plan - -o json"); r.Code != 0 {
		t.Errorf("a plan on standard input: %s", r)
	}
	if r := m.Try("echo '{}' >/root/no.json; gyrum apply --catalog /c --host t --plan /root/no.json"); r.Code != 64 {
		t.Errorf("no plan at all: %s", r)
	}
}

// TestTheSamePlanHasTheSameHashOnAnotherMachine: another machine, time zone, umask, language, folder and order of files.
func TestTheSamePlanHasTheSameHashOnAnotherMachine(t *testing.T) {
	here, there := boot(t), boot(t)
	roles := map[string]string{
		"one": `{type: file, path: /etc/one, content: "1"}, {type: package, name: gyrum-prober}`,
		"two": `{type: directory, path: /etc/two.d, mode: "0750"}, {type: file, path: /etc/two.d/x, content: "2"}`,
		"big": `{type: env, path: /etc/app.env, vars: {B: "2", A: "1"}}`,
	}
	write := func(m *managed, names ...string) {
		for _, name := range names {
			m.put("host-roles/"+name+".yaml", "role: "+name+"\nversion: 1\ndescription: d\nrequires: []\nmutually_exclusive: []\nresources: ["+roles[name]+"]\n")
		}
		m.put("hosts/t.yaml", "name: t\nroles: [one, two, big]\n")
		if err := os.Remove(filepath.Join(m.catalog, "host-roles", "t.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	write(here, "one", "two", "big")
	write(there, "big", "two", "one")
	there.Shell("cp -r /c /srv/elsewhere; ln -sf /usr/share/zoneinfo/Asia/Kolkata /etc/localtime")
	hash := here.check().last().PlanHash
	other := there.read(there.RunWith([]string{"TZ=Asia/Kolkata", "LANG=de_DE.UTF-8", "LC_ALL=C", "HOME=/tmp"}, "",
		"sh", "-c", "umask 077; cd /srv; gyrum check --catalog elsewhere --host t -o json --cache-dir /var/tmp/c"))
	if got := other.last().PlanHash; got != hash || !strings.HasPrefix(hash, "sha256:") {
		t.Fatalf("the hashes are %s and %s", hash, got)
	}
	for name, flags := range map[string][]string{"a selection": {"--skip", "env"}} {
		if got := here.check(flags...).last().PlanHash; got == hash {
			t.Errorf("%s makes no other plan", name)
		}
	}
	here.Shell("echo 0 >/etc/one")
	if got := here.check().last().PlanHash; got == hash {
		t.Error("another state of the host makes no other plan")
	}
	here.Shell("rm /etc/one")
	if got := here.check().last().PlanHash; got != hash {
		t.Errorf("back where it was, the host has the plan %s", got)
	}
}

// TestEachEffectIsOnRecord: with what it was about, the plan, the module, the digests before and after, and who said yes.
func TestEachEffectIsOnRecord(t *testing.T) {
	m := boot(t)
	m.Shell("install -d -m 700 /etc/gyrum/secrets; printf 's3cret-value' >/etc/gyrum/secrets/token; chmod 600 /etc/gyrum/secrets/token; printf old >/etc/one")
	m.resources(`
		- {type: file, path: /etc/one, content: "new"}
		- {type: env, path: /etc/app.env, vars: {TOKEN: {secret_ref: "file:/etc/gyrum/secrets/token"}}}
		- {type: package, name: plain}
	`)
	plan := m.check().last()
	o := m.read(m.RunWith([]string{"SUDO_USER=jo"}, "", command("apply", "--confirm-plan", plan.PlanHash, "-o", "json")...))
	if o.code != 0 {
		t.Fatalf("apply: %s", o)
	}
	all := m.events("--run", "last")
	if c := all[0].Start.Confirmed; c.How != "plan-hash" || c.User != "root" || c.SudoUser != "jo" || c.Via != "script" {
		t.Errorf("confirmed by %+v", c)
	}
	sum := func(path string) string { return "sha256:" + strings.Fields(m.Shell("sha256sum " + path))[0] }
	seen := map[string]int{}
	for _, e := range all {
		if e.Effect == nil {
			continue
		}
		f := *e.Effect
		seen[f.Resource+" "+f.Phase]++
		if f.PlanHash != plan.PlanHash || !strings.HasPrefix(f.Plugin, "sha256:") || f.Item < 0 {
			t.Errorf("effect %+v", f)
		}
		switch f.Resource {
		case "file:/etc/one":
			if f.Before != "sha256:cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4" || f.After != sum("/etc/one") {
				t.Errorf("digests of the file: %s, %s", f.Before, f.After)
			}
		case "env:/etc/app.env":
			if !strings.HasPrefix(f.After, "hmac-sha256:") {
				t.Errorf("the digest of a file with a secret is %q", f.After)
			}
		}
	}
	for _, id := range []string{"file:/etc/one", "env:/etc/app.env", "package:plain"} {
		if seen[id+" before"] != 1 || seen[id+" after"] != 1 {
			t.Errorf("effects of %s: %v", id, seen)
		}
	}
	if r := m.Run("grep", "-rl", "s3cret", "/var/lib/gyrum/runs"); r.Code == 0 {
		t.Errorf("the secret is in %s", r.Stdout)
	}

	t.Run("the reference that a ticket carries", func(t *testing.T) {
		m := m.in(t)
		ref := o.reports[0].RunID + "#0"
		text := m.Shell("gyrum show '" + ref + "'; gyrum events --run last")
		for _, want := range []string{ref, plan.PlanHash, all[slices.IndexFunc(all, func(e event) bool { return e.Intent != nil })].Intent.Plugin, "jo as root", "file_replace", "sha256:cba06b5736fa"} {
			if !strings.Contains(text, want) {
				t.Errorf("show and events do not say %s:\n%s", want, text)
			}
		}
		var shown struct {
			Run       string `json:"run_id"`
			PlanHash  string `json:"plan_hash"`
			Plugin    string `json:"plugin"`
			Confirmed struct {
				How string `json:"how"`
			} `json:"confirmed"`
			Item    item              `json:"item"`
			Effects []json.RawMessage `json:"effects"`
		}
		if err := json.Unmarshal([]byte(m.Shell("gyrum show -o json '"+ref+"'")), &shown); err != nil {
			t.Fatal(err)
		}
		if shown.PlanHash != plan.PlanHash || shown.Plugin == "" || shown.Confirmed.How != "plan-hash" || shown.Item.Resource.ID != "file:/etc/one" || len(shown.Effects) != 2 {
			t.Errorf("shown %+v", shown)
		}
	})

	t.Run("a timer says yes", func(t *testing.T) {
		m := m.in(t)
		m.Shell("rm /etc/one")
		m.Write("/etc/systemd/system/agent.service", "[Service]\nType=oneshot\nExecStart=/opt/gyrum/gyrum apply --auto-confirm --catalog /c --host t\n")
		m.Write("/etc/systemd/system/agent.timer", "[Timer]\nOnActiveSec=0\nAccuracySec=1ms\n")
		m.Shell("systemctl daemon-reload; systemctl start agent.timer")
		m.waitFor("test -e /etc/one && gyrum events --run last -o json | grep -q '\"kind\":\"end\"'")
		if c := m.events("--run", "last")[0].Start.Confirmed; c.How != "auto-confirm" || c.Via != "timer" || c.User != "root" {
			t.Errorf("confirmed by %+v", c)
		}
	})

	t.Run("what was changed, dropped or moved shows", func(t *testing.T) {
		m := m.in(t)
		anchor := strings.TrimPrefix(m.Shell("gyrum history verify | grep '^anchor'"), "anchor ")
		if r := m.Run("gyrum", "history", "verify", "--anchor", anchor); r.Code != 0 {
			t.Errorf("verify: %s", r)
		}
		m.Shell("cp -a /var/lib/gyrum/runs /root/runs")
		for name, forge := range map[string]string{
			"a changed record": `sed -i '2s/plan_hash":"sha256:./plan_hash":"sha256:_/' $(ls *.jsonl | head -1)`,
			"a dropped record": `sed -i 3d $(ls *.jsonl | head -1)`,
			"a swapped record": `f=$(ls *.jsonl | head -1); sed -i -n '3{h;n;G};p' $f`,
			"a dropped run":    `rm $(ls *.jsonl | head -1)`,
			"a cut-off end":    `rm $(ls *.jsonl | tail -1)`, // the chain alone cannot show that; the anchor does
		} {
			m.Shell("cd /var/lib/gyrum/runs; rm -f *; cp -a /root/runs/. .; " + forge)
			if r := m.Run("gyrum", "history", "verify", "--anchor", anchor); r.Code != 1 {
				t.Errorf("%s: %s", name, r)
			}
		}
		m.Shell("cd /var/lib/gyrum/runs; rm -f *; cp -a /root/runs/. .")
		m.Shell("gyrum history prune --runs 1")
		if r := m.Run("gyrum", "history", "verify", "--anchor", anchor); r.Code != 0 || !strings.Contains(r.Stdout, "removed by retention") {
			t.Errorf("after a retention: %s", r)
		}
	})
}
