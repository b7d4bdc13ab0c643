package ring3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gyrum.ai/tools/tests/realhost"
)

// report is what the tests read of a drift report; the names are the published ones, not those of the program's code.
type report struct {
	RunID    string `json:"run_id"`
	Follows  string `json:"follows"`
	Host     string `json:"host"`
	DryRun   bool   `json:"dry_run"`
	PlanHash string `json:"plan_hash"`
	Items    []item `json:"items"`
	Stats    struct {
		BySeverity       map[string]int `json:"by_severity"`
		ByVerb           map[string]int `json:"by_verb"`
		ByResourceType   map[string]int `json:"by_resource_type"`
		ResourcesChecked int            `json:"resources_checked"`
		InSync           int            `json:"in_sync"`
	} `json:"stats"`
	Interrupted []struct {
		Resource string `json:"resource"`
	} `json:"interrupted"`
}

type item struct {
	Role     string `json:"role"`
	Resource struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"resource"`
	Declared json.RawMessage `json:"declared"`
	Observed map[string]any  `json:"observed"`
	Action   struct {
		Verb   string         `json:"verb"`
		Params map[string]any `json:"params"`
	} `json:"action_to_apply"`
	Severity string `json:"severity"`
	Reason   struct {
		Code string `json:"code"`
		Text string `json:"text"`
	} `json:"reason"`
	Blocked string `json:"blocked"`
	Note    string `json:"note"`
	Result  *struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	} `json:"result"`
}

// status is what became of the item; empty where nothing did.
func (i item) status() string {
	if i.Result == nil {
		return ""
	}
	return i.Result.Status
}

// outcome is one run of the program.
type outcome struct {
	code    int
	reports []report
	result  realhost.Result
}

// String shows what the run printed, for messages.
func (o outcome) String() string { return o.result.String() }

// last is the newest report of the run.
func (o outcome) last() report {
	if len(o.reports) == 0 {
		return report{}
	}
	return o.reports[len(o.reports)-1]
}

// drifted lists the items of the last report, as "verb id" with the severity before it where it is not drift.
func (o outcome) drifted() string { return list(o.last().Items) }

// done lists the items of the first report, which of an apply are those that it executed.
func (o outcome) done() string {
	if len(o.reports) == 0 {
		return "no report"
	}
	return list(o.reports[0].Items)
}

func list(items []item) string {
	var words []string
	for _, it := range items {
		word := it.Action.Verb + " " + it.Resource.ID
		if it.Severity != "drift" {
			word = it.Severity + ": " + word
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// find gives the item of a resource in the first report, an empty one where there is none.
func (o outcome) find(id string) item {
	for _, r := range o.reports {
		for _, it := range r.Items {
			if it.Resource.ID == id {
				return it
			}
		}
	}
	return item{}
}

// read parses what a run printed, and holds every line against the published schema.
func (m *managed) read(r realhost.Result) outcome {
	m.t.Helper()
	o := outcome{code: r.Code, result: r}
	schemas, err := reportSchemas()
	if err != nil {
		m.t.Fatalf("the report's schemas: %v", err)
	}
	for line := range strings.Lines(r.Stdout) {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			m.t.Fatalf("a line of the output is not JSON: %v\n%s", err, r)
		}
		named, _ := document.(map[string]any)["schema"].(string)
		schema := schemas[named]
		if schema == nil {
			m.t.Fatalf("a report names the schema %q, which is not published\n%s", named, line)
		}
		if err := schema.Validate(document); err != nil {
			m.t.Fatalf("a report does not conform to its schema: %v\n%s", err, line)
		}
		var one report
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			m.t.Fatal(err)
		}
		if one.Stats.ResourcesChecked != one.Stats.InSync+len(one.Items) && one.DryRun {
			m.t.Errorf("the stats do not add up: %+v with %d items", one.Stats, len(one.Items))
		}
		o.reports = append(o.reports, one)
	}
	return o
}

// reportSchemas compiles the published schemas of reports by their names, with those of items that they refer to. Formats
// such as date-time are asserted, not only noted.
var reportSchemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schemas := map[string]*jsonschema.Schema{}
	for _, name := range []string{"drift-item.v1.json", "drift-report.v1.json", "drift-item.v2.json", "drift-report.v2.json"} {
		raw, err := readRepository(filepath.Join("schemas", name))
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		id := "https://gyrum.ai/schemas/" + name
		if err := compiler.AddResource(id, document); err != nil {
			return nil, err
		}
		schemas[id] = nil
	}
	for id := range schemas {
		schema, err := compiler.Compile(id)
		if err != nil {
			return nil, err
		}
		schemas[id] = schema
	}
	return schemas, nil
})
