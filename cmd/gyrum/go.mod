module gyrum.ai/cmd/gyrum

go 1.26.0

require gyrum.ai/engine v0.0.0

replace gyrum.ai/engine => ../../engine
