module gyrum.ai/tools

go 1.26.0

require (
	cuelang.org/go v0.17.1
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	gyrum.ai/cue v0.0.0
	gyrum.ai/engine v0.0.0
)

replace gyrum.ai/cue => ../cue

replace gyrum.ai/engine => ../engine
