module gyrum.ai/plugins

go 1.26.0
