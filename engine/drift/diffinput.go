package drift

import "gyrum.ai/engine/resource"

// DiffInput is what a plugin's diff is asked of one resource.
type DiffInput struct {
	Resource    resource.Resource
	Observation Observation
	// Changing is what the rest of the plan will change of the resource's inputs; empty in the first round.
	Changing Changing
}
