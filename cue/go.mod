module gyrum.ai/cue

go 1.26.0
