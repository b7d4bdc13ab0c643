package ring3

import (
	"encoding/json"
	"slices"
	"strings"
)

// event is what the tests read of a record of the journal.
type event struct {
	Kind   string `json:"kind"`
	Run    string `json:"run"`
	Intent *struct {
		Item     int    `json:"item"`
		Resource string `json:"resource"`
		PlanHash string `json:"plan_hash"`
		Plugin   string `json:"plugin"`
	} `json:"intent"`
	Effect *struct {
		Item     int    `json:"item"`
		Phase    string `json:"phase"`
		Resource string `json:"resource"`
		PlanHash string `json:"plan_hash"`
		Plugin   string `json:"plugin"`
		Name     string `json:"name"`
		Target   string `json:"target"`
		Before   string `json:"before"`
		After    string `json:"after"`
	} `json:"effect"`
	Outcome *struct {
		Item     int    `json:"item"`
		Resource string `json:"resource"`
		Result   struct {
			Status string `json:"status"`
		} `json:"result"`
	} `json:"outcome"`
	Start *struct {
		Confirmed struct {
			How      string `json:"how"`
			User     string `json:"user"`
			SudoUser string `json:"sudo_user"`
			Via      string `json:"via"`
		} `json:"confirmed"`
	} `json:"start"`
}

// events reads the journal by the program's own verb.
func (m *managed) events(flags ...string) []event {
	m.t.Helper()
	r := m.Run(append([]string{"gyrum", "events", "-o", "json"}, flags...)...)
	if r.Code != 0 {
		m.t.Fatalf("events: %s", r)
	}
	var all []event
	for line := range strings.Lines(r.Stdout) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			m.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, e)
	}
	return all
}

// openIntents lists the resources whose action the newest run began and did not record the outcome of, sorted.
func (m *managed) openIntents() []string {
	m.t.Helper()
	if m.Run("test", "-d", "/var/lib/gyrum/runs").Code != 0 {
		return nil
	}
	all := m.events()
	if len(all) == 0 {
		return nil
	}
	var open []string
	for _, e := range all {
		switch {
		case e.Run != all[len(all)-1].Run:
		case e.Intent != nil:
			open = append(open, e.Intent.Resource)
		case e.Outcome != nil:
			open = slices.DeleteFunc(open, func(id string) bool { return id == e.Outcome.Resource })
		}
	}
	slices.Sort(open)
	return open
}

// count gives how many intents, and how many outcomes of executed actions, the journal has of a resource.
func (m *managed) count(id string) (intents, outcomes int) {
	m.t.Helper()
	for _, e := range m.events() {
		if e.Intent != nil && e.Intent.Resource == id {
			intents++
		}
		if e.Outcome != nil && e.Outcome.Resource == id && e.Outcome.Result.Status == "applied" {
			outcomes++
		}
	}
	return intents, outcomes
}
