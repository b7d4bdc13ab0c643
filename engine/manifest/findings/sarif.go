package findings

import (
	"slices"

	"gyrum.ai/engine/manifest"
)

// sarif gives the findings as a SARIF 2.1.0 log (docs.oasis-open.org/sarif/sarif/v2.1.0).
func sarif(root string, fs []manifest.Finding, all []manifest.Rule) any {
	if len(all) == 0 {
		all = manifest.Rules()
	}
	rules := make([]map[string]any, 0, len(all))
	for _, r := range all {
		rules = append(rules, map[string]any{
			"id":               r.ID,
			"shortDescription": map[string]any{"text": r.Title},
			"fullDescription":  map[string]any{"text": r.Doc},
		})
	}
	results := make([]map[string]any, 0, len(fs))
	for _, f := range fs {
		level := "error"
		if f.Severity == manifest.SeverityWarn {
			level = "warning"
		}
		place := map[string]any{"artifactLocation": map[string]any{"uri": file(root, f)}}
		if f.Pos.Line > 0 {
			region := map[string]any{"startLine": f.Pos.Line}
			if f.Pos.Column > 0 {
				region["startColumn"] = f.Pos.Column
			}
			place["region"] = region
		}
		result := map[string]any{
			"ruleId":    f.Rule,
			"level":     level,
			"message":   map[string]any{"text": whole(f)},
			"locations": []any{map[string]any{"physicalLocation": place}},
		}
		if i := slices.IndexFunc(all, func(r manifest.Rule) bool { return r.ID == f.Rule }); i >= 0 {
			result["ruleIndex"] = i
		}
		results = append(results, result)
	}
	return map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":       map[string]any{"driver": map[string]any{"name": "gyrum", "informationUri": "https://gyrum.ai", "rules": rules}},
			"columnKind": "unicodeCodePoints",
			"results":    results,
		}},
	}
}
