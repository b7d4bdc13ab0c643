package drift

import (
	"slices"
	"time"
)

// The schemas of reports and of the items in them.
const (
	SchemaReportV1 = "https://gyrum.ai/schemas/drift-report.v1.json"
	SchemaReportV2 = "https://gyrum.ai/schemas/drift-report.v2.json"
	SchemaItemV1   = "https://gyrum.ai/schemas/drift-item.v1.json"
	SchemaItemV2   = "https://gyrum.ai/schemas/drift-item.v2.json"
)

// typesV1 are the resource types that items of version 1 can be about.
var typesV1 = []string{"package", "file", "directory", "systemd_unit", "env", "command"}

// IsReport says whether a schema is one of a report.
func IsReport(schema string) bool { return schema == SchemaReportV1 || schema == SchemaReportV2 }

// SchemaFor gives the lowest schema of a report that holds the items.
func SchemaFor(items []Item) string {
	for _, it := range items {
		if !slices.Contains(typesV1, it.Resource.Type) {
			return SchemaReportV2
		}
	}
	return SchemaReportV1
}

// Report is the envelope of one run.
type Report struct {
	Schema     string    `json:"schema"`
	RunID      string    `json:"run_id"` // a ULID, unique a report
	Follows    string    `json:"follows,omitempty"`
	Host       string    `json:"host"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	DryRun     bool      `json:"dry_run"`
	Catalog    Catalog   `json:"catalog"`
	// PlanHash is "sha256:" and hexadecimal digits; empty when the state folder could not be read, NoPlanHash then says why.
	PlanHash   string   `json:"plan_hash,omitempty"`
	NoPlanHash string   `json:"no_plan_hash,omitempty"`
	Plugins    []Plugin `json:"plugins"`
	Items      []Item   `json:"items"`
	Stats      Stats    `json:"stats"`
	// Interrupted lists actions of an earlier run whose intent has no outcome.
	Interrupted []Interrupted `json:"interrupted,omitempty"`
}

// Catalog says which catalog a report judges by.
type Catalog struct {
	// Digest is over the parsed content that this host uses and its source bytes.
	Digest string `json:"digest"`
	// Revision is the git commit of the checkout, with "+dirty" when it has changes; empty outside git.
	Revision string `json:"revision,omitempty"`
	// BehindUpstream counts the commits that the checkout's upstream has and it has not, as last fetched; nil when unknown.
	BehindUpstream *int `json:"behind_upstream,omitempty"`
}

// Plugin names a module that a run used.
type Plugin struct {
	Type string `json:"type"`
	// Digest is "sha256:" and the digest of the observe module.
	Digest string `json:"digest"`
}

// Interrupted is an action that was begun by an earlier run and whose outcome nobody recorded.
type Interrupted struct {
	RunID    string `json:"run_id"`
	Resource string `json:"resource"`
	Verb     Verb   `json:"verb"`
}

// Stats counts items and resources.
type Stats struct {
	BySeverity       map[string]int `json:"by_severity"`
	ByVerb           map[string]int `json:"by_verb"`
	ByResourceType   map[string]int `json:"by_resource_type"`
	ResourcesChecked int            `json:"resources_checked"`
	InSync           int            `json:"in_sync"`
}

// Count fills the stats from the items, and names the lowest schema that holds them; checked is the number of resources that were observed. A resource that is an item in
// several passes is one that was not in sync.
func (r *Report) Count(checked int) {
	s := Stats{BySeverity: map[string]int{}, ByVerb: map[string]int{}, ByResourceType: map[string]int{}, ResourcesChecked: checked}
	distinct := map[string]bool{}
	for _, it := range r.Items {
		distinct[it.Resource.ID] = true
		s.BySeverity[string(it.Severity)]++
		s.ByVerb[string(it.Action.Verb)]++
		s.ByResourceType[it.Resource.Type]++
	}
	s.InSync = max(0, checked-len(distinct))
	r.Stats, r.Schema = s, SchemaFor(r.Items)
}
