package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gyrum.ai/engine/fsys"
	"gyrum.ai/engine/host"
	"gyrum.ai/engine/journal"
)

// applies measures both programs writing so many files that are not there, and what share of gyrum's work its journal is.
func (b *bench) applies(rounds, written int) {
	var role, promises strings.Builder
	promises.WriteString("  files:\n")
	for i := range written {
		fmt.Fprintf(&role, "  - {type: file, path: /etc/written.d/%04d.conf, content: \"setting = %d\\n\"}\n", i, i)
		fmt.Fprintf(&promises, "    \"/etc/written.d/%04d.conf\" create => \"true\", perms => pm(\"0644\", \"root\", \"root\"), content => \"setting = %d\n\";\n", i, i)
	}
	b.put("host-roles/t.yaml", "role: t\nversion: 1\ndescription: the policy that is measured\nresources:\n"+role.String())
	b.Write("/etc/bench.cf", "body common control { bundlesequence => { \"main\" }; }\n"+bodies+"bundle agent main {\n"+promises.String()+"}\n")
	const fresh = "rm -rf /etc/written.d; mkdir /etc/written.d"
	b.Shell("chmod 600 /etc/bench.cf; " + fresh)
	apply := []string{"gyrum", "apply", "--auto-confirm", "--catalog", "/c", "--host", "t", "-o", "json"}
	if r := b.Run(apply...); r.Code != 0 {
		b.session.Fatalf("gyrum does not write the files: %s", r)
	}
	figures := b.measure(jobs{Rounds: rounds, Jobs: []job{
		{Name: "cf-agent", Command: []string{"cf-agent", "--no-lock", "--file", "/etc/bench.cf"}, Prepare: fresh},
		{Name: "gyrum apply", Command: apply, Prepare: fresh},
	}})
	show(fmt.Sprintf("%d new files", written), rounds, figures)
	r := b.Run("sh", "-ec", "gyrum events --run last -o json >/run/events.json; bench -replay /run/replay </run/events.json")
	var spent time.Duration
	if err := json.Unmarshal([]byte(r.Stdout), &spent); err != nil || r.Code != 0 {
		b.session.Fatalf("the journal cannot be written again: %v: %s", err, r)
	}
	fmt.Printf("  its journal, beside fsyncs %8.3f s  %5.1f %% of the computing, %.1f %% of the time\n", spent.Seconds(),
		100*spent.Seconds()/figures[1].Computing.Seconds(), 100*spent.Seconds()/figures[1].Wall.Seconds())
}

// replay writes the records of a run once more, by the same code, into a folder where a sync costs nothing, and prints
// how long that took; the least of several times, since nothing but the machine makes it longer.
func replay(in io.Reader, out io.Writer, dir string) error {
	var records []journal.Record
	dec := json.NewDecoder(in)
	for dec.More() {
		var r journal.Record
		if err := dec.Decode(&r); err != nil {
			return err
		}
		records = append(records, r)
	}
	if len(records) == 0 || records[0].Start == nil {
		return fmt.Errorf("standard input holds no run")
	}
	least := time.Duration(0)
	for range 9 {
		begun := time.Now()
		if err := again(records, dir); err != nil {
			return err
		}
		if spent := time.Since(begun); least == 0 || spent < least {
			least = spent
		}
	}
	return json.NewEncoder(out).Encode(least)
}

func again(records []journal.Record, dir string) error {
	system := fsys.System("/")
	state, err := journal.Load(fsys.ReadOnly(system), dir)
	if err != nil {
		return err
	}
	run, err := journal.Begin(system, dir, state, *records[0].Start, len(records), time.Now, nil)
	for _, r := range records[1:] {
		if err != nil {
			return err
		}
		switch {
		case r.Plan != nil:
			err = run.Plan(*r.Plan)
		case r.Intent != nil:
			err = run.Intent(*r.Intent)
		case r.Effect != nil:
			e := *r.Effect
			err = run.Effect(e.Phase, host.Effect{Resource: e.Resource, Name: e.Name, Target: e.Target, Before: e.Before, After: e.After}, nil)
		case r.Outcome != nil:
			err = run.Outcome(*r.Outcome)
		case r.Report != nil:
			err = run.Observed(r.Report)
		case r.End != nil:
			err = run.End(*r.End)
		}
	}
	return err
}
