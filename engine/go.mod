module gyrum.ai/engine

go 1.26.0

require (
	filippo.io/age v1.3.2
	github.com/coreos/go-systemd/v22 v22.7.0
	github.com/godbus/dbus/v5 v5.1.0
	github.com/klauspost/compress v1.20.4
	github.com/oklog/ulid/v2 v2.1.2
	github.com/tetratelabs/wazero v1.12.0
	golang.org/x/crypto v0.55.0
	golang.org/x/sys v0.50.0
	gopkg.in/yaml.v3 v3.0.1
	pgregory.net/rapid v1.3.0
)

require filippo.io/hpke v0.4.0 // indirect
